"""A tape: what each mode leaves on disk after good runs, failed ones and killed ones, and that no secret is left."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_agentcontract.cassette.exchange import Cassette, Origin, Piece, Recorded
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.cassette.journal import journal_of, recovered
from pytest_agentcontract.cassette.modes import RecordMode
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.cassette.tape import Tape, apart
from pytest_agentcontract.errors import CassetteError
from tests.cassette.exchanges import asking, exchange

SECRET = "sk-ant-api03-" + "Zx9" * 12
ORIGIN = Origin({"anthropic": "https://api.anthropic.com"})


@pytest.fixture
def path(tmp_path):
    """Return where the cassette is to lie."""
    return tmp_path / "cassettes" / "c.yaml"


def tape(path: Path, mode: str = "all", origin: Origin = ORIGIN) -> Tape:
    """Begin a recording, in an environment without secrets."""
    return Tape(path, RecordMode(mode), origin, Scrubber({}))


def record(path: Path, mode: str, *exchanges: Recorded, failed: bool = False) -> Path | None:
    """Record exchanges, and finish."""
    recording = tape(path, mode)
    for each in exchanges:
        recording.take(each)
    return recording.finish(failed=failed)


def killed(path: Path, mode: str, *exchanges: Recorded) -> None:
    """Record exchanges, and never finish."""
    recording = tape(path, mode)
    for each in exchanges:
        recording.take(each)
    recording._journal.close()


def names(path: Path) -> list[str]:
    """Return what lies beside a cassette, itself among it."""
    return sorted(each.name for each in path.parent.iterdir())


def told(path: Path) -> list[tuple[bytes, bytes]]:
    """Return what a cassette's exchanges ask and answer."""
    return [(each.request_body, each.body) for each in store.load(path).exchanges]


A1, B1, A2, C2 = asking(1, b"a1"), asking(2, b"b1"), asking(1, b"a2"), asking(3, b"c2")


def as_told(*exchanges: Recorded) -> list[tuple[bytes, bytes]]:
    """Return what `told` should say."""
    return [(each.request_body, each.body) for each in exchanges]


class TestModes:
    """What stands in the file after a second recording."""

    @pytest.mark.parametrize(
        ("mode", "after"),
        [("new_episodes", (A1, B1, A2, C2)), ("all", (B1, A2, C2)), ("rewrite", (A2, C2))],
    )
    def test_a_second_recording(self, path, mode, after):
        """Old entries stay, are replaced where asked anew, or go; the origin is kept."""
        assert record(path, "once", A1, B1) == path
        assert record(path, mode, A2, C2) == path
        assert told(path) == as_told(*after)
        assert store.load(path).origin == ORIGIN
        assert names(path) == ["c.yaml"]

    @pytest.mark.parametrize(("mode", "exists"), [("none", False), ("none", True), ("once", True)])
    def test_modes_that_record_nothing(self, path, mode, exists):
        """There is no tape in them, and nothing is left behind."""
        if exists:
            record(path, "once", A1)
        with pytest.raises(CassetteError, match=f"the mode {mode} records nothing here"):
            tape(path, mode)
        assert [each.name for each in path.parent.glob("*")] == ["c.yaml"] * exists

    def test_what_is_played(self, path):
        """A mode that plays, too, has the old entries to play; one that only records has none."""
        record(path, "once", A1)
        playing, recording = tape(path, "new_episodes"), None
        assert as_told(*playing.cassette.exchanges) == as_told(A1)
        playing.finish(failed=False)
        recording = tape(path, "all")
        assert recording.cassette == Cassette((), ORIGIN)
        recording.finish(failed=False)

    @pytest.mark.parametrize("mode", ["new_episodes", "all", "rewrite"])
    def test_nothing_recorded(self, path, mode):
        """A run that asked nothing changes nothing, and leaves nothing."""
        record(path, "once", A1)
        before = path.read_bytes()
        assert record(path, mode) is None
        assert path.read_bytes() == before
        assert names(path) == ["c.yaml"]

    def test_a_broken_cassette(self, path):
        """It stays as it is, in all modes but the one that does without it."""
        path.parent.mkdir()
        path.write_text("version: 1\ninteractions: {", "utf-8")
        before = path.read_bytes()
        for mode in ("new_episodes", "all"):
            with pytest.raises(CassetteError, match=r"c\.yaml:2"):
                tape(path, mode)
        assert (path.read_bytes(), names(path)) == (before, ["c.yaml"])
        record(path, "rewrite", A1)
        assert told(path) == as_told(A1)

    def test_elided_places_count_for_nothing(self, path):
        """Entries that differ only in what was taken out ask the same."""
        store.save(Cassette((A1,), Origin(elided=("/n",))), path)
        record(path, "all", C2)
        assert told(path) == as_told(C2)
        assert store.load(path).origin == Origin(ORIGIN.upstreams, "", ("/n",))


