"""One exchange as vcrpy keeps it, and back; the origin of a cassette as its metadata, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from pytest_agentcontract.cassette.exchange import Headers, Origin, Piece, Recorded
from pytest_agentcontract.cassette.file.soundness import EXTRA, pieces

NAME: Final = "agent_contract"
"""The key of our own in the metadata of a file."""

_OF_THE_TRANSFER: Final = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that say how a body travelled. Of a body as it is kept they are untrue, and clients believe them."""


class Request(Protocol):
    """A request of vcrpy's, as far as it is read here."""

    method: str
    uri: str
    headers: Mapping[str, str | bytes]
    body: Any


def recorded(request: Request, answer: Mapping[str, Any]) -> Recorded:
    """Read a sound entry; raise ValueError for a body that no bytes can be made of."""
    body = _bytes(answer["body"].get("string"))
    extra = answer.get(EXTRA, {})
    return Recorded(
        request.method,
        request.uri,
        tuple((name, _text(value)) for name, value in request.headers.items()),
        _bytes(request.body),
        answer["status"]["code"],
        answer["status"]["message"] or "",
        tuple(_kept((name, _text(value)) for name, values in answer["headers"].items() for value in listed(values))),
        tuple(_pieces(body, extra)),
        extra.get("ending", "whole"),
    )


def answer(exchange: Recorded) -> dict[str, Any]:
    """Return the answer of an exchange in the order in which it is pleasant to read, its body last."""
    return {
        "status": {"code": exchange.status, "message": exchange.reason},
        "headers": dict(_by_name(_kept(exchange.headers))),
        EXTRA: {
            "ending": exchange.ending,
            "pieces": json.dumps([[_milliseconds(piece.gap), len(piece.data)] for piece in exchange.pieces]),
        },
        "body": {"string": exchange.body},
    }


def joined(headers: Headers) -> dict[str, str]:
    """Return the headers of a request, of which vcrpy keeps one line per name."""
    return {name: ", ".join(values) for name, values in _by_name(headers)}


def metadata(origin: Origin) -> dict[str, Any]:
    """Return what a file says of its origin."""
    said = {"note": origin.note, "upstreams": dict(origin.upstreams), "elided": list(origin.elided)}
    kept = {name: value for name, value in said.items() if value}
    return {NAME: kept} if kept else {}


def origin(metadata: Mapping[str, Any]) -> Origin:
    """Read what a file says of its origin; raise ValueError if that is no origin."""
    said = metadata.get(NAME, {})
    if not isinstance(said, dict):
        message = "no mapping"
        raise ValueError(message)  # noqa: TRY004 - the file is wrong, not the caller
    upstreams, note, elided = said.get("upstreams", {}), said.get("note", ""), said.get("elided", [])
    if not isinstance(upstreams, dict) or not isinstance(elided, list):
        message = "`upstreams` is no mapping, or `elided` no list"
        raise ValueError(message)  # noqa: TRY004 - the same
    if not all(isinstance(text, str) for text in (note, *elided, *upstreams, *upstreams.values())):
        message = "something in it is no text"
        raise ValueError(message)
    return Origin(upstreams, note, tuple(elided))


def _bytes(body: Any) -> bytes:  # noqa: ANN401 - whatever a client handed to vcrpy
    if body is None or isinstance(body, bytes):
        return body or b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, dict | list):  # aiohttp's json=
        return json.dumps(body).encode()
    if hasattr(body, "read"):
        return _bytes(body.read())
    if isinstance(body, Iterator):
        return b"".join(map(_bytes, body))
    message = f"a body is {type(body).__name__}, of which no bytes can be made"
    raise ValueError(message)


def _pieces(body: bytes, extra: Mapping[str, Any]) -> Iterator[Piece]:
    start = 0
    for gap, length in pieces(extra["pieces"]) if "pieces" in extra else ((0, len(body)),):
        yield Piece(round(gap / 1000, 6), body[start : start + length])
        start += length


def _kept(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in headers if name.lower() not in _OF_THE_TRANSFER)


def _by_name(headers: Iterable[tuple[str, str]]) -> Iterable[tuple[str, list[str]]]:
    """Gather the values of a name, however it is spelled, under its first spelling."""
    found: dict[str, tuple[str, list[str]]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), (name, []))[1].append(value)
    return found.values()


def listed(values: object) -> list[Any]:
    """Return the values of a header line as a list, which other writers of cassettes leave out for a single one."""
    return values if isinstance(values, list) else [values]


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _milliseconds(seconds: float) -> float:
    """Round to a tenth of a millisecond: below it stand the recorder's own delays."""
    rounded = round(seconds * 1000.0, 1)
    return int(rounded) if rounded.is_integer() else rounded
