"""The recorder and its tape together: what a client heard stands in the cassette."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from pathlib import Path

from pytest_agentcontract.cassette.exchange import Origin
from pytest_agentcontract.cassette.file.store import load
from pytest_agentcontract.cassette.modes import RecordMode
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.cassette.tape import Tape
from tests.provider.recording.conftest import PATIENCE, Caller, Studio, parsed

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
CUT = b"data: \xff\xfe\xc3"
PLAIN = [b"event: a\ndata: {}\n\n", b"data: [DONE]\n\n"]
SECRET = "a-value-that-nobody-may-read"  # noqa: S105 - it is planted


def test_what_was_heard_is_what_is_loaded(studio: Callable[..., Studio], tmp_path: Path) -> None:
    """Whole, encoded, cut in a character, and left by the client; and no key of the client's."""
    stage_heard = threading.Event()

    def scene(caller: Caller) -> None:
        body = caller.request().partition(b"\r\n\r\n")[2]
        if body == b"encoded":
            packed = gzip.compress(b"".join(PLAIN))
            caller.say(HEAD + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(packed) + packed)
            return
        caller.say(HEAD + b"transfer-encoding: chunked\r\n\r\n")
        for piece in [CUT] if body == b"cut" else PLAIN[: 1 if body == b"left" else 2]:
            caller.say(b"%x\r\n%b\r\n" % (len(piece), piece))
        if body == b"cut":
            assert stage_heard.wait(PATIENCE)
            caller.reset()
        elif body == b"left":
            caller.left()
        else:
            caller.say(b"0\r\n\r\n")

    path = tmp_path / "some.yaml"
    stage = studio(scene)
    tape = Tape(path, RecordMode.ONCE, Origin({"anthropic": "http://x.example"}), Scrubber({}))
    stage.recorder._take = tape.take
    key = f"x-api-key: {SECRET}"
    assert parsed(stage.ask(key, "connection: close", body=b"whole").read(), closed=True).body == b"".join(PLAIN)
    stage.ask(key, "connection: close", body=b"encoded").read()
    cut = stage.ask(key, body=b"cut")
    cut.read(until=CUT + b"\r\n")
    stage_heard.set()
    cut.read()
    left = stage.ask(key, body=b"left")
    left.read(until=PLAIN[0] + b"\r\n")
    left.socket.close()
    stage.guests.close()
    assert parsed(stage.ask(key, "connection: close", body=b"whole").read(), closed=True).whole
    stage.recorder.close()
    assert tape.finish(failed=False) == path
    found = {entry.request_body: entry for entry in load(path).exchanges}
    assert [(body, entry.ending) for body, entry in found.items()] == [
        (b"whole", "whole"),
        (b"encoded", "whole"),
        (b"cut", "reset"),
        (b"left", "hung-up"),
    ]
    assert found[b"encoded"].body == b"".join(PLAIN)
    assert (cut.end, found[b"cut"].body, found[b"left"].body) == ("rst", CUT, PLAIN[0])
    assert [piece.data for piece in found[b"whole"].pieces] == PLAIN
    assert SECRET not in path.read_text("utf-8")