class TestFailedRuns:
    """A failed run's recording is kept, and never over a good one."""

    @pytest.mark.parametrize("mode", ["new_episodes", "all", "rewrite"])
    def test_it_lies_apart(self, path, mode):
        """The good cassette is untouched to the byte."""
        record(path, "once", A1)
        before = path.read_bytes()
        assert record(path, mode, A2, C2, failed=True) == apart(path)
        assert (path.read_bytes(), told(apart(path))) == (before, as_told(A2, C2))
        assert names(path) == ["c.failed.yaml", "c.yaml"]

    def test_without_a_good_one(self, path):
        """A failed first run leaves no cassette that the next one would play."""
        record(path, "once", A1, failed=True)
        assert names(path) == ["c.failed.yaml"]
        assert record(path, "once", A2) == path


class TestLeaks:
    """What still leaks after scrubbing is written nowhere; the error says what leaked, and where, not the secret."""

    HIDDEN = exchange(request_body=b'{"n": 7, "x": "' + SECRET.encode().hex().encode() + b'"}')

    @pytest.mark.parametrize("failed", [False, True])
    def test_it_is_refused(self, path, failed):
        """The good cassette stays, and what is clean is kept apart."""
        record(path, "once", A1)
        before = path.read_bytes()
        recording = tape(path, "all")
        for each in (A2, self.HIDDEN, C2):
            recording.take(each)
        with pytest.raises(CassetteError, match=r"exchange 2 leaks: .+ in the request's body") as error:
            recording.finish(failed=failed)
        assert SECRET not in str(error.value)
        assert str(apart(path)) in error.value.remedy
        assert (path.read_bytes(), told(apart(path))) == (before, as_told(A2, C2))
        assert names(path) == ["c.failed.yaml", "c.yaml"]

    def test_nothing_is_clean(self, path):
        """Then there is nothing to keep."""
        recording = tape(path)
        recording.take(self.HIDDEN)
        with pytest.raises(CassetteError, match="exchange 1 leaks"):
            recording.finish(failed=False)
        assert names(path) == []

    def test_where_the_url_leaks(self, path):
        """An error does not name what leaks to say where it stood."""
        recording = tape(path)
        recording.take(exchange(url="https://x/" + SECRET.encode().hex()))
        with pytest.raises(CassetteError, match=r"exchange 1 leaks: .+ in the URL") as error:
            recording.finish(failed=False)
        assert SECRET.encode().hex() not in str(error.value)

    def test_what_was_there_is_scrubbed(self, path):
        """An entry that stock vcrpy wrote with a key in it is written without."""
        headers = (("x-api-key", SECRET), ("content-type", "application/json"))
        store.save(Cassette((replace(A1, request_headers=headers),)), path)
        assert SECRET in path.read_text("utf-8")
        record(path, "new_episodes", replace(A2, request_headers=headers))
        assert len(told(path)) == 2
        assert SECRET not in path.read_text("utf-8")

    def test_what_was_there_leaks(self, path):
        """An old entry that scrubbing can't help is told before anything is asked."""
        store.save(Cassette((A1, self.HIDDEN)), path)
        before = path.read_bytes()
        with pytest.raises(CassetteError, match="entry 1 leaks"):
            tape(path, "new_episodes")
        assert (path.read_bytes(), names(path)) == (before, ["c.yaml"])

    def test_the_journal_is_clean(self, path):
        """What a kill leaves behind holds no secret either."""
        killed(path, "all", replace(A1, request_headers=(("x-api-key", SECRET),), pieces=(Piece(0, SECRET.encode()),)))
        left = journal_of(path).read_text("utf-8")
        assert SECRET not in left
        assert "SCRUBBED-" in left


