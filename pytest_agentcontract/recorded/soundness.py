"""What is wrong with a cassette, and what scrubbing takes out of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_agentcontract.cassette.exchange import Cassette, Origin, Recorded
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.cassette.file.soundness import beside
from pytest_agentcontract.cassette.scrubbing.residual import Leak, leaks, leaks_of_maker, leaks_of_texts
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.cassette.scrubbing.spots import PLACEHOLDER
from pytest_agentcontract.errors import CassetteError
from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.report.text import counted


def faults(path: Path) -> Iterator[str]:
    """Yield a line for each thing that is wrong: the file, a secret in it, a model request that can't be read."""
    try:
        cassette = store.load(path)
    except CassetteError as error:
        yield str(error)
        return
    scrubber = Scrubber(os.environ)
    for reading in read_all(cassette):
        place = f"{path}: exchange {reading.number}"
        yield from (
            f"{place} leaks: {told}" for told in _told(leaks(reading.recorded, scrubber.secrets(reading.recorded)))
        )
        if reading.kind == "model" and reading.problem:
            yield f"{place}: {reading.problem}"
    texts = ((f"line {line}", text) for line, text in beside(path.read_text("utf-8-sig")))
    yield from (f"{path}: the metadata leaks: {told}" for told in _told(leaks_of_texts(texts, scrubber.known)))


def _told(found: Iterable[Leak]) -> Iterator[str]:
    """Yield a line for each place that leaks."""
    kinds: dict[str, list[str]] = {}
    for leak in found:
        kinds.setdefault(leak.place, []).append(leak.kind)
    yield from (f"{', '.join(of)} in {place}" for place, of in kinds.items())


def scrub(path: Path) -> tuple[str, ...]:
    """Rewrite a cassette without its secrets; return what was replaced, a line for each exchange with a secret.

    So there is one for the metadata. What has none stays as it is. Raises CassetteError, and changes nothing, where
    something leaks all the same.
    """
    cassette, scrubber = store.load(path), Scrubber(os.environ)
    clean = tuple(map(scrubber.scrub, cassette.exchanges))
    for number, (dirty, scrubbed) in enumerate(zip(cassette.exchanges, clean, strict=True)):
        for leak in leaks(scrubbed, scrubber.secrets(dirty)):
            raise CassetteError(
                f"exchange {number} still leaks: {leak}", where=str(path), remedy="Take it out by hand, or record anew."
            )
    origin = scrubber.scrub_origin(cassette.origin)
    for leak in leaks_of_maker(origin, scrubber.known):
        raise CassetteError(f"the metadata still leaks: {leak}", where=str(path), remedy="Take it out by hand.")
    if (clean, origin) != (cassette.exchanges, cassette.origin):
        store.save(Cassette(clean, origin), path)
    told = [_replaced(*pair) for pair in zip(cassette.exchanges, clean, strict=True)]
    lines = [*(f"exchange {number}: {line}" for number, line in enumerate(told) if line)]
    of_maker = _counted(Counter(_kinds_in(_bytes_of(origin))) - Counter(_kinds_in(_bytes_of(cassette.origin))))
    return tuple([*lines, f"metadata: {', '.join(of_maker)}"] if of_maker else lines)


def _replaced(dirty: Recorded, clean: Recorded) -> str:
    """Say which headers are gone, and how often which kind of secret was replaced."""
    gone = [name for name, value in _headers(dirty) if name not in dict(_headers(clean))]
    new = Counter(_placeholders(clean)) - Counter(_placeholders(dirty))
    parts = [f"{', '.join(dict.fromkeys(gone))} dropped"] if gone else []
    parts += _counted(new)
    return "; ".join(parts) or ("changed" if clean != dirty else "")


def _counted(new: Counter[str]) -> list[str]:
    return [f"{counted(count, kind)} replaced" for kind, count in sorted(new.items())]


def _headers(recorded: Recorded) -> tuple[tuple[str, str], ...]:
    return recorded.request_headers + recorded.headers


def _placeholders(recorded: Recorded) -> Iterator[str]:
    texts = [recorded.url, recorded.reason, *(value for _, value in _headers(recorded))]
    data = b"\n".join([*(text.encode("utf-8", "surrogateescape") for text in texts), recorded.request_body])
    yield from _kinds_in(data + b"\n" + recorded.body)


def _bytes_of(origin: Origin) -> bytes:
    return "\n".join(text for _, text in origin.texts).encode("utf-8", "surrogateescape")


def _kinds_in(data: bytes) -> Iterator[str]:
    yield from (found[1].decode() for found in PLACEHOLDER.finditer(data))
