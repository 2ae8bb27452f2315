"""A request without an answer is told with what comes nearest to it, and where it differs."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from pytest_agentcontract.cassette.exchange import Cassette, Headers, Recorded
from pytest_agentcontract.cassette.matching.index import Index
from pytest_agentcontract.cassette.matching.miss import Difference, Miss
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.jsonvalue import MISSING, dumps

MESSAGES = "https://api.anthropic.com/v1/messages"
SAID: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Go on"},
    ],
    "a/b~c": 1,
}
OTHER: dict[str, Any] = {"model": "o", "messages": [{"role": "user", "content": "Bye"}]}


def entry(body: object, url: str = MESSAGES, headers: Headers = (), method: str = "POST") -> Recorded:
    """Return an exchange; what is not bytes is its request's JSON document."""
    content = body if isinstance(body, bytes) else dumps(body).encode()  # type: ignore[arg-type]
    return Recorded(method, url, headers, content, 200, "OK", (), ())


def missed(request: Recorded, *entries: Recorded) -> Miss:
    """Ask a cassette, and return what it says of the miss."""
    index = Index(Cassette(entries), Scrubber({}).scrub)
    given = request.method, request.url, request.request_headers, request.request_body
    assert index.take(*given) is None
    return index.miss(*given)


def said(*, at: int = 0, **changed: object) -> dict[str, Any]:
    """Return a conversation in which one message is another."""
    messages = [message | changed if place == at else message for place, message in enumerate(SAID["messages"])]
    return SAID | {"messages": messages}


@pytest.mark.parametrize(
    ("body", "pointer", "recorded", "observed"),
    [
        (SAID | {"model": "n"}, "/model", "m", "n"),
        (said(at=2, content="Stop"), "/messages/2/content", "Go on", "Stop"),
        (said(at=1, content=["Yes?"]), "/messages/1/content", "Yes?", ["Yes?"]),
        (said(at=1, cache=True), "/messages/1/cache", MISSING, True),
        (SAID | {"messages": SAID["messages"][:2]}, "/messages/2", SAID["messages"][2], MISSING),
        (SAID | {"messages": [*SAID["messages"], "more"]}, "/messages/3", MISSING, "more"),
        (SAID | {"a/b~c": 2}, "/a~1b~0c", 1, 2),
        (SAID | {"a/b~c": True}, "/a~1b~0c", 1, True),
        ({key: value for key, value in SAID.items() if key != "model"}, "/model", "m", MISSING),
    ],
)
def test_the_place_of_the_difference(body: object, pointer: str, recorded: object, observed: object) -> None:
    """It is the innermost one, as a JSON pointer, with what stands there on both sides."""
    miss = missed(entry(body), entry(OTHER), entry(SAID))
    assert miss == Miss("POST", MESSAGES, "", 1, Difference("body", pointer, recorded, observed))  # type: ignore[arg-type]
    assert f"entry 1 is nearest, and differs in its body at {pointer}\n" in str(miss)


def test_further_differences_are_counted() -> None:
    """The first of them is shown, in the order of the request."""
    miss = missed(entry(said(at=1, content="No") | {"model": "n", "a/b~c": 3}), entry(SAID))
    assert miss.difference is not None
    assert (miss.difference.pointer, miss.more) == ("/model", 2)
    assert ", and in 2 more places" in str(miss)
    assert ", and in 1 more place\n" in str(missed(entry(said(at=1, content="No") | {"model": "n"}), entry(SAID)))


@pytest.mark.parametrize(
    ("request_", "part", "recorded", "observed"),
    [
        (entry(SAID, method="PUT"), "method", "POST", "PUT"),
        (entry(SAID, f"{MESSAGES}?beta=true"), "URL", MESSAGES, f"{MESSAGES}?beta=true"),
        (entry(SAID, headers=(("x-agent", "bob"),)), "header x-agent", "ann", "bob"),
        (entry(SAID), "header x-agent", "ann", MISSING),
    ],
)
def test_what_is_no_body(request_: Recorded, part: str, recorded: object, observed: object) -> None:
    """Method, URL and agent are told by their names."""
    miss = missed(request_, entry(SAID, headers=(("x-agent", "ann"),)))
    assert miss.difference is not None
    assert miss.nearest == 0
    expected = Difference(part, "", recorded, observed)  # type: ignore[arg-type]
    assert miss.difference == expected or (part in ("method", "URL") and miss.difference == expected)
    assert f"differs in its {part}" in str(miss)


