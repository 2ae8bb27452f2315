"""One cassette in use: played, recorded, or both, behind a base URL of its own; at the end it says what was wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_agentcontract.cassette.exchange import Cassette, Origin, Recorded
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.cassette.matching.index import Index
from pytest_agentcontract.cassette.matching.miss import Miss
from pytest_agentcontract.cassette.modes import conduct
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.cassette.served import upstreams_of
from pytest_agentcontract.cassette.tape import Tape
from pytest_agentcontract.cassette.upstreams import environment, upstreams
from pytest_agentcontract.errors import CassetteError
from pytest_agentcontract.provider.recorder import Recorder
from pytest_agentcontract.provider.replayer import Replayer
from pytest_agentcontract.provider.server import HOST, Provider
from pytest_agentcontract.provider.upstream.proxies import past_proxies
from pytest_agentcontract.recorded.use import Use
from pytest_agentcontract.report.text import counted, harmless

_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")
_DUMMY = "replayed"
_RECORD_IT = "Record it: `pytest --agent-contract-record once`, or `agent-contract record -o FILE -- COMMAND`."

_NOTHING = (
    "nothing was asked: is the client pointed at the base URL?"
    " (A `use_cassette` of vcrpy around it needs ignore_localhost=True.)"
)
_ANEW = "Record it anew, or name another file."


class Session:
    """A cassette between clients and, where it is recorded, their providers.

    `recorded` counts what was recorded, and `kept_at` is where that lies in the end.

    Raises CassetteError for a cassette that is missing and may not be recorded, that is wrong, or that another process
    is recording; UsageError for upstreams that can't be asked.
    """

    def __init__(
        self, listener: Provider, path: Path, use: Use, environ: Mapping[str, str] = os.environ, test: str = ""
    ) -> None:
        self.path, self.recorded = path, 0
        self._listener, self._use, self._environ = listener, use, dict(environ)
        self._conduct = conduct(use.mode, exists=path.exists())
        if path.exists() and not path.is_file():
            raise CassetteError("this is no file", where=str(path), remedy="Name a file: a cassette is one.")
        if not path.exists() and not self._conduct.records:
            raise CassetteError("there is no such cassette", where=str(path), remedy=_RECORD_IT)
        stored = store.load(path) if path.exists() and self._conduct.old != "go" else Cassette()
        scrubber = Scrubber(environ, elide=(*stored.origin.elided, *use.elide))
        self._tape = Tape(path, use.mode, self._origin(stored), scrubber) if self._conduct.records else None
        cassette = self._tape.cassette if self._tape else stored
        if not self._tape and not cassette.exchanges:
            raise CassetteError("this cassette holds nothing", where=str(path), remedy=_ANEW)
        asked = upstreams_of(cassette)
        self._recorder = Recorder(asked, self._take, environ) if self._tape else None
        self._index = Index(cassette, scrubber.scrub)
        self._replayer = Replayer(self._index, asked, use.pace, self._recorder)
        self._place = listener.place(test or f"the cassette {path}")
        self._missed_before = len(listener.missed)
        self.kept_at: Path | None = None
        listener.admit(self._replayer, self._place)

    # ---- where clients are pointed

    @property
    def anthropic_url(self) -> str:
        """The base URL for the clients of Anthropic."""
        return self.env["ANTHROPIC_BASE_URL"]

    @property
    def openai_url(self) -> str:
        """The base URL for the clients of OpenAI: it ends in `/v1`."""
        return self.env["OPENAI_BASE_URL"]

    @property
    def gemini_url(self) -> str:
        """The base URL for the clients of Google."""
        return self.env["GOOGLE_GEMINI_BASE_URL"]

    @property
    def env(self) -> dict[str, str]:
        """What to set for clients that read their settings from the environment.

        Keys are those of the environment. Where nothing is recorded and there is none, one is made up: clients want
        one, and nobody reads it.
        """
        urls = environment(self._listener.url(self._place))
        keys = {name: self._environ.get(name) or (_DUMMY if not self.records else "") for name in _KEYS}
        return {**urls, **past_proxies(HOST, self._environ), **{name: key for name, key in keys.items() if key}}

    # ---- what came of it

    @property
    def records(self) -> bool:
        """Whether what is asked can reach a provider."""
        return self._tape is not None

    @property
    def recovered(self) -> int:
        """How many exchanges were found in the journal of a recording that was interrupted."""
        return self._tape.recovered if self._tape else 0

    @property
    def misses(self) -> tuple[Miss, ...]:
        """What was asked, and is not in the cassette."""
        return tuple(self._replayer.misses)

    @property
    def unplayed(self) -> Mapping[int, Recorded]:
        """The entries that nobody asked for so far, by their numbers."""
        return self._index.unplayed

    def close(self, *, failed: bool = False) -> str:
        """End the use; return what was wrong as one message, "" if nothing was.

        A recording is put in the cassette's place, unless its test `failed` or something was wrong: then it stands
        apart. Raises CassetteError for a recording that still holds a secret, or can't be written.
        """
        self._listener.dismiss(self._replayer, self._place)
        try:
            self._replayer.close()
        finally:
            found = tuple(map(harmless, self._wrong(failed=failed)))
            if self._tape:
                self.kept_at = self._tape.finish(failed=failed or bool(found))
        what = "the cassette was not played as it was recorded" if self._conduct.plays else "the recording is not whole"
        head = f"{self.path}: {what}: {counted(len(found), 'fault')}"
        return "\n  ".join([head, *found]) if found else ""

    def _wrong(self, *, failed: bool) -> Iterator[str]:
        told = [*map(str, self.misses), *(self._recorder.told if self._recorder else ())]
        yield from told
        astray = (path.replace(self._place, "") for path in self._listener.missed[self._missed_before :])
        yield from (f"{path} was asked, and nobody is there" for path in astray if path)
        left = self.unplayed
        if not told and not self.recorded and not self.recovered and len(left) == len(self._index):
            yield _NOTHING  # which is no proof of anything, whatever may be left
        elif not self._use.allow_unplayed and not failed:
            yield from (f"entry {at} was never asked for: {entry.method} {entry.url}" for at, entry in left.items())

    def _take(self, exchange: Recorded) -> None:
        if self._tape:
            self._tape.take(exchange)
            self.recorded += 1

    def _origin(self, stored: Cassette) -> Origin:
        """Say how the cassette will have been made; what is there is carried on under the upstreams that it has."""
        given = self._use.upstreams
        asked = given if self._conduct.plays and stored.exchanges else upstreams(self._environ, given)
        return Origin(asked, self._use.note, self._use.elide)
