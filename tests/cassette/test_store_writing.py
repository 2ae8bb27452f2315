"""Saving a cassette: in one step, whole, and whatever goes wrong, what stood there stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_agentcontract.cassette.exchange import Cassette
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.errors import CassetteError
from tests.cassette.exchanges import asking, exchange
from tests.cassette.limits import files_of_at_most

STREAM = (("Content-Type", "Text/Event-Stream; charset=utf-8"),)


@pytest.fixture
def path(tmp_path):
    """Return where a good cassette lies."""
    store.save(Cassette((asking(1),)), tmp_path / "c.yaml")
    return tmp_path / "c.yaml"


def _alone(path: Path) -> bool:
    return [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_full_disk(path):
    """The system takes only a part of the new file: the old one stays, and nothing lies about."""
    before = path.read_bytes()
    with files_of_at_most(2000), pytest.raises(CassetteError, match="can't be written"):
        store.save(Cassette((asking(2, b"x" * 5000),)), path)
    assert path.read_bytes() == before
    assert _alone(path)


def test_a_folder_stands_there(tmp_path):
    """What can't be replaced is told."""
    (tmp_path / "c.yaml" / "full").mkdir(parents=True)
    with pytest.raises(CassetteError, match="can't be written"):
        store.save(Cassette(), tmp_path / "c.yaml")
    assert _alone(tmp_path / "c.yaml")


def test_a_link_stays_one(path, tmp_path):
    """A cassette that is a link to another file is written there."""
    link = tmp_path / "link.yaml"
    link.symlink_to(path)
    store.save(Cassette((asking(2),)), link)
    assert link.is_symlink()
    assert store.load(path) == Cassette((asking(2),))


def test_everybody_may_read_it(path):
    """It has the rights of any other new file."""
    (other := path.with_name("other")).write_text("")
    assert path.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("body", [b"", b"\n\n"])
def test_an_event_stream_of_nothing(path, body):
    """It is refused, and the file stays; one that broke off before its first event, or failed, is a recording."""
    before = path.read_bytes()
    empty = exchange(body, headers=STREAM)
    with pytest.raises(CassetteError, match=r"entry 1: .* an event stream without an event") as told:
        store.save(Cassette((asking(1), empty)), path)
    assert told.value.remedy
    assert path.read_bytes() == before
    sound = Cassette((exchange(body, headers=STREAM, ending="reset"), exchange(body, headers=STREAM, status=503)))
    store.save(sound, path)
    assert store.load(path) == sound


_SAVE = """
import sys
from itertools import count
from pathlib import Path
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.cassette.exchange import Cassette
from tests.cassette.exchanges import asking
for number in count():
    store.save(Cassette(tuple(asking(number, b"data: x\\n\\n" * 5000) for _ in range(20))), Path(sys.argv[1]))
    print(number, flush=True)
"""


@pytest.mark.parametrize("saves", [1, 3])
def test_killed_while_saving(path, saves):
    """Kill -9 at any time: one of the two cassettes stands there, whole."""
    command = [sys.executable, "-c", _SAVE, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as saving:
        for _ in range(saves):
            saving.stdout.readline()
        saving.kill()
        last = saves - 1 + len(saving.stdout.readlines())
    exchanges = store.load(path).exchanges
    assert len(exchanges) == 20
    assert {each.request_body for each in exchanges} <= {f'{{"n": {n}}}'.encode() for n in (last, last + 1)}
    assert len(set(exchanges)) == 1
