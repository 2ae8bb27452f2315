"""The way to an upstream: its address, the proxy that stands before it, and how a request is addressed on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from pytest_agentcontract.provider.upstream.proxies import Proxy, proxy_for

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Way:
    """How an upstream is reached; `netloc` is its address as the URL writes it."""

    scheme: str
    netloc: str
    host: str
    port: int
    proxy: Proxy | None

    @property
    def secure(self) -> bool:
        """Whether TLS is spoken on it: through a proxy it takes a tunnel, and else the proxy reads the request."""
        return self.scheme == "https"

    def __str__(self) -> str:
        through = f" through the proxy {self.proxy.host}:{self.proxy.port}" if self.proxy else ""
        return f"{self.scheme}://{self.netloc}{through}"


def way_to(url: str, environ: Mapping[str, str]) -> Way:
    """Find the way to a URL; raise UsageError for a proxy that can't be used."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    return Way(parts.scheme, parts.netloc, host, port, proxy_for(parts.scheme, host, port, environ))


def request(way: Way, method: str, url: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """Render a request; `headers` are those that the client means for its other end."""
    behind = url.removeprefix(f"{way.scheme}://{way.netloc}")
    target = behind if behind.startswith("/") else f"/{behind}"
    ours = {"host": way.netloc, "accept-encoding": "identity"}
    if way.proxy is not None and not way.secure:
        target = f"{way.scheme}://{way.netloc}{target}"
        ours |= {"proxy-authorization": way.proxy.authorization} if way.proxy.authorization else {}
    if body or method in {"POST", "PUT", "PATCH"}:
        ours["content-length"] = str(len(body))
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**headers, **ours}.items())
    return f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1") + body
