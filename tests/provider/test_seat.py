"""A seat: gates, withheld and waiting turns on the wire, what a driver learns, and the end."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from pytest_agentcontract.provider import seat as seats
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario.case import Hold, ScriptedCall, ScriptedTurn, When
from pytest_agentcontract.wire.faults import Pace
from pytest_agentcontract.wire.turn import Usage

Play = Callable[..., Any]
TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("reply", "touch")]


def eventually(condition: Callable[[], bool]) -> bool:
    """Wait up to five seconds for something that another thread brings about."""
    deadline = time.monotonic() + 5
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return condition()


def test_a_held_stream_stands_still_until_its_text_is_printed(play: Play) -> None:
    """The first pieces arrive at once, the rest when standard output holds the text, also in pieces."""
    table = play(ScriptedTurn("abcdefgh", hold=Hold(3, "printed", "token abc")))
    line = table.raw(table.request(stream=True))
    assert line.read_until(b'"text": "c"').count(b"text_delta") == 3
    assert table.seat.turns_delivered("root") == 0
    line.socket.settimeout(0.1)
    with pytest.raises(TimeoutError):
        line.socket.recv(1)
    line.socket.settimeout(5)
    table.seat.printed("a tok")
    table.seat.printed("en abc")
    assert line.read_until(b"message_stop").count(b"text_delta") == 5
    assert table.seat.turns_delivered("root") == 1
    (exchange,) = table.close()
    assert (exchange.delivered, exchange.released) == (True, True)


def test_a_whole_answer_is_held_before_its_first_byte(play: Play) -> None:
    """There are no pieces to send."""
    table = play(ScriptedTurn("abc", hold=Hold(1, "printed", "go")))
    line = table.raw(table.request())
    line.socket.settimeout(0.1)
    with pytest.raises(TimeoutError):
        line.socket.recv(1)
    line.socket.settimeout(5)
    table.seat.printed("go")
    assert b'"abc"' in line.read_until(b'"abc"')


def test_a_gate_waits_for_another_agents_turn(play: Play) -> None:
    """Delivered means handed over whole."""
    table = play(ScriptedTurn("abc", hold=Hold(1, "delivered", agent="child", turn=1)), child=(ScriptedTurn("c"),))
    root = table.raw(table.request(stream=True))
    assert b'"a"' in root.read_until(b'"a"')
    child = table.raw(table.request("child"))
    assert b'"c"' in child.read_until(b'"c"')
    assert b"message_stop" in root.read_until(b"message_stop")


def test_a_gate_opens_when_its_time_is_up_and_says_so(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run hangs on a gate; the exchange is marked as not released."""
    monkeypatch.setitem(seats.HOLD_LIMITS, "printed", 0.05)
    table = play(ScriptedTurn("abc", hold=Hold(1, "printed", "never")))
    line = table.raw(table.request(stream=True))
    assert b"message_stop" in line.read_until(b"message_stop")
    (exchange,) = table.close()
    assert (exchange.delivered, exchange.released) == (True, False)


def test_a_turn_held_to_the_end_is_broken_off_when_the_run_is_over(play: Play) -> None:
    """A child that works for ever was told its input tokens and no more; the turn is not left over."""
    table = play(ScriptedTurn("abc", hold=Hold(1, "end")))
    line = table.raw(table.request(stream=True))
    assert b'"a"' in line.read_until(b'"a"')
    table.seat.over()
    line.read_to_end()
    (exchange,) = table.close()
    assert (exchange.kind, exchange.delivered, exchange.released, exchange.sent) == ("turn", False, True, Usage(10, 1))
    assert table.seat.left == {}


