"""Whom a recording asks: the providers by name, what clients know them by, and the URL that a client's path stands for.

Each provider has a path of its own below the one base URL of a recording: `{base}/anthropic`, `{base}/openai/v1`,
`{base}/gemini`. What comes below it goes to the provider's upstream, and it is the upstream's URL that is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from pytest_agentcontract.errors import UsageError


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a provider's own clients.

    `stands_for` is the end of their base URL that stands for whatever path the upstream has: clients of OpenAI take
    `/v1` for a part of the address. `wire` is the format whose errors they read.
    """

    upstream: str
    variable: str
    wire: str
    stands_for: str = ""


_KNOWN: Final[Mapping[str, _Known]] = {
    "anthropic": _Known("https://api.anthropic.com", "ANTHROPIC_BASE_URL", "anthropic-messages"),
    "openai": _Known("https://api.openai.com/v1", "OPENAI_BASE_URL", "openai-chat", "/v1"),
    "gemini": _Known("https://generativelanguage.googleapis.com", "GOOGLE_GEMINI_BASE_URL", "gemini-generate"),
}
_UNKNOWN: Final = _Known("", "", "openai-chat")
"""Whoever serves models under another name speaks as OpenAI does."""

UPSTREAMS: Final[Mapping[str, str]] = MappingProxyType({name: known.upstream for name, known in _KNOWN.items()})
"""Where the providers' own clients go by themselves: base URLs by the name of their provider."""


def upstreams(environ: Mapping[str, str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the base URLs to ask: those that are given, else what the environment names, else the providers' own.

    Raise UsageError for what is no base URL.
    """
    named = {name: environ[known.variable] for name, known in _KNOWN.items() if environ.get(known.variable)}
    return {name: _base_url(name, url) for name, url in {**UPSTREAMS, **named, **(given or {})}.items()}


def environment(base: str) -> dict[str, str]:
    """Return the variables that point the providers' own clients at what stands below a base URL."""
    return {known.variable: f"{base}/{name}{known.stands_for}" for name, known in _KNOWN.items()}


def upstream_url(upstreams: Mapping[str, str], path: str, query: str = "") -> str | None:
    """Return the upstream's URL of what a client asks at a path below the base URL; None where nobody is behind it."""
    name, rest = _divided(path)
    own = _KNOWN.get(name, _UNKNOWN).stands_for
    below = rest.removeprefix(own)
    if name not in upstreams or not rest.startswith(own) or below[:1] not in ("", "/"):
        return None
    return f"{upstreams[name].rstrip('/')}{below}{f'?{query}' if query else ''}"


def client_path(upstreams: Mapping[str, str], url: str) -> str | None:
    """Return the path below the base URL at which a client asks for an upstream's URL; None for a URL of nobody's."""
    for name, base in upstreams.items():
        rest = url.removeprefix(base.rstrip("/"))
        if rest != url and rest[:1] in ("", "/", "?"):
            return f"/{name}{_KNOWN.get(name, _UNKNOWN).stands_for}{rest}"
    return None


def wire_of(path: str) -> str:
    """Return the name of the wire format whose errors are read by who asks at a path below the base URL."""
    return _KNOWN.get(_divided(path)[0], _UNKNOWN).wire


def _divided(path: str) -> tuple[str, str]:
    """Return the name of the provider that a path begins with, and what stands behind it."""
    name, slash, rest = path.removeprefix("/").partition("/")
    return name, slash + rest


def _base_url(name: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        sound = bool(parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port))
    except ValueError:
        sound = False
    if not sound or parts.query or parts.fragment or not name or "/" in name:
        raise UsageError(
            f"{url!r} is no base URL of a provider{f' {name!r}' if name else ''}",
            remedy="It has a scheme (http or https), a host and perhaps a path; its provider has a name without slash.",
        )
    if parts.username is not None:
        raise UsageError(
            f"the base URL of the provider {name!r} holds a name or a password, and would be stored with them",
            remedy="Let the client send its credentials in a header: they are kept out of a cassette.",
        )
    return parts.geturl().rstrip("/")
