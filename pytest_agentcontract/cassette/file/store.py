"""Cassette files: vcrpy's format, read strictly, and written whole or not at all.

The only module that knows vcrpy. What vcrpy has no word for stands where it lets strangers be: `x_agentcontract` in an
answer (how it ended, and its pieces as milliseconds and lengths), and `metadata: agent_contract` (the origin).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from pytest_agentcontract.cassette.exchange import Cassette, Recorded
from pytest_agentcontract.cassette.file import entries, layout, soundness, whole
from pytest_agentcontract.cassette.file.soundness import EXTRA, Unsound
from pytest_agentcontract.errors import CassetteError

_ANEW: Final = "Correct it, take it from version control, or record it anew; it was left as it is."
_KIND, _ENCODING = "content-type", "content-encoding"
_OK: Final = 200
_GZIP: Final = b"\x1f\x8b"


def load(path: Path) -> Cassette:
    """Read a cassette; raise CassetteError, which names the line or the entry, for one that is not whole and sound.

    A cassette of stock vcrpy is one, too: its answers are whole and of one piece, and lose their content encoding.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CassetteError("no text in UTF-8", where=f"{path}:{line}", remedy=_ANEW) from error
    except OSError as error:
        raise CassetteError(error.strerror or str(error), where=str(path), remedy="Name an existing file.") from error
    try:
        cassette = _cassette(text)
    except Unsound as error:
        raise CassetteError(error.what, where=f"{path}:{error.line}", remedy=_ANEW) from error
    _refuse_unfit(cassette, path, _ANEW)
    return cassette


def save(cassette: Cassette, path: Path) -> None:
    """Put a cassette in the place of what stands at `path`, in one step; raise CassetteError, and change nothing.

    That is for an answer that can't be replayed, and a file that can't be written. Header lines of one name come
    together, a request's as one line; headers that say how a body travelled are left out.
    """
    _refuse_unfit(cassette, path, "Nothing was written.")
    try:
        whole.write(path.resolve(), _text(cassette))
    except OSError as error:
        what = f"can't be written: {error.strerror or error}"
        raise CassetteError(what, where=str(path), remedy="What stood there is unchanged.") from error


def unfit(exchange: Recorded) -> str:
    """Say why an exchange is no recording, or nothing: no client can do anything with an event stream of no events."""
    kinds = [value.partition(";")[0].strip().lower() for name, value in exchange.headers if name.lower() == _KIND]
    if (
        "text/event-stream" in kinds
        and exchange.status == _OK
        and exchange.ending == "whole"
        and not exchange.body.strip()
    ):
        return f"the answer to {exchange.method} {exchange.url} is an event stream without an event"
    return ""


def _refuse_unfit(cassette: Cassette, path: Path, remedy: str) -> None:
    for number, exchange in enumerate(cassette.exchanges):
        if complaint := unfit(exchange):
            raise CassetteError(complaint, where=f"{path}: entry {number}", remedy=remedy)


def _cassette(text: str) -> Cassette:
    # Imported late: with vcrpy comes every HTTP client that is installed.
    from vcr.serialize import deserialize  # type: ignore[import-untyped] # noqa: PLC0415

    lines = soundness.check_text(text)
    requests, answers, *rest = deserialize(text, _Reader(lines))
    exchanges = []
    for number, (request, answer) in enumerate(zip(requests, answers, strict=True)):
        try:
            exchanges.append(entries.recorded(request, answer if EXTRA in answer else _plain(answer)))
        except ValueError as error:
            raise Unsound(f"entry {number}: {error}", lines[number]) from error
    try:
        return Cassette(tuple(exchanges), entries.origin(rest[0] if rest else {}))
    except ValueError as error:
        raise Unsound(f"`metadata/{entries.NAME}`: {error}", 1) from error


class _Reader:
    """A serializer, as vcrpy asks for one, that hands on nothing at which vcrpy would stumble."""

    def __init__(self, lines: tuple[int, ...]) -> None:
        self._lines = lines

    def deserialize(self, text: str) -> object:
        from vcr.serializers import yamlserializer  # type: ignore[import-untyped] # noqa: PLC0415 - as above

        try:
            document: object = yamlserializer.deserialize(text)
        except yaml.YAMLError as error:
            raise soundness.of_yaml(error, text) from error
        except (ValueError, TypeError, LookupError, AttributeError) as error:  # a tag and what it can't be put on
            raise Unsound(f"a value is not what its tag says: {error}", 1) from error
        soundness.check(document, self._lines)
        return document


def _plain(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Undo the content encoding of a stock answer; raise ValueError for one that vcrpy can't undo."""
    from vcr.filters import decode_response  # type: ignore[import-untyped] # noqa: PLC0415 - as above

    body = answer["body"].get("string")
    if not body:
        return answer
    headers = {name: entries.listed(values) for name, values in answer["headers"].items()}
    plain: dict[str, Any] = decode_response({**answer, "headers": headers})
    left = [value for name, values in plain["headers"].items() if name.lower() == _ENCODING for value in values]
    # vcrpy takes what it can't unpack for unpacked, as aiohttp's recordings are; a cut answer begins as it was packed.
    if set(left) - {"identity"} or (plain["body"]["string"] == body and body.startswith(_GZIP)):
        message = f"the content encoding {left[0] if left else 'gzip'!r} can't be undone"
        raise ValueError(message)
    return plain


def _text(cassette: Cassette) -> str:
    from vcr.request import Request  # type: ignore[import-untyped] # noqa: PLC0415 - as above
    from vcr.serialize import serialize  # noqa: PLC0415 - as above

    stored = {
        "requests": [
            Request(each.method, each.url, each.request_body, entries.joined(each.request_headers))
            for each in cassette.exchanges
        ],
        "responses": [entries.answer(each) for each in cassette.exchanges],
        "metadata": entries.metadata(cassette.origin),
    }
    text: str = serialize(stored, _Writer)
    return text


class _Writer:
    """A serializer, as vcrpy asks for one."""

    serialize = staticmethod(layout.dumps)
