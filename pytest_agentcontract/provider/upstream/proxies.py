"""Which HTTP proxy the environment puts between us and an upstream; to this machine itself none ever leads."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit

from pytest_agentcontract.errors import UsageError


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where it listens, and what it wants to hear as `proxy-authorization`; "" for nothing."""

    host: str
    port: int
    authorization: str = field(default="", repr=False)


def proxy_for(scheme: str, host: str, port: int, environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy of `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`, unless `NO_PROXY` or the loopback says none.

    Raise UsageError for a proxy that speaks something else than HTTP.
    """
    url = _named(f"{scheme}_proxy", environ) or _named("all_proxy", environ)
    if not url or _is_loopback(host) or any(_covers(entry, host, port) for entry in _listed(environ)):
        return None
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        found = parts.hostname, parts.port or 80
    except ValueError:
        found = None, 0
    if found[0] is None or parts.scheme != "http":
        raise UsageError(
            f"the environment names a proxy for {scheme}://{host} that is no `http://HOST:PORT`",
            remedy="Recording goes through HTTP proxies only; NO_PROXY lists the hosts that need none.",
        )
    return Proxy(found[0], found[1], _credentials(parts.username, parts.password))


def past_proxies(host: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that keep clients from asking a proxy for a host, whatever else the environment says."""
    named = ",".join([environ.get("NO_PROXY", ""), environ.get("no_proxy", ""), host]).split(",")
    past = ",".join(dict.fromkeys(entry.strip() for entry in named if entry.strip()))
    return {"NO_PROXY": past, "no_proxy": past}


def _named(variable: str, environ: Mapping[str, str]) -> str:
    return environ.get(variable) or environ.get(variable.upper()) or ""


def _listed(environ: Mapping[str, str]) -> list[str]:
    return [entry.strip().lower() for entry in _named("no_proxy", environ).split(",") if entry.strip()]


def _credentials(name: str | None, password: str | None) -> str:
    if name is None:
        return ""
    pair = f"{unquote(name)}:{unquote(password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def _covers(entry: str, host: str, port: int) -> bool:
    """Tell whether an entry of NO_PROXY is about a host: by its name, its domain, its network; perhaps at one port."""
    name, colon, number = entry.rpartition(":")
    if colon and number.isdigit() and (":" not in name or name.endswith("]")):
        entry, told = name, int(number)
    else:
        told = port
    if "/" in entry:
        return _is_in(host, entry)
    bare = entry.removeprefix("*").lstrip(".").strip("[]")
    return told == port and (not bare or host == bare or host.endswith(f".{bare}"))


def _is_in(host: str, network: str) -> bool:
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
