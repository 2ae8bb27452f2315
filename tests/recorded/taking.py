"""Recordings without a network: the scripted provider's own answers, asked for and kept as exchanges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_agentcontract.cassette.exchange import Cassette, Ending, Origin, Piece, Recorded
from pytest_agentcontract.cassette.upstreams import UPSTREAMS
from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps, loads
from pytest_agentcontract.provider.plan import Cut, Step
from pytest_agentcontract.provider.rendering import Renderings
from pytest_agentcontract.provider.response import steps
from pytest_agentcontract.recorded.reading import Reading, read_all
from pytest_agentcontract.scenario.case import Hold
from pytest_agentcontract.scenario.cursor import Answer
from pytest_agentcontract.scenario.script import Script
from pytest_agentcontract.scripted.load import faults, playbook
from pytest_agentcontract.scripted.playbook import Playbook, script
from pytest_agentcontract.wire.formats import FORMATS

URLS = {
    "anthropic-messages": "https://api.anthropic.com/v1/messages",
    "openai-chat": "https://api.openai.com/v1/chat/completions",
    "openai-responses": "https://api.openai.com/v1/responses",
    "gemini-generate": "https://generativelanguage.googleapis.com/v1beta/models/{model}:{method}",
}
_ENDINGS: dict[str, Ending] = {"fin": "closed", "rst": "reset", "clean": "whole"}


def url(wire: str, model: str = "m", *, stream: bool = True) -> str:
    """Return where a provider is asked for an answer."""
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return URLS[wire].format(model=model, method=method)


def exchange(asked: Recorded, plan: Iterable[Step]) -> Recorded:
    """Return the exchange that a plan of ours makes of a request."""
    told = tuple(plan)
    head, _, body = b"".join(step for step in told if isinstance(step, bytes)).partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = tuple((name, value) for name, _, value in (line.partition(": ") for line in lines))
    ending = next((_ENDINGS[step.ending] for step in told if isinstance(step, Cut)), "whole")
    if any(isinstance(step, Hold) and step.until == "end" for step in told):
        ending = "hung-up"
    return Recorded(
        asked.method,
        asked.url,
        asked.request_headers,
        asked.request_body,
        int(first.split()[1]) if first else 0,
        "OK",
        headers,
        (Piece(0.25, body),) if body else (),
        ending,
    )


@dataclass
class Desk:
    """A scripted model at work, without a connection: what it is asked and answers is kept."""

    script: Script
    kept: list[Recorded] = field(default_factory=list)

    def ask(self, asked: Recorded) -> Recorded:
        """Answer a request; the answer is over, and arrived unless it was struck."""
        wire, target = next(
            (wire, target)
            for wire in FORMATS.values()
            for target in (asked.url.partition("://")[2].partition("/")[2],)
            if wire.owns(asked.method, f"/{target.partition('?')[0]}")
        )
        request = wire.decode_request(loads(asked.request_body), f"/{target}")
        headers = {name.lower(): value for name, value in asked.request_headers}
        answer = self.script.answer(request, headers)
        self.kept.append(exchange(asked, steps(answer, wire, Renderings(), chunked=False)))
        self._tell(answer)
        return self.kept[-1]

    def _tell(self, answer: Answer) -> None:
        serial = answer.exchange.serial
        if answer.fault is None and answer.turn is not None:
            self.script.log.delivered(serial)
        else:
            self.script.log.broken_off(serial, begun=True)


def desk(book: Playbook | JSONObject) -> Desk:
    """Play a script: a playbook, or a document, which has no faults."""
    if isinstance(book, Playbook):
        return Desk(script(book))
    assert list(faults(book)) == []
    return Desk(script(playbook(book)))


def asked(wire: str, body: JSONObject, *, stream: bool = True, model: str = "m", **headers: str) -> Recorded:
    """Return a request that has no answer yet; `model` and `stream` are said where the wire format says them."""
    named: JSONObject = {} if wire == "gemini-generate" else {"model": model, "stream": stream}
    lines = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Recorded("POST", url(wire, model, stream=stream), lines, dumps(named | body).encode(), 0, "", (), ())


def said(wire: str, *texts: str, tools: Sequence[str] = (), system: str = "") -> JSONObject:
    """Return the body of a request in which the user has said some texts and nobody has answered."""
    return _BODIES[wire](texts, tools, system)


def _anthropic(texts: Sequence[str], tools: Sequence[str], system: str) -> JSONObject:
    offered: list[JSON] = [{"name": name, "input_schema": {"type": "object"}} for name in tools]
    messages: list[JSON] = [{"role": "user", "content": text} for text in texts]
    return {"max_tokens": 9, "system": system, "messages": messages, "tools": offered}


def _chat(texts: Sequence[str], tools: Sequence[str], system: str) -> JSONObject:
    offered: list[JSON] = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools]
    first: list[JSON] = [{"role": "system", "content": system}] if system else []
    messages: list[JSON] = [{"role": "user", "content": text} for text in texts]
    return {"messages": first + messages, "tools": offered, "stream_options": {"include_usage": True}}


def _responses(texts: Sequence[str], tools: Sequence[str], system: str) -> JSONObject:
    offered: list[JSON] = [{"type": "function", "name": name, "parameters": {}} for name in tools]
    items: list[JSON] = [{"role": "user", "content": text} for text in texts]
    return {"instructions": system, "input": items, "tools": offered}


def _gemini(texts: Sequence[str], tools: Sequence[str], system: str) -> JSONObject:
    declared: list[JSON] = [{"name": name, "parameters": {"type": "OBJECT"}} for name in tools]
    contents: list[JSON] = [{"role": "user", "parts": [{"text": text}]} for text in texts]
    told: JSONObject = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
    return {"contents": contents, "tools": [{"functionDeclarations": declared}], **told}


_BODIES: dict[str, Any] = {
    "anthropic-messages": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini-generate": _gemini,
}


def cassette(*exchanges: Recorded) -> Cassette:
    """Return a cassette as a recording makes it."""
    return Cassette(exchanges, Origin(UPSTREAMS))


def again(document: JSONObject, taken: Cassette) -> tuple[Reading, ...]:
    """Play an imported script to the model requests of a cassette, and read the answers."""
    played = desk(document)
    readings = [reading for reading in read_all(taken) if reading.kind == "model"]
    for reading in readings:
        played.ask(reading.recorded)
    assert played.script.left() == {}
    return read_all(cassette(*played.kept))