def test_a_client_that_hangs_up_gets_the_same_turn_again(play: Play) -> None:
    """A held answer whose client is gone is undelivered."""
    table = play(ScriptedTurn("abc", hold=Hold(1, "printed", "go")), ScriptedTurn("two"))
    line = table.raw(table.request(stream=True))
    assert b'"a"' in line.read_until(b'"a"')
    line.socket.close()
    assert eventually(lambda: table.seat.exchanges()[0].sent == Usage(10, 1))
    table.seat.printed("go")
    again = table.raw(table.request(stream=True))
    assert b"message_stop" in again.read_until(b"message_stop")
    assert [(e.turn, e.retry, e.delivered) for e in table.close()] == [(1, False, False), (1, True, True)]


def test_a_client_beside_one_that_waits_gets_a_turn_of_its_own(play: Play) -> None:
    """What it says is the same, and its own."""
    table = play(ScriptedTurn("abc", hold=Hold(1, "printed", "go")), ScriptedTurn("two"))
    first = table.raw(table.request(stream=True))
    assert b'"a"' in first.read_until(b'"a"')
    second = table.raw(table.request(stream=True))
    assert b"message_stop" in second.read_until(b"message_stop")
    table.seat.printed("go")
    assert b"message_stop" in first.read_until(b"message_stop")
    assert [(e.turn, e.retry, e.delivered) for e in table.close()] == [(1, False, True), (2, False, True)]


@pytest.mark.parametrize("kept", [False, True], ids=["a new connection", "a kept connection"])
def test_who_hangs_up_and_asks_at_once_is_known_for_a_retry(play: Play, *, kept: bool) -> None:
    """Whether or not the server has read the end of the first connection by then."""
    table = play(*(ScriptedTurn("abc", pace=Pace(first=5.0)) for _ in range(3)))
    lines = [table.raw(table.request()), table.raw(b"")]
    for before in range(1, 21):
        assert eventually(lambda before=before: len(table.seat.exchanges()) == before)
        lines[0].socket.close()
        if kept:
            lines[1].socket.sendall(table.request())
        else:
            lines[1] = table.raw(table.request())
        lines = [lines[1], table.raw(b"")]
    assert eventually(lambda: len(table.seat.exchanges()) == 21)
    assert {e.turn for e in table.close()} == {1}


def test_a_waiting_root_is_kept_busy_until_its_child_has_started(play: Play) -> None:
    """Polls come slowly enough to be bearable and call a tool that the request advertises."""
    reply = ScriptedTurn(calls=(ScriptedCall("$return", value="all"),), when=When("started", "child"))
    table = play(reply, child=(ScriptedTurn("c"),))
    client = table.anthropic()
    begun = time.monotonic()
    poll = client.messages.create(**table.body(tools=TOOLS))
    assert time.monotonic() - begun >= 0.02
    assert [block.name for block in poll.content] == ["touch"]
    client.messages.create(**table.body("child"))
    assert [block.name for block in client.messages.create(**table.body(tools=TOOLS)).content] == ["reply"]
    assert [e.kind for e in table.close()] == ["poll", "turn", "turn"]


def test_seats_know_nothing_of_each_other(play: Play) -> None:
    """Two cases at once: each keeps its own cursors, gates and end."""
    held = ScriptedTurn("abc", hold=Hold(1, "printed", "go"))
    left, right = play(held), play(held, wire="openai-chat")
    lines = [table.raw(table.request(stream=True)) for table in (left, right)]
    for line in lines:
        assert b'"a"' in line.read_until(b'"a"')
    left.seat.over()
    left.seat.printed("go")
    assert b"message_stop" in lines[0].read_until(b"message_stop")
    assert right.seat.turns_delivered("root") == 0
    assert [e.delivered for e in left.close()] == [True]
    right.seat.printed("go")
    assert b"[DONE]" in lines[1].read_until(b"[DONE]")
    assert [e.delivered for e in right.close()] == [True]


