"""A repeated turn is rendered once, and still every answer is its own."""

from __future__ import annotations

import pytest

from pytest_agentcontract.provider.body import rendered
from pytest_agentcontract.provider.rendering import Renderings
from pytest_agentcontract.scenario.cursor import Answer
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.formats import FORMATS
from pytest_agentcontract.wire.request import Request, ToolChoice
from pytest_agentcontract.wire.turn import Call, Turn

TURNS = {
    "text": Turn("Three defects \u2198 and no more.", "First, think."),
    "refusal": Turn(refusal="I won't."),
    "calls": Turn("x", calls=(Call("t", {"a": 1}), Call("t", raw_arguments="{"))),
    "digits": Turn("call 90807060 now"),
}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
@pytest.mark.parametrize("name", FORMATS)
def test_a_kept_rendering_is_what_would_be_rendered_anew(name: str, turn: Turn, *, stream: bool) -> None:
    """For any serial, also where the text holds the digits that stand for it."""
    wire, renderings = FORMATS[name], Renderings()
    for serial in (1, 2, 12345678):
        request = Request(name, "m", "", (), (), ToolChoice(), stream, {})
        answer = Answer(Exchange(serial, "root", "turn", request), turn)
        kept = renderings.whole(answer, turn, wire, chunked=True)
        assert kept == rendered(turn, request, wire, serial, chunked=True).whole


def test_what_a_request_asks_for_is_told_apart() -> None:
    """A stream that reports its usage is another than one that does not, and so is another model's."""
    wire, renderings, turn = FORMATS["openai-chat"], Renderings(), Turn("x")
    asked = [("m", {}), ("m", {"stream_options": {"include_usage": True}}), ("n", {})]
    answers = []
    for model, body in asked:
        request = Request("openai-chat", model, "", (), (), ToolChoice(), stream=True, body=dict(body))
        answers.append(renderings.whole(Answer(Exchange(1, "root", "turn", request), turn), turn, wire, chunked=True))
    assert len(set(answers)) == len(asked)


def test_a_model_of_any_length_is_not_kept() -> None:
    """A client that makes up names fills no memory."""
    renderings, turn = Renderings(), Turn("one")
    for model in ("m", "m" * 100_000):
        request = Request("openai-chat", model, "", (), (), ToolChoice(), stream=False, body={})
        answer = Answer(Exchange(1, "root", "turn", request), turn)
        assert model.encode() in renderings.whole(answer, turn, FORMATS["openai-chat"], chunked=True)
    assert len(renderings._kept) == 1


@pytest.mark.parametrize("turn", [Turn(), Turn(""), Turn("abc")], ids=["nothing", "empty", "text"])
@pytest.mark.parametrize("name", FORMATS)
def test_what_is_cut_is_never_whole(name: str, turn: Turn) -> None:
    """A stream that is broken off after any number of deltas lacks something: also where one event is all of it."""
    request = Request(name, "m", "", (), (), ToolChoice(), stream=True, body={})
    body = rendered(turn, request, FORMATS[name], 1, chunked=True)
    assert all(body.after(deltas) < len(body.parts) for deltas in (0, 1, 9))
