"""What two requests have in common that ask the same: their canonical form, and the key to find it by.

The stored request was scrubbed and the live one was not: whoever compares them scrubs both first. Here fall away the
numbers of placeholders, what is volatile on a wire format, what was elided, credentials in a URL, the order of keys and
of query parameters, the way a number is spelled, and the random boundary of a multipart body.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from pytest_agentcontract.cassette.exchange import Headers, Recorded
from pytest_agentcontract.cassette.matching.volatile import settled
from pytest_agentcontract.cassette.scrubbing.scrub import unnumbered
from pytest_agentcontract.cassette.served import wire_of_url
from pytest_agentcontract.jsonvalue import JSON, loads

AGENT: Final = "x-agent"
"""The header by which a client may say whose request it is."""

_CREDENTIALS: Final = frozenset({"key", "api_key", "api-key", "apikey", "access_token", "auth_token", "token"})
_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
_BOUNDARY: Final = re.compile(r'\bboundary="?([^";,\s]+)')
_ESCAPED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_PLAIN_IN_PATHS: Final = frozenset("-._~!$&'()*+,;=:@")


@dataclass(frozen=True, slots=True)
class Canonical:
    """A request without what may differ. `body` is a JSON value, or the bytes of what is no JSON document.

    All requests that ask the same share their `digest`, whichever agent asks.
    """

    method: str
    url: str
    agent: str
    body: JSON | bytes
    digest: bytes

    @property
    def key(self) -> tuple[bytes, str]:
        """What all requests share that ask the same for the same agent."""
        return self.digest, self.agent


def canonical(request: Recorded, elided: tuple[str, ...] = ()) -> Canonical:
    """Return the canonical form of a scrubbed exchange's request; `elided` lists an origin's JSON pointers."""
    url = canonical_url(unnumbered(request.url.encode()).decode())
    body = unnumbered(request.request_body)
    try:
        value: JSON | bytes = settled(loads(body), wire_of_url(request.method, url), elided)
    except ValueError:
        value = _without_boundary(body, request.request_headers)
    method = request.method.upper()
    return Canonical(method, url, agent_of(request.request_headers), value, _digest(method, url, value))


def canonical_url(url: str) -> str:
    """Return a URL in one spelling: no credentials, no default port, parameters sorted by their names."""
    parts = urlsplit(url)
    port_given = parts.port
    port = "" if port_given in (None, _PORTS.get(parts.scheme)) else f":{port_given}"
    given = parse_qsl(parts.query, keep_blank_values=True)
    query = sorted((pair for pair in given if pair[0].lower() not in _CREDENTIALS), key=lambda pair: pair[0])
    path = _ESCAPED.sub(_plain, parts.path) or "/"
    return urlunsplit((parts.scheme, f"{parts.hostname or ''}{port}", path, urlencode(query), ""))


def agent_of(headers: Headers) -> str:
    """Return the agent that a request names; "" where it names none."""
    return next((value for name, value in headers if name.lower() == AGENT), "")


def _plain(escape: re.Match[str]) -> str:
    letter = unquote(escape[0])
    return letter if letter.isalnum() or letter in _PLAIN_IN_PATHS else escape[0].upper()


def _without_boundary(body: bytes, headers: Headers) -> bytes:
    kinds = (value for name, value in headers if name.lower() == "content-type")
    boundary = next((found[1] for kind in kinds if (found := _BOUNDARY.search(kind))), "")
    return body.replace(boundary.encode(), b"boundary") if boundary else body


def _digest(method: str, url: str, body: JSON | bytes) -> bytes:
    kind, content = ("bytes", body) if isinstance(body, bytes) else ("json", _spelled(body))
    return hashlib.sha256(f"{method}\0{url}\0{kind}\0".encode() + content).digest()


def _spelled(value: JSON) -> bytes:
    return json.dumps(_exact(value), sort_keys=True, separators=(",", ":")).encode()


def _exact(value: JSON) -> JSON:
    """Spell equal numbers alike: 1.0 is 1."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_exact(inner) for inner in value]
    if isinstance(value, dict):
        return {key: _exact(inner) for key, inner in value.items()}
    return value