def test_an_empty_stream_is_no_recording(path):
    """An answer of no events is refused as what it is, and the rest is kept apart."""
    recording = tape(path)
    recording.take(A1)
    recording.take(exchange(b"", headers=(("content-type", "text/event-stream"),)))
    with pytest.raises(CassetteError, match=r"exchange 2 is no recording: .+ an event stream without an event"):
        recording.finish(failed=False)
    assert told(apart(path)) == as_told(A1)


class TestInterruptedRuns:
    """What a killed recording left in its journal is never lost, and never doubled."""

    def test_it_waits_for_the_next_recording(self, path):
        """Whoever only plays leaves it alone."""
        record(path, "once", A1)
        killed(path, "new_episodes", C2)
        left = journal_of(path).read_bytes()
        with pytest.raises(CassetteError, match="records nothing"):
            tape(path, "once")
        assert journal_of(path).read_bytes() == left

    def test_the_first_recording_again(self, path):
        """Recorded again, the same requests do not come twice; others that were asked then are still there."""
        killed(path, "once", A1, B1)
        assert not path.exists()
        assert record(path, "once", A2, C2) == path
        assert told(path) == as_told(B1, A2, C2)
        assert names(path) == ["c.yaml"]

    def test_killed_again_and_again(self, path):
        """What came later counts."""
        killed(path, "once", A1)
        killed(path, "once", B1, A2)
        record(path, "once", C2)
        assert told(path) == as_told(B1, A2, C2)

    def test_new_episodes_go_on(self, path):
        """What was recorded is played, and what is played is not recorded again: nothing is replaced."""
        record(path, "once", A1)
        killed(path, "new_episodes", B1)
        killed(path, "new_episodes", B1)
        going_on = tape(path, "new_episodes")
        assert as_told(*going_on.cassette.exchanges) == as_told(A1, B1, B1)
        assert going_on.finish(failed=False) == path
        assert told(path) == as_told(A1, B1, B1)
        assert names(path) == ["c.yaml"]

    def test_its_placeholders_are_its_own(self, path):
        """Two secrets of two recordings are not taken for one in the end."""
        first, second = (asking(number, (SECRET + str(number) * 3).encode()) for number in (1, 2))
        killed(path, "once", first)
        record(path, "once", second)
        (one, other) = (each.body for each in store.load(path).exchanges)
        assert one.startswith(b"SCRUBBED-")
        assert other.startswith(b"SCRUBBED-")
        assert one != other

    def test_a_rewrite_does_without(self, path):
        """A rewritten cassette holds what was recorded for it, and nothing of an attempt before."""
        record(path, "once", A1)
        killed(path, "rewrite", B1)
        record(path, "rewrite", C2)
        assert (told(path), names(path)) == (as_told(C2), ["c.yaml"])

    def test_a_rewrite_of_nothing_keeps_it(self, path):
        """A run that asked nothing throws nothing away."""
        killed(path, "rewrite", B1)
        left = journal_of(path).read_bytes()
        assert record(path, "rewrite") is None
        assert journal_of(path).read_bytes() == left

    @pytest.mark.parametrize("mode", ["once", "new_episodes", "all", "rewrite"])
    def test_a_failed_run_after_it(self, path, mode):
        """Then both lie apart."""
        killed(path, mode, A1, B1)
        record(path, mode, A2, failed=True)
        assert (told(apart(path)), names(path)) == (as_told(B1, A2), ["c.failed.yaml"])

    def test_nothing_can_be_written(self, path, monkeypatch):
        """A cassette that can't be written is still in its journal."""
        recording = tape(path)
        recording.take(A1)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", _full)
            with pytest.raises(CassetteError, match="can't be written"):
                recording.finish(failed=False)
        assert names(path) == [".c.yaml.journal"]
        record(path, "all", C2)
        assert told(path) == as_told(A1, C2)


