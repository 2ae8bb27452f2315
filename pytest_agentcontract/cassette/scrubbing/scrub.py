"""Takes the secrets out of an exchange before it is written anywhere.

Headers are kept by an allow-list, everything else of them is dropped. In what is kept, in the URL and in the bodies,
each secret is replaced by a placeholder `SCRUBBED-<kind>-<n>`. The kinds:

    key           an API key or a private key, known by its shape
    token         an access token, a bearer token, what Basic authentication sends
    credential    what stands under a name like `password` or `api_key`, or what the exchange's own headers carry
    cookie        a cookie
    environment   the value of an environment variable that is named like a secret
    organization, project, account, user, request     ids that a provider gives, and names for its users
    elided        a text that was asked to be left out

Within one Scrubber the same value has the same number. A body is scrubbed as a whole, however it came in pieces, and
what is JSON or an event stream stays so: only insides of strings change, and numbers, which become 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from pytest_agentcontract.cassette.exchange import Headers, Origin, Piece, Recorded
from pytest_agentcontract.cassette.matching.volatile import texts_at
from pytest_agentcontract.cassette.scrubbing import names
from pytest_agentcontract.cassette.scrubbing.secret import SHORTEST, Secrets, carried, environment
from pytest_agentcontract.cassette.scrubbing.spots import PLACEHOLDER, Edit, edits
from pytest_agentcontract.jsonvalue import loads

_SHORTEST_ELIDED: Final = 24
_FORM: Final = "application/x-www-form-urlencoded"
_AUTHORITY: Final = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://(?:([^/?#@]*)@)?[^/?#]*")


def unnumbered(data: bytes) -> bytes:
    """Return the bytes with the number of every placeholder made 0: what differs in numbers alone becomes equal."""
    return PLACEHOLDER.sub(rb"SCRUBBED-\1-0", data)


class Scrubber:
    """Scrubs the exchanges of one cassette. It knows what its environment holds, and numbers what it finds."""

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        keep_headers: Iterable[str] = (),
        fields: Iterable[str] = (),
        elide: Iterable[str] = (),
    ) -> None:
        """Take the environment (None: this process's), headers to keep besides, and further fields that are secret.

        `elide` lists JSON pointers into requests: long texts that stand there go as secrets do, wherever they stand.
        """
        self._environment = dict(environment(os.environ if environ is None else environ))
        self._kept = names.KEPT_HEADERS | {name.lower() for name in keep_headers}
        self._fields = {names.plain(name): "credential" for name in fields}
        self._elide = tuple(elide)
        self._known = dict(self._environment)
        self._placeholders: dict[bytes, bytes] = {}
        self._issued: set[bytes] = set()
        self._last: dict[str, int] = {}

    def secrets(self, recorded: Recorded) -> Secrets:
        """Return what must go from this exchange: values of the environment and of its own headers, texts to elide.

        All of it is known from then on: it must go from what the maker of the cassette wrote, too.
        """
        headers = recorded.request_headers + recorded.headers
        elided = _elided(recorded.request_body, self._elide)
        found = dict([*elided, *self._environment.items(), *carried(headers), *_userinfo(recorded.url)])
        self._known |= found
        return Secrets(found)

    @property
    def known(self) -> Secrets:
        """The values of the environment, and of all exchanges so far."""
        return Secrets(dict(self._known))

    def scrub(self, recorded: Recorded) -> Recorded:
        """Return the exchange without its secrets; what has none, or only placeholders, comes back as it was.

        Boundaries between pieces stay where they were; one inside of what is replaced moves to its end.
        """
        secrets = self.secrets(recorded)
        self._observe(recorded.url.encode("utf-8", "surrogateescape"), recorded.request_body, recorded.body)
        request_body = self._body(recorded.request_body, secrets, form=_is_form(recorded.request_headers))
        return replace(
            recorded,
            url=self._url(recorded.url, secrets),
            request_headers=self._headers(recorded.request_headers, secrets),
            request_body=request_body,
            reason=self._text(recorded.reason, secrets),
            headers=self._headers(recorded.headers, secrets),
            pieces=self._pieces(recorded, secrets),
        )

    def scrub_origin(self, origin: Origin) -> Origin:
        """Return what the maker of a cassette wrote without secrets; call it when all exchanges were scrubbed."""
        self._observe(*(text.encode("utf-8", "surrogateescape") for _, text in origin.texts))
        return Origin(
            {self._text(name, self.known): self._url(url, self.known) for name, url in origin.upstreams.items()},
            self._text(origin.note, self.known),
            tuple(self._text(pointer, self.known) for pointer in origin.elided),
        )

    def _headers(self, headers: Headers, secrets: Secrets) -> Headers:
        kept = ((name, value) for name, value in headers if name.lower() in self._kept)
        return tuple((name, self._header(name, value, secrets)) for name, value in kept)

    def _header(self, name: str, value: str, secrets: Secrets) -> str:
        kind = names.header_kind(name)
        if kind is None or not value.strip():
            return self._text(value, secrets)
        return self._placeholder(value.strip().encode("utf-8", "surrogateescape"), kind).decode()

    def _text(self, text: str, secrets: Secrets) -> str:
        data = text.encode("utf-8", "surrogateescape")
        return self._replaced(data, edits(data, secrets, self._fields)).decode("utf-8", "surrogateescape")

    def _url(self, url: str, secrets: Secrets) -> str:
        data = url.encode("utf-8", "surrogateescape")
        authority = _AUTHORITY.match(data)
        end = authority.end() if authority else 0
        rest = self._replaced(data[end:], edits(data[end:], secrets, self._fields, form=True))
        head = data[:end]
        if authority and authority[1]:
            start, stop = authority.span(1)
            head = head[:start] + self._placeholder(authority[1], "credential") + head[stop:]
        return (head + rest).decode("utf-8", "surrogateescape")

    def _body(self, data: bytes, secrets: Secrets, *, form: bool) -> bytes:
        return self._replaced(data, edits(data, secrets, self._fields, form=form))

    def _pieces(self, recorded: Recorded, secrets: Secrets) -> tuple[Piece, ...]:
        data = recorded.body
        found = edits(data, secrets, self._fields, form=_is_form(recorded.headers))
        if not found:
            return recorded.pieces
        return tuple(self._cut(data, found, recorded.pieces))

    def _cut(self, data: bytes, found: list[Edit], pieces: Iterable[Piece]) -> Iterator[Piece]:
        at = end = 0
        waiting = iter([*found, None])
        edit = next(waiting)
        for piece in pieces:
            end += len(piece.data)
            parts: list[bytes] = []
            while edit is not None and edit.start < end:
                parts += (data[at : edit.start], self._shown(edit))
                at, edit = edit.end, next(waiting)
            if at < end:
                parts.append(data[at:end])
                at = end
            yield replace(piece, data=b"".join(parts))

    def _replaced(self, data: bytes, found: list[Edit]) -> bytes:
        parts, at = list[bytes](), 0
        for edit in found:
            parts += (data[at : edit.start], self._shown(edit))
            at = edit.end
        return b"".join((*parts, data[at:])) if parts else data

    def _shown(self, edit: Edit) -> bytes:
        if edit.instead is not None:
            return edit.instead
        return self._placeholder(edit.value, edit.kind)

    def _placeholder(self, value: bytes, kind: str) -> bytes:
        if PLACEHOLDER.fullmatch(value):
            return value
        if value not in self._placeholders:
            self._last[kind] = self._last.get(kind, 0) + 1
            self._placeholders[value] = f"SCRUBBED-{kind}-{self._last[kind]}".encode()
            self._issued.add(self._placeholders[value])
        return self._placeholders[value]

    def _observe(self, *texts: bytes) -> None:
        """Go on numbering after the placeholders that stand here already: each is somebody's."""
        for data in texts:
            for match in PLACEHOLDER.finditer(data):
                kind, number = match[1].decode(), int(match[2][:9])
                if match[0] not in self._issued:
                    self._last[kind] = max(self._last.get(kind, 0), number)


def _is_form(headers: Headers) -> bool:
    return any(name.lower() == "content-type" and value.lower().startswith(_FORM) for name, value in headers)


def _elided(body: bytes, places: Iterable[str]) -> Iterator[tuple[bytes, str]]:
    """Yield the long texts of a request at these places; short ones stand in too much else, and stay."""
    for place in places:
        try:
            document = loads(body)
        except ValueError:
            return
        for text in texts_at(document, place):
            if len(text) >= _SHORTEST_ELIDED:
                yield text.encode("utf-8", "surrogatepass"), "elided"


def _userinfo(url: str) -> Iterator[tuple[bytes, str]]:
    authority = _AUTHORITY.match(url.encode("utf-8", "surrogateescape"))
    if authority and authority[1]:
        parts = (authority[1], *authority[1].split(b":", 1))
        yield from ((part, "credential") for part in parts if len(part) >= SHORTEST)
