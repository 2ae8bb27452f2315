"""The journal: whatever happens, no exchange that was written down is lost, and nobody else writes there."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_agentcontract.cassette import journal
from pytest_agentcontract.cassette.exchange import Piece
from pytest_agentcontract.cassette.journal import Journal, journal_of, recovered
from pytest_agentcontract.errors import CassetteError
from tests.cassette.exchanges import asking, exchange
from tests.cassette.limits import files_of_at_most


def test_where_it_lies(tmp_path):
    """A journal lies beside its cassette, hidden."""
    assert journal_of(tmp_path / "a.yaml") == tmp_path / ".a.yaml.journal"


@settings(max_examples=100, deadline=None)
@given(st.binary(), st.binary(), st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["reset", "whole"]))
def test_any_exchange_comes_back(tmp_path_factory, body, asked, text, ending):
    """Bytes of any kind, cut anywhere, come back as they were."""
    path = tmp_path_factory.mktemp("any") / "j"
    pieces = (Piece(0.1, body[:3]), Piece(1 / 3, body[3:]))
    lines = (("a", text), ("a", text))
    made = exchange(request_body=asked, pieces=pieces, headers=lines, reason=text, ending=ending)
    written = Journal(path)
    written.append(made)
    assert recovered(path) == (made,)
    written.remove()


def test_no_journal_holds_nothing(tmp_path):
    """What was removed, or never begun, is empty."""
    written = Journal(tmp_path / "deep" / "j")
    written.append(asking(1))
    written.remove()
    assert recovered(tmp_path / "deep" / "j") == ()
    assert list((tmp_path / "deep").iterdir()) == []


def test_it_may_be_cut_anywhere(tmp_path):
    """Wherever the file ends, all whole lines are read, and the next recording goes on behind them."""
    path = tmp_path / "j"
    made = [asking(0, "ä".encode()), asking(1, b"\xff"), asking(2)]
    with_all = Journal(path)
    sizes = []
    for each in made:
        with_all.append(each)
        sizes.append(path.stat().st_size)
    with_all.close()
    data = path.read_bytes()
    for end in (*range(0, len(data), 5), *sizes, sizes[-1] - 1):
        path.write_bytes(data[:end])
        whole = made[: sum(size <= end for size in sizes)]
        assert list(recovered(path)) == whole
        carried_on = Journal(path)
        carried_on.append(asking(9))
        carried_on.close()
        assert list(recovered(path)) == [*whole, asking(9)]


@pytest.mark.parametrize("line", [b"x\n", b"{}\n", b"[]\n", b'{"method": "GET"}\n', b"\xff\n"])
def test_a_damaged_line_is_named(tmp_path, line):
    """A whole line that is unreadable is no torn one: it is told, and nothing is thrown away."""
    path = tmp_path / "j"
    with_one = Journal(path)
    with_one.append(asking(1))
    with_one.close()
    path.write_bytes(before := path.read_bytes() + line + b"{}\n")
    with pytest.raises(CassetteError, match=r"j:3: this line of a journal can't be read"):
        recovered(path)
    assert path.read_bytes() == before


def test_exchanges_before_any_recording_are_damage(tmp_path):
    """A file that begins with something else is no journal."""
    (tmp_path / "j").write_bytes(b"{}\n")
    with pytest.raises(CassetteError, match="j:1: "):
        recovered(tmp_path / "j")


def test_recordings_are_kept_apart(tmp_path):
    """What was left behind is told from what this recording wrote, and an abandoned recording leaves no trace."""
    path = tmp_path / "j"
    for number in (1, 2):
        left = Journal(path)
        left.append(asking(number))
        left.close()
    before = path.read_bytes()
    now = Journal(path)
    assert now.recordings() == ((asking(1),), (asking(2),), ())
    now.append(asking(3))
    now.abandon()
    assert path.read_bytes() == before


def test_a_line_that_did_not_fit_is_taken_back(tmp_path):
    """A full disk costs the exchange in hand; the journal goes on when there is room again."""
    path = tmp_path / "j"
    writing = Journal(path)
    writing.append(asking(1))
    with files_of_at_most(path.stat().st_size + 100), pytest.raises(CassetteError, match="can't be written"):
        writing.append(asking(2, b"x" * 1000))
    writing.append(asking(3))
    writing.close()
    assert recovered(path) == (asking(1), asking(3))


def test_what_an_exchange_costs(tmp_path, monkeypatch):
    """The tenth and the thousandth exchange are one write of the same size each, and nothing is read again."""
    writing, writes = Journal(tmp_path / "j"), []
    real = os.write

    def counted(file: int, data: bytes) -> int:
        writes.append(len(data))
        return real(file, data)

    with monkeypatch.context() as patch:
        patch.setattr(journal.os, "write", counted)
        patch.setattr(journal.os, "pread", None)
        for _ in range(1000):
            writing.append(asking(1))
    assert len(writes) == 1000
    assert len(set(writes)) == 1
    assert len(recovered(tmp_path / "j")) == 1000
    writing.remove()


_HOLD = """
import sys
from pathlib import Path
from pytest_agentcontract.cassette.journal import Journal
held = Journal(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_one_process_at_a_time(tmp_path):
    """A second recorder is refused with the number of the first, whose death frees the journal."""
    path = tmp_path / "j"
    command = [sys.executable, "-c", _HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        before = path.read_bytes()
        with pytest.raises(CassetteError, match=f"process {other.pid} is recording this cassette") as told:
            Journal(path)
        assert told.value.remedy
        assert path.read_bytes() == before
        other.kill()
    Journal(path).remove()


def test_one_recording_at_a_time_in_a_process(tmp_path):
    """Two recordings of one process are refused each other, too."""
    first = Journal(tmp_path / "j")
    with pytest.raises(CassetteError, match=f"process {os.getpid()} is recording"):
        Journal(tmp_path / "j")
    first.remove()
    Journal(tmp_path / "j").remove()


def test_whoever_comes_as_the_holder_goes(tmp_path, monkeypatch):
    """A file that its holder took away between our opening and our locking is not the journal any more."""
    first, real = Journal(tmp_path / "j"), fcntl.flock

    def meanwhile(file: int, how: int) -> None:
        monkeypatch.setattr(journal.fcntl, "flock", real)
        first.remove()
        real(file, how)

    monkeypatch.setattr(journal.fcntl, "flock", meanwhile)
    second = Journal(tmp_path / "j")
    second.append(asking(1))
    assert recovered(tmp_path / "j") == (asking(1),)
    second.remove()


def test_a_folder_that_can_not_be_written(tmp_path):
    """Where no journal can lie, no recording begins."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CassetteError, match="can't be written"):
        Journal(tmp_path / "file" / "j")
