"""Who served a recorded request, read from its URL alone: its wire format, and the base URL that its client had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from pytest_agentcontract.cassette.exchange import Cassette, Recorded
from pytest_agentcontract.cassette.upstreams import UPSTREAMS
from pytest_agentcontract.wire.formats import FORMATS

_PROVIDERS: Final[Mapping[str, str]] = {
    "anthropic-messages": "anthropic",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "gemini-generate": "gemini",
}
_VERSIONED: Final = frozenset({"openai"})
"""Providers whose clients hold the version in a URL for a part of the base URL."""


def wire_of_url(method: str, url: str) -> str:
    """Return the wire format whose model requests go to such a URL, whatever path its server has; "" for none."""
    return _asked(method, url)[0]


def upstreams_of(cassette: Cassette) -> Mapping[str, str]:
    """Return the base URLs of a cassette's upstreams by their names, as its origin says, or else as its URLs say.

    In a cassette that others recorded, a provider that was asked at several servers is the one that its clients ask by
    themselves, or else the first; the others are named by their hosts.
    """
    if cassette.origin.upstreams:
        return cassette.origin.upstreams
    named = dict(UPSTREAMS)
    for provider, bases in _bases(cassette.exchanges).items():
        first = named[provider] if named[provider] in bases else next(iter(bases))
        named |= {urlsplit(base).netloc: base for base in bases if base != first} | {provider: first}
    return named


def _bases(exchanges: Iterable[Recorded]) -> dict[str, dict[str, None]]:
    """Return by provider the base URLs that its clients had, each once and in order."""
    found: dict[str, dict[str, None]] = {}
    for exchange in exchanges:
        wire, ends = _asked(exchange.method, exchange.url)
        if wire:
            provider = _PROVIDERS[wire]
            end = ends[-1] if provider in _VERSIONED else ends[0]
            found.setdefault(provider, {})[exchange.url.partition("?")[0].removesuffix(end)] = None
    return found


def _asked(method: str, url: str) -> tuple[str, list[str]]:
    """Return the wire format of a URL, and the ends of its path that would do for it, the longest first."""
    path = urlsplit(url).path
    ends = [path[at:] for at, letter in enumerate(path) if letter == "/"]
    for name, wire in FORMATS.items():
        if owned := [end for end in ends if wire.owns(method, end)]:
            return name, owned
    return "", []