def _full(self: Path, target: Path) -> None:
    raise OSError(28, "No space left on device")


class TestLateAndParallel:
    """Exchanges come from the server's thread, and may come late."""

    def test_after_the_end(self, path):
        """An exchange that ends after the recording is told, and changes nothing."""
        recording = tape(path)
        recording.take(A1)
        recording.finish(failed=False)
        with pytest.raises(CassetteError, match="came to its end after the recording"):
            recording.take(A2)
        assert recording.finish(failed=False) is None
        assert told(path) == as_told(A1)

    def test_many_threads(self, path):
        """Exchanges of parallel agents are all there, each whole."""
        recording = tape(path)
        threads = [threading.Thread(target=recording.take, args=(asking(n, b"x" * 5000),)) for n in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        recording.finish(failed=False)
        assert Counter(told(path)) == Counter(as_told(*(asking(n, b"x" * 5000) for n in range(64))))


def test_what_an_exchange_costs(path):
    """The thousandth exchange takes as many calls, and as many bytes in the journal, as the tenth."""
    recording, calls, sizes = tape(path), [0], []

    def count(frame: object, event: str, argument: object) -> None:
        calls[0] += event in {"call", "c_call"}

    costs = {}
    for number in range(1, 1001):
        calls[0] = 0
        if number in (10, 1000):
            sys.setprofile(count)
        recording.take(asking(7))
        sys.setprofile(None)
        costs[number] = calls[0]
        sizes.append(journal_of(path).stat().st_size)
    assert costs[1000] == costs[10] > 0
    assert sizes[999] - sizes[998] == sizes[9] - sizes[8]
    recording.finish(failed=True)


_RECORD = """
import sys
from pathlib import Path
from pytest_agentcontract.cassette.exchange import Origin
from pytest_agentcontract.cassette.modes import RecordMode
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.cassette.tape import Tape
from tests.cassette.exchanges import asking
tape = Tape(Path(sys.argv[1]), RecordMode.ALL, Origin(), Scrubber({}))
for number in range(100_000):
    tape.take(asking(number, b"data: %d\\n\\n" % number * 2000))
    print(number, flush=True)
"""


def _started(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _RECORD, str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("acknowledged", [1, 2, 7, 30])
def test_killed_while_recording(path, acknowledged):
    """Kill -9 at any time: all that was taken is in the next recording's cassette, in order and whole."""
    with _started(path) as recorder:
        for _ in range(acknowledged):
            recorder.stdout.readline()
        recorder.kill()
        taken = acknowledged + len(recorder.stdout.readlines())
    left = recovered(journal_of(path))
    assert taken <= len(left) <= taken + 1
    assert left == tuple(asking(number, b"data: %d\n\n" % number * 2000) for number in range(len(left)))
    last = asking(-1)
    assert record(path, "once", last) == path
    assert store.load(path).exchanges == (*left, last)


def test_two_processes(path):
    """Whoever records the same cassette at the same time is refused, and told by whom."""
    with _started(path) as recorder:
        recorder.stdout.readline()
        with pytest.raises(CassetteError, match=f"process {recorder.pid} is recording this cassette"):
            tape(path)
        recorder.kill()
    assert len(recovered(journal_of(path))) >= 1
