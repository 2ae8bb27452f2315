"""What the maker of a cassette writes (note, upstreams, elided pointers) is scrubbed and searched as exchanges are."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from pytest_agentcontract.cassette.exchange import Origin, Recorded
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.cassette.journal import journal_of
from pytest_agentcontract.cassette.modes import RecordMode
from pytest_agentcontract.cassette.scrubbing.residual import leaks_of_maker
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.cassette.tape import Tape, apart
from pytest_agentcontract.cassette.upstreams import client_path
from pytest_agentcontract.errors import CassetteError
from tests.cassette.exchanges import exchange

KEY = "sk-" + "ant-api03-" + "Zx9" * 12
VALUE = "correct-horse-9"
CARRIED = "f00dfeedCAFE1234"
ENVIRON = {"VAULT_PASSWORD": VALUE}
WRITTEN = {
    "note": lambda s: Origin(note=f"made with {s}, by hand"),
    "name of an upstream": lambda s: Origin({f"my-{s}": "https://h.example"}),
    "path of an upstream": lambda s: Origin({"openai": f"https://h.example/{s}/v1"}),
    "elided pointer": lambda s: Origin(elided=(f"/input/{s}/text",)),
}


def record(path, origin: Origin, *exchanges: Recorded, mode: str = "all", failed: bool = False):
    """Record exchanges."""
    tape = Tape(path, RecordMode(mode), origin, Scrubber(ENVIRON))
    for each in exchanges:
        tape.take(each)
    return tape.finish(failed=failed)


@pytest.mark.parametrize("failed", [False, True], ids=["kept", "failed"])
@pytest.mark.parametrize("secret", [KEY, VALUE, CARRIED], ids=["shape", "environment", "carried"])
@pytest.mark.parametrize("place", WRITTEN)
def test_no_tape_writes_it(tmp_path, place, secret, failed):
    """Neither a key, nor a value of the environment, nor what an exchange's header carried, wherever it is kept."""
    origin, path = WRITTEN[place](secret), tmp_path / "c.yaml"
    asked = replace(exchange(), request_headers=(("x-api-key", CARRIED),))
    assert record(path, origin, asked, failed=failed) == (apart(path) if failed else path)
    for each in tmp_path.iterdir():
        assert secret not in each.read_text("utf-8")
        written = store.load(each).origin
        assert "SCRUBBED-" in repr(written)
        assert len(tuple(written.texts)) == len(tuple(origin.texts))


def test_what_stood_there_before_goes_too(tmp_path):
    """A note of an earlier recording is carried on, without its secret; one without any stays as it is."""
    path = tmp_path / "c.yaml"
    record(path, Origin(note="by hand"), exchange())
    kept = store.load(path)
    assert kept.origin.note == "by hand"
    store.save(replace(kept, origin=Origin(note=f"by hand, {KEY}")), path)
    record(path, Origin(), exchange(), mode="new_episodes")
    assert store.load(path).origin.note == "by hand, SCRUBBED-key-1"


def test_an_upstream_is_still_the_one_that_was_asked(tmp_path):
    """A key in the path of its URL has one number there and in the exchanges."""
    base = f"https://h.example/{KEY}"
    record(tmp_path / "c.yaml", Origin({"openai": base}), replace(exchange(), url=f"{base}/chat/completions"))
    cassette = store.load(tmp_path / "c.yaml")
    assert client_path(cassette.origin.upstreams, cassette.exchanges[0].url) == "/openai/v1/chat/completions"


@pytest.mark.parametrize(
    ("origin", "place"),
    [
        (Origin(note=base64.b64encode(f"see {KEY}".encode()).decode()), "key in the note, as base64"),
        (Origin({"openai": f"https://{VALUE}.example"}), "environment in the URL of upstream 1"),
    ],
    ids=["base64", "host"],
)
def test_what_can_not_be_scrubbed_begins_no_recording(tmp_path, origin, place):
    """The leak is told by its kind and place, and nothing lies there."""
    with pytest.raises(CassetteError) as refused:
        Tape(tmp_path / "c.yaml", RecordMode.ALL, origin, Scrubber(ENVIRON))
    assert f"the metadata leaks: {place}" in str(refused.value)
    assert KEY not in str(refused.value)
    assert VALUE not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_what_turns_out_to_be_secret_is_not_written(tmp_path):
    """What an exchange carried stands in the note in base64: the exchanges stay in the journal, for the next time."""
    path = tmp_path / "c.yaml"
    note = base64.b64encode(f"see {CARRIED}".encode()).decode()
    asked = replace(exchange(), request_headers=(("x-api-key", CARRIED),))
    with pytest.raises(CassetteError, match="the metadata leaks: credential in the note, as base64"):
        record(path, Origin(note=note), asked)
    assert [each.name for each in tmp_path.iterdir()] == [journal_of(path).name]
    assert record(path, Origin(note="by hand")) == path
    assert len(store.load(path).exchanges) == 1


def test_scrubbing_twice_changes_nothing():
    """And an ordinary origin stays as it is."""
    scrubber = Scrubber(ENVIRON)
    plain = Origin({"openai": "https://api.openai.com/v1"}, "codex 0.9, recorded by hand", ("/tools/**/description",))
    assert scrubber.scrub_origin(plain) == plain
    clean = scrubber.scrub_origin(Origin({KEY: f"https://h.example/{KEY}"}, f"{KEY} {VALUE}", (KEY,)))
    assert scrubber.scrub_origin(clean) == clean
    assert leaks_of_maker(clean, scrubber.known) == ()
