"""A recording under way: every exchange is scrubbed, searched for what still leaks, and written down; then compiled."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Final

from pytest_agentcontract.cassette.exchange import Cassette, Origin, Recorded
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.cassette.journal import Journal, journal_of
from pytest_agentcontract.cassette.matching.canonical import canonical
from pytest_agentcontract.cassette.modes import Old, RecordMode, compiled, conduct
from pytest_agentcontract.cassette.scrubbing.residual import leaks, leaks_of_maker
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.errors import CassetteError

_ANEW: Final[Old] = "stay unless recorded anew"


def apart(path: Path) -> Path:
    """Return where the recording of a failed run lies: beside the cassette, never over it."""
    return path.with_name(f"{path.stem}.failed{path.suffix}")


class Tape:
    """Records a cassette; nobody else can until it is finished.

    A journal that an interrupted recording left behind is carried on: its exchanges count as old entries, behind those
    of the cassette, and one of them that is recorded anew is replaced. A rewrite that ends well drops them.
    """

    def __init__(self, path: Path, mode: RecordMode, origin: Origin, scrubber: Scrubber) -> None:
        """Begin. Raises CassetteError where the mode records nothing, or somebody else is recording.

        So it does for a cassette, or a journal, that is not sound, for old entries that leak, and for an origin that
        can't be written without what is secret in it.
        """
        self.path = path
        self._scrubber = scrubber
        self._lock = Lock()
        self._taken = 0
        self._refused: list[str] = []
        self._journal: Journal | None = None
        journal = Journal(journal_of(path))
        try:
            self._begin(mode, origin, journal.recordings()[:-1])
        except BaseException:
            journal.abandon()
            raise
        self._journal = journal

    def _begin(self, mode: RecordMode, origin: Origin, earlier: Iterable[tuple[Recorded, ...]]) -> None:
        exists = self.path.exists()
        self._conduct = conduct(mode, exists=exists)
        if not self._conduct.records:
            remedy = "Choose new_episodes, all or rewrite to record."
            raise CassetteError(f"the mode {mode} records nothing here", where=str(self.path), remedy=remedy)
        old = store.load(self.path) if exists and self._conduct.old != "go" else Cassette()
        self._origin = _joined(old.origin, origin)
        self._old = self._scrubbed(old.exchanges)
        left: tuple[Recorded, ...] = ()
        for recording in earlier:
            left = compiled(left, recording, "stay" if self._conduct.plays else _ANEW, self._key)
        self._left = self._scrubbed(left)
        self._clean_origin()

    @property
    def recovered(self) -> int:
        """How many exchanges an interrupted recording left behind."""
        return len(self._left)

    @property
    def cassette(self) -> Cassette:
        """What there is to be played: nothing, in a mode that only records."""
        return Cassette((*self._old, *self._left), self._origin) if self._conduct.plays else Cassette((), self._origin)

    def take(self, exchange: Recorded) -> None:
        """Write an exchange down, if it is a recording and leaks nothing; if not, `finish` will say so.

        Any thread may call it. Raises CassetteError if the journal can't be written, and after the end.
        """
        with self._lock:
            clean = self._scrubber.scrub(exchange)
            self._taken += 1
            if complaints := self._complaints(exchange, clean, f"exchange {self._taken}"):
                self._refused += complaints
            elif self._journal is None:
                what = f"{clean.method} {clean.url} came to its end after the recording"
                raise CassetteError(what, where=str(self.path), remedy="Wait for the client's last answer.")
            else:
                self._journal.append(clean)

    def finish(self, *, failed: bool) -> Path | None:
        """Compile the cassette, and return where it lies; None if there is nothing to write.

        What a failed run recorded goes apart. So does, before CassetteError is raised, what a run recorded of which
        something was refused: the error lists what leaked where. If nothing can be written, the journal stays.
        """
        with self._lock:
            journal, self._journal = self._journal, None
        if journal is None:
            return None
        try:
            written = self._written(journal.recordings()[-1], failed=failed or bool(self._refused))
        except BaseException:
            journal.close()
            raise
        if written or not self._left:
            journal.remove()
        else:
            journal.abandon()
        if self._refused:
            others = f" The others are in {written}." if written else ""
            remedy = f"Nothing of this was written.{others}"
            raise CassetteError("\n".join(self._refused), where=str(self.path), remedy=remedy)
        return written

    def _written(self, new: tuple[Recorded, ...], *, failed: bool) -> Path | None:
        """Write the file that a recording comes to, if it is any."""
        if failed:
            path, exchanges = apart(self.path), compiled(self._left, new, _ANEW, self._key)
        else:
            path, exchanges = self.path, compiled((*self._old, *self._left), new, self._conduct.old, self._key)
        if not exchanges or not (new or self._left):
            return None
        store.save(Cassette(exchanges, self._clean_origin()), path)
        return path

    def _clean_origin(self) -> Origin:
        """Return the origin as it is written; the one that is asked and matched by may hold what is secret."""
        clean = self._scrubber.scrub_origin(self._origin)
        if found := leaks_of_maker(clean, self._scrubber.known):
            told = "\n".join(f"the metadata leaks: {leak}" for leak in found)
            raise CassetteError(told, where=str(self.path), remedy="Take it out; nothing was written.")
        return clean

    def _key(self, exchange: Recorded) -> object:
        return canonical(exchange, self._origin.elided).key

    def _scrubbed(self, exchanges: Iterable[Recorded]) -> tuple[Recorded, ...]:
        """Return entries as they will be written: stock vcrpy may have recorded them with all that was in them.

        The scrubber so learns which numbers of placeholders are taken.
        """
        clean = []
        for number, exchange in enumerate(exchanges):
            clean.append(self._scrubber.scrub(exchange))
            if complaints := self._complaints(exchange, clean[-1], f"entry {number}"):
                remedy = "Take the secret out of the entry, or record with the mode rewrite."
                raise CassetteError("\n".join(complaints), where=str(self.path), remedy=remedy)
        return tuple(clean)

    def _complaints(self, exchange: Recorded, clean: Recorded, name: str) -> list[str]:
        if found := leaks(clean, self._scrubber.secrets(exchange)):
            return [f"{name} leaks: {leak}" for leak in found]  # not its URL, which may be what leaks
        complaint = store.unfit(clean)
        return [f"{name} is no recording: {complaint}"] if complaint else []


def _joined(old: Origin, new: Origin) -> Origin:
    return Origin(
        {**old.upstreams, **new.upstreams}, new.note or old.note, tuple(dict.fromkeys((*old.elided, *new.elided)))
    )
