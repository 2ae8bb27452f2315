"""Every way in which a test can leave its script, and the words for it."""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest

from pytest_agentcontract.provider import seat as seats
from pytest_agentcontract.scripted import ScriptViolation, call, cut, delivered, gate, side_call, status, turn
from pytest_agentcontract.scripted.provider import ScriptedProvider, running

Ask = Callable[..., tuple[int, Any]]


def _message(provider: ScriptedProvider) -> list[str]:
    with pytest.raises(ScriptViolation) as caught:
        provider.verify()
    head, *lines = str(caught.value).split("\n  ")
    assert head == f"the script was not played as written: {len(lines)} violation{'s' * (len(lines) > 1)}"
    return lines


def test_a_script_that_is_played_as_written_has_none(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """A fault that is retried, a side call and a turn for ever are all as written."""
    scripted_provider.play(
        turn("one", fault=status(529)),
        turn("two", repeat="forever"),
        side_calls=[side_call("A title", system_contains="title")],
    )
    said = [{"role": "system", "content": "Find a title."}, {"role": "user", "content": "Hi"}]
    assert ask(raw={"model": "m", "messages": said})[1]["choices"][0]["message"]["content"] == "A title"
    assert [ask()[0] for _ in range(4)] == [529, 200, 200, 200]
    scripted_provider.verify()


def test_a_request_after_the_end(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """The message shows what was asked, and where; so does the answer, which is not to be retried."""
    scripted_provider.play(turn("one"))
    ask("first")
    code, document = ask("second")
    why = "/messages/0 says 'second', but the script of root ends"
    assert (code, document["error"]["message"]) == (400, why)
    assert _message(scripted_provider) == [f"root: request 2 was refused as unexpected: {why}"]


def test_a_request_without_what_the_turn_awaits(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """The nearest turn is named, and that it is left."""
    scripted_provider.play(turn("one", asked="weather"))
    ask("news")
    assert _message(scripted_provider) == [
        "root: request 1 was refused as unexpected: /messages/0 says 'news', but turn 1 of root awaits 'weather'",
        "root, turn 1 of 1 (/agents/root/0): never asked for",
    ]


def test_a_tool_that_is_not_advertised(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """No model calls a tool that it was not offered."""
    scripted_provider.play(turn(call("search")))
    ask("Hi", "serach")
    assert _message(scripted_provider) == [
        (
            "root, turn 1 (/agents/root/0): request 1 was refused as withheld: "
            "the next turn calls 'search', which this request does not advertise: serach"
        ),
        "root, turn 1 of 1 (/agents/root/0): never asked for",
    ]


def test_a_tool_call_that_is_forbidden(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """No model calls a tool against the request's own choice."""
    scripted_provider.play(turn(call("search")))
    tools = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
    said = [{"role": "user", "content": "Hi"}]
    assert ask(raw={"model": "m", "messages": said, "tools": tools, "tool_choice": "none"})[0] == 400
    assert _message(scripted_provider)[0] == (
        "root, turn 1 (/agents/root/0): request 1 was refused as withheld: "
        "the next turn calls 'search', and this request forbids every call (its tool choice is none)"
    )


def test_a_request_of_nobody_and_one_of_two(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """Who asks is declared, never guessed."""
    scripted_provider.play(
        root=[turn("a", repeat="forever")], helper=[turn("b", repeat="forever")], by="token", marks={"root": "boss"}
    )
    ask("Hi")
    ask("boss and [[helper]]")
    assert _message(scripted_provider) == [
        (
            "nobody: request 1 was refused as unexpected: this is no known agent's request: "
            "expected in the first user message one of 'boss' (root), '[[helper]]' (helper)"
        ),
        "nobody: request 2 was refused as ambiguous: this could be a request of root and helper",
    ]


def test_a_body_that_is_no_request(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """It costs no turn, and is told."""
    scripted_provider.play(turn("a", repeat="forever"))
    assert ask(raw={"model": "m"})[0] == 400
    (line,) = _message(scripted_provider)
    assert line.startswith("nobody: request 1 was refused as unexpected: the request body can't be read: /messages")


def test_a_path_that_nobody_serves(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """Below the test's URL, and beside it."""
    scripted_provider.play(turn("a", repeat="forever"))
    assert ask(path="/v1/embeddings")[0] == 404
    url = urlsplit(scripted_provider.url)
    line = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
    line.request("GET", "/v2")
    line.getresponse()
    line.close()
    assert _message(scripted_provider) == [
        "nobody: POST /v1/embeddings was asked, and nothing is served there",
        "nobody: GET /v2 was asked, and nothing is served there",
    ]


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        (b"\x16\x03\x01\x02\x00", " is no HTTP request that is taken here, and was refused with 400"),
        (b"POST {path}/v1/messages HTTP/1.1\r\nhost:", " for {path}/v1/messages broke off in the middle of its head"),
        (
            b"POST {path}/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{",
            " for {path}/v1/messages broke off in the middle of its body",
        ),
    ],
    ids=["TLS", "head", "body"],
)
def test_what_is_no_whole_request(scripted_provider: ScriptedProvider, sent: bytes, wrong: str) -> None:
    """No client of HTTP sends it, and the test hears of it."""
    scripted_provider.play(turn("a", repeat="forever"))
    url = urlsplit(scripted_provider.url)
    with socket.create_connection((url.hostname or "", url.port or 0), timeout=5) as line:
        line.sendall(sent.replace(b"{path}", url.path.encode()))
        line.shutdown(socket.SHUT_WR)
        while line.recv(4096):
            pass
    assert _message(scripted_provider) == [f"nobody: what came over a connection{wrong.replace('{path}', url.path)}"]


def test_a_kept_connection_may_be_closed(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """Before the first request, and after the last."""
    scripted_provider.play(turn("a", repeat="forever"))
    url = urlsplit(scripted_provider.url)
    with socket.create_connection((url.hostname or "", url.port or 0), timeout=5) as line:
        line.shutdown(socket.SHUT_WR)
        assert line.recv(1) == b""
    ask()
    scripted_provider.verify()


def test_what_is_asked_before_anything_is_played(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """There is no answer yet, and the test hears of it."""
    assert ask()[0] == 404
    assert _message(scripted_provider) == [
        "nobody: POST /v1/chat/completions was asked, and nothing is served there",
    ]


def test_a_gate_that_nobody_opened(
    scripted_provider: ScriptedProvider, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer comes in the end; the test fails all the same."""
    monkeypatch.setitem(seats.HOLD_LIMITS, "released", 0.01)
    scripted_provider.play(turn("a", hold=gate("go")))
    assert ask()[0] == 200
    assert _message(scripted_provider) == [
        "root, turn 1 (/agents/root/0): nobody opened its gate: request 1 went on when its time was up"
    ]


def test_a_client_that_gives_up_at_a_gate(scripted_provider: ScriptedProvider, guests: ExitStack) -> None:
    """Its own time limit is the shorter one; the message names the gate, by its name or by what opens it."""
    scripted_provider.play(
        root=[turn("a", hold=gate("go"))], helper=[turn("b", hold=delivered("root", 1, after=2))], by="model"
    )
    client = guests.enter_context(openai.OpenAI(base_url=scripted_provider.openai_url, api_key="k", max_retries=0))
    for agent in ("root", "helper"):
        with pytest.raises(openai.APITimeoutError):
            client.chat.completions.create(model=agent, messages=[{"role": "user", "content": "Hi"}], timeout=0.2)
    scripted_provider.close()
    assert _message(scripted_provider) == [
        (
            "root, turn 1 of 1 (/agents/root/0): "
            "request 1 waited at gate 'go', which nobody opened before its client hung up"
        ),
        "helper, turn 1 of 1 (/agents/helper/0): request 2 waited for turn 1 of root, until its client hung up",
    ]


def test_turns_that_are_left(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """Each one, of each agent; one that was begun and never arrived says so."""
    scripted_provider.play(
        root=[turn("one"), turn("two", fault=cut()), turn("three")], helper=[turn("four")], by="model"
    )
    ask(model="root")
    with pytest.raises(http.client.RemoteDisconnected):
        ask(model="root")
    assert _message(scripted_provider) == [
        "root, turn 2 of 3 (/agents/root/1): sent to request 2, never delivered whole",
        "root, turn 3 of 3 (/agents/root/2): never asked for",
        "helper, turn 1 of 1 (/agents/helper/0): never asked for",
    ]


@pytest.mark.parametrize("name", ["HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize(("direct", "asks"), [("intra.net", False), ("127.0.0.1", False), ("intra.net", True)])
def test_a_proxy_on_the_way_is_told_of(
    scripted_provider: ScriptedProvider,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    direct: str,
    *,
    asks: bool,
) -> None:
    """Where nothing came in at all, and it is not passed by."""
    for known in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(known, raising=False)
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    for known in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(known, direct)
    scripted_provider.play(turn("one"), turn("two"))
    if asks:
        ask()
    hint = "" if asks or direct != "intra.net" else f" ({name} is set and NO_PROXY does not name 127.0.0.1)"
    assert _message(scripted_provider)[-1] == f"root, turn 2 of 2 (/agents/root/1): never asked for{hint}"


def test_a_final_fault_leaves_nothing(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """A client that is to give up needs no retry."""
    scripted_provider.play(turn("one", fault=status(500), final=True))
    assert ask()[0] == 500
    scripted_provider.verify()


def test_a_retry_after_a_final_fault(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """It takes no other turn's answer."""
    scripted_provider.play(turn("one", fault=status(500), final=True), turn("two"))
    assert [ask()[0], ask()[0], ask("go on")[0]] == [500, 400, 200]
    assert _message(scripted_provider) == [
        (
            "root, turn 1 (/agents/root/0): request 2 was refused as unexpected: "
            "it was asked again after a fault that was final (status 500, request 1)"
        )
    ]


def _block(*, breaks: bool) -> None:
    with running() as provider:
        provider.play(turn("a"))
        if breaks:
            raise ZeroDivisionError


def test_outside_pytest_the_end_of_the_block_verifies() -> None:
    """What the block itself raises comes first."""
    with pytest.raises(ScriptViolation, match=re.escape("root, turn 1 of 1 (/agents/root/0): never asked for")):
        _block(breaks=False)
    with pytest.raises(ZeroDivisionError):
        _block(breaks=True)


def test_what_was_asked_can_be_read(scripted_provider: ScriptedProvider, ask: Ask) -> None:
    """Decoded, in no provider's words, with the body as it came."""
    scripted_provider.play(turn("one", call("f", x=1)))
    ask("Hi", "f", "g", model="gpt")
    (asked,) = scripted_provider.requests
    assert (asked.agent, asked.kind, asked.turn, asked.delivered, asked.retry) == ("root", "turn", 1, True, False)
    assert (asked.wire, asked.model, asked.system, asked.tools) == ("openai-chat", "gpt", "", ("f", "g"))
    assert asked.messages[0].texts == ("Hi",)
    assert asked.body["messages"] == [{"role": "user", "content": "Hi"}]
    assert asked.answer is not None
    assert asked.answer.calls[0].arguments == {"x": 1}