def test_a_kept_connection_may_move_to_the_next_seat(play: Play) -> None:
    """A client that lives longer than a case is not cut off by the end of the case before."""
    first, second = play(ScriptedTurn("one")), play(ScriptedTurn("abc", hold=Hold(1, "printed", "go")))
    line = first.raw(first.request())
    assert b'"one"' in line.read_until(b'"one"')
    line.socket.sendall(second.request(stream=True))
    assert b'"a"' in line.read_until(b'"a"')
    first.close()
    second.seat.printed("go")
    assert b"message_stop" in line.read_until(b"message_stop")


def test_a_closed_seat_is_frozen(play: Play) -> None:
    """What comes later is refused and changes nothing; closing again returns the same."""
    table = play(ScriptedTurn("one"), ScriptedTurn("two"))
    line = table.raw(table.request())
    assert b'"one"' in line.read_until(b'"one"')
    frozen = table.close()
    assert line.read_to_end() == b""
    late = table.raw(table.request())
    assert late.read_until(b"\r\n\r\n").startswith(b"HTTP/1.1 404 ")
    assert table.close() is frozen
    assert table.seat.exchanges() is frozen
    assert table.seat.left == {"root": (2,)}


def test_a_driver_learns_when_all_is_quiet(play: Play) -> None:
    """Nothing is quiet while a request is answered; one that stands at a gate disturbs nobody."""
    table = play(ScriptedTurn("abc", hold=Hold(1, "end")), child=(ScriptedTurn("c"),))
    assert table.seat.quiet_for() >= 0
    held = table.raw(table.request(stream=True))
    assert b'"a"' in held.read_until(b'"a"')
    assert eventually(lambda: table.seat.quiet_for() > 0.1)
    child = table.raw(table.request("child"))
    assert b'"c"' in child.read_until(b'"c"')
    assert table.seat.quiet_for() < 0.1


def test_a_turn_counts_as_delivered_before_its_client_can_act_on_it(play: Play) -> None:
    """A fast client that asks again at once never looks like a retry."""
    forever = ScriptedTurn("x", repeat=True)
    table = play(forever, child=(forever,))

    def hammer(agent: str) -> None:
        line = table.raw(b"")
        for _ in range(50):
            line.socket.sendall(table.request(agent))
            line.read_until(b"output_tokens")

    threads = [threading.Thread(target=hammer, args=[agent]) for agent in ("root", "child")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    exchanges = table.close()
    assert len(exchanges) == 100
    assert all(e.delivered and not e.retry for e in exchanges)
    assert [e.serial for e in exchanges] == list(range(1, 101))


def test_a_fault_of_our_own_comes_out_at_the_end(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's connection ends, and closing the seat raises what went wrong instead of judging the runtime."""
    table = play(ScriptedTurn("one"))

    def broken(*_: object) -> None:
        message = "a bug"
        raise LookupError(message)

    monkeypatch.setattr(table.script, "answer", broken)
    assert table.raw(table.request()).read_to_end() == b""
    with pytest.raises(LookupError, match="a bug"):
        table.seat.close()
    table.seat._failure = None


def test_a_gate_is_opened_over_http(play: Play) -> None:
    """A test in any language opens a named gate by a request of its own; spaces in names are quoted."""
    table = play(ScriptedTurn("one two three", hold=Hold(1, "released", "the door")))
    line = table.raw(table.request(stream=True))
    line.read_until(b"content_block_delta")
    path = table.path.removesuffix("/v1/messages")
    opener = table.raw(f"POST {path}/gates/the%20door HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n".encode())
    assert b'{"released": "the door"}' in opener.read_until(b"}")
    assert b"message_stop" in line.read_until(b"message_stop")
    assert all(exchange.released for exchange in table.close())


def test_what_nobody_serves_is_heard_of(provider: Provider) -> None:
    """A request beside all seats is refused for good, and the provider lists it."""
    with socket.create_connection(("127.0.0.1", provider.port), timeout=5) as line:
        line.sendall(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")
        answer = line.recv(4096)
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"x-should-retry: false" in answer
    assert provider.missed[-1] == "POST /v1/messages"