@pytest.mark.parametrize(
    ("body", "recorded", "observed"),
    [(b"plain", "text", "plain"), (b"\xff", "text", "\\xff"), (b"[1]", "text", [1]), (b"", "text", "")],
)
def test_a_body_that_is_no_json(body: bytes, recorded: str, observed: object) -> None:
    """It differs as a whole."""
    miss = missed(entry(body), entry(b"text"))
    assert miss.difference == Difference("body", "", recorded, observed)  # type: ignore[arg-type]


def test_a_body_is_never_equal_to_itself_in_other_clothes() -> None:
    """A JSON text is not the bytes that it spells, nor are bytes the escapes that show them: the difference is told."""
    assert missed(entry(b'"text"'), entry(b"text")).difference is not None
    assert missed(entry(b"\\xff"), entry(b"\xff")).difference is not None


def test_the_nearest_is_of_the_same_place() -> None:
    """Method and URL count more than the body."""
    miss = missed(entry(SAID), entry(SAID, "https://o.example/v1/messages"), entry(OTHER), entry(SAID, method="PUT"))
    assert miss.nearest == 1


def test_the_nearest_shares_most() -> None:
    """Of a conversation that grew, it is the turn that was asked, not the longest; of equals, one not played yet."""
    turns = [entry(SAID | {"messages": SAID["messages"][: at + 1]}) for at in range(3)]
    changed = SAID | {"messages": [SAID["messages"][0], {"role": "assistant", "content": "What?"}]}
    assert missed(entry(changed), *turns).nearest == 1
    index = Index(Cassette((turns[0], entry(OTHER), turns[0])), Scrubber({}).scrub)
    index.take("POST", MESSAGES, (), turns[0].request_body)
    nearly = entry(SAID | {"messages": SAID["messages"][:1], "model": "n"})
    assert index.miss("POST", MESSAGES, (), nearly.request_body).nearest == 2


def test_what_was_played_as_often_as_it_was_recorded() -> None:
    """It is told how often, and which was the last."""
    index = Index(Cassette((entry(SAID), entry(OTHER), entry(SAID))), Scrubber({}).scrub)
    ask = partial(index.take, "POST", MESSAGES, (), entry(SAID).request_body)
    assert [ask(), ask(), ask()] == [entry(SAID), entry(SAID), None]
    miss = index.miss("POST", MESSAGES, (), entry(SAID).request_body)
    assert (miss.nearest, miss.played, miss.difference) == (2, 2, None)
    assert str(miss) == (
        f"POST {MESSAGES} was played 2 times already, as often as it was recorded (entry 2 was the last)"
    )


def test_an_empty_cassette() -> None:
    """There is nothing to be near to."""
    assert str(missed(entry(SAID))) == f"POST {MESSAGES} was asked, and the cassette is empty"


def test_long_texts_are_shown_where_they_differ() -> None:
    """Both from the same place on."""
    long = "word " * 100
    miss = missed(entry({"q": f"{long}one{long}"}), entry({"q": f"{long}two{long}"}))
    told, recorded, observed = str(miss).splitlines()
    assert told.endswith("at /q")
    assert recorded.strip().startswith("recorded: ...word")
    assert "word two" in recorded
    assert "word one" in observed
    assert max(map(len, (recorded, observed))) < 150


def test_absent_is_not_null() -> None:
    """It is shown as nothing, without quotes."""
    told = str(missed(entry({"q": None}), entry({})))
    assert "recorded: (nothing)" in told
    assert "asked:    null" in told


def test_the_agent_is_named() -> None:
    """As it named itself."""
    assert "of the agent 'ann' is not in" in str(missed(entry(SAID, headers=(("x-agent", "ann"),)), entry(OTHER)))


def test_a_miss_tells_no_secret() -> None:
    """What is shown of the request was scrubbed."""
    key = "sk-ant-api03-" + "a1B2" * 20
    told = str(missed(entry({"q": f"It is {key}"}, f"{MESSAGES}?key={key}"), entry({"q": "It is"})))
    assert key not in told
    assert "SCRUBBED-" in told
