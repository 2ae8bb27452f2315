"""Requests find their answers: in whatever order they come, and how often."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_agentcontract.cassette.exchange import Cassette, Headers, Origin, Piece, Recorded
from pytest_agentcontract.cassette.matching.index import Index
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.errors import CassetteError

MESSAGES = "https://api.anthropic.com/v1/messages"
KEY = "sk-ant-api03-" + "a1B2" * 20


def entry(
    body: object, answer: str = "", url: str = MESSAGES, status: int = 200, headers: Headers = (), method: str = "POST"
) -> Recorded:
    """Return an exchange; what is not bytes is its request's JSON document."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    pieces = (Piece(0, answer.encode()),) if answer else ()
    return Recorded(method, url, headers, content, status, "", (), pieces, "whole" if status else "reset")


def indexed(*entries: Recorded, elided: tuple[str, ...] = ()) -> Index:
    """Return the index of a cassette."""
    return Index(Cassette(entries, Origin(elided=elided)), Scrubber({}).scrub)


def asked(index: Index, request: Recorded) -> str:
    """Ask what was recorded; return the answer's body, or its status where it has none, or "miss"."""
    found = index.take(request.method, request.url, request.request_headers, request.request_body)
    return "miss" if found is None else found.body.decode() or str(found.status)


def test_the_order_of_other_requests_does_not_matter() -> None:
    """Parallel agents come in another order than when they were recorded."""
    entries = [entry({"agent": name}, name) for name in "abcd"]
    index = indexed(*entries)
    assert [asked(index, entries[at]) for at in (2, 0, 3, 1)] == ["c", "a", "d", "b"]
    assert index.unplayed == {}


def test_requests_that_repeat_are_played_in_their_order() -> None:
    """And no more often than they were recorded."""
    first, beside, second = entry({"q": 1}, "one"), entry({"q": 2}, "beside"), entry({"q": 1}, "two")
    index = indexed(first, beside, second)
    assert [asked(index, each) for each in (first, second, beside, first)] == ["one", "two", "beside", "miss"]


@pytest.mark.parametrize("before", [[429], [0], [529, 0, 500]])
def test_retries_find_what_followed(before: list[int]) -> None:
    """A refusal or a reset comes first, as it did, then the answer."""
    request = {"q": 1}
    index = indexed(*(entry(request, status=status) for status in before), entry(request, "well"))
    assert [asked(index, entry(request)) for _ in [*before, 0]] == [*map(str, before), "well"]


def test_agents_that_ask_the_same_have_answers_of_their_own() -> None:
    """Where they name themselves; in whatever order they come."""
    ann, bob = (("x-agent", "ann"),), (("X-Agent", "bob"),)
    recorded = [entry({}, "ann 1", headers=ann), entry({}, "bob 1", headers=bob), entry({}, "ann 2", headers=ann)]
    index = indexed(*recorded)
    order = [recorded[1], recorded[0], recorded[0], recorded[1]]
    assert [asked(index, each) for each in order] == ["bob 1", "ann 1", "ann 2", "miss"]


def test_an_entry_of_nobody_is_for_everybody() -> None:
    """An agent's own come first; who does not name itself gets none of those."""
    ann, nobody = entry({}, "ann", headers=(("x-agent", "ann"),)), entry({}, "anybody")
    index = indexed(nobody, ann)
    assert [asked(index, each) for each in (ann, ann)] == ["ann", "anybody"]
    index = indexed(nobody, ann)
    assert [asked(index, each) for each in (nobody, nobody)] == ["anybody", "miss"]


def test_agents_that_do_not_name_themselves_share() -> None:
    """Two agents that ask the same get what was recorded first, first."""
    index = indexed(entry({}, "one"), entry({}, "two"))
    assert [asked(index, entry({})), asked(index, entry({}))] == ["one", "two"]


def test_keys_do_not_count() -> None:
    """Whatever stands where a secret was: the recorded key, another one, a placeholder; in headers and query, too."""
    scrubbed = Scrubber({}).scrub(entry({"api_key": KEY, "q": f"my key is {KEY}"}, "here", f"{MESSAGES}?key={KEY}"))
    assert KEY not in scrubbed.url + scrubbed.request_body.decode()
    other = KEY.swapcase().replace("SK-ANT-API", "sk-ant-api")
    live = entry(
        {"api_key": other, "q": f"my key is {other}"}, "", f"{MESSAGES}?key=another", headers=(("x-api-key", other),)
    )
    assert asked(indexed(scrubbed), live) == "here"


def test_a_cassette_with_its_keys_is_played_too() -> None:
    """As stock vcrpy may have recorded it, or with the parameter filtered out."""
    live = entry({"q": 1}, "", f"{MESSAGES}?alt=sse&key={KEY}")
    assert asked(indexed(entry({"q": 1}, "with", f"{MESSAGES}?key={KEY}x&alt=sse")), live) == "with"
    assert asked(indexed(entry({"q": 1}, "without", f"{MESSAGES}?alt=sse")), live) == "without"


def test_a_secret_of_the_environment() -> None:
    """What stood in its place when it was recorded stands there in another run, with another value."""

    def said(secret: str) -> Recorded:
        return Scrubber({"MY_TOKEN": secret}).scrub(entry({"q": f"It printed {secret}, twice: {secret}."}, "here"))

    index = Index(Cassette((said("first-secret-value"),)), Scrubber({"MY_TOKEN": "second-secret"}).scrub)
    assert asked(index, entry({"q": "It printed second-secret, twice: second-secret."})) == "here"


def test_volatile_fields_do_not_count() -> None:
    """On the wire formats that have them."""
    index = indexed(entry({"metadata": {"user_id": "one"}}, "here"))
    assert asked(index, entry({"metadata": {"user_id": "two"}})) == "here"
    index = indexed(entry({"metadata": {"user_id": "one"}}, "here", "https://o.example/v1/files"))
    assert asked(index, entry({"metadata": {"user-id": "two"}}, "", "https://o.example/v1/files")) == "miss"


def test_what_was_elided_does_not_count() -> None:
    """As the cassette's origin says."""
    index = indexed(entry({"system": "(elided)", "q": 1}, "here"), elided=("/system",))
    assert asked(index, entry({"system": "You are a long prompt", "q": 2})) == "miss"
    assert asked(index, entry({"system": "You are a long prompt", "q": 1})) == "here"


def test_bodies_that_are_no_json() -> None:
    """They are found by their bytes."""
    index = indexed(entry(b"\xff\x00", "binary"), entry(b"", "empty", method="GET"), entry(b"a=1", "form"))
    requests = [entry(b"a=1"), entry(b"", method="GET"), entry(b"\xff\x00"), entry(b"\xff\x00\x00")]
    assert [asked(index, each) for each in requests] == ["form", "empty", "binary", "miss"]


def test_what_nobody_asked_for() -> None:
    """By number, from 0."""
    entries = [entry({"q": number}) for number in range(4)]
    index = indexed(*entries)
    for at in (2, 0):
        asked(index, entries[at])
    assert index.unplayed == {1: entries[1], 3: entries[3]}


def test_each_entry_is_played_once() -> None:
    """Whoever asks at the same time, no two get the same one."""
    index = indexed(*(entry({}, str(number)) for number in range(200)))
    with ThreadPoolExecutor(8) as threads:
        answers = [*threads.map(lambda _: asked(index, entry({})), range(200))]
    assert sorted(map(int, answers)) == [*range(200)]


def test_the_cost_of_a_request_does_not_grow_with_the_cassette() -> None:
    """A look at one entry, not at all: only the asked request is put into its canonical form, once."""
    reduced: list[Recorded] = []

    def scrub(request: Recorded) -> Recorded:
        reduced.append(request)
        return request

    entries = [entry({"q": number}, str(number)) for number in range(50)]
    index = Index(Cassette(tuple(entries)), scrub)
    reduced.clear()
    assert asked(index, entries[30]) == "30"
    assert asked(index, entry({"q": -1})) == "miss"
    assert len(reduced) == 2


@pytest.mark.parametrize("url", ["http://[bad/v1", "http://host:port/v1", "http://host/\ud800"])
def test_an_entry_without_a_sound_url(url: str) -> None:
    """It is named, with what is wrong with it."""
    with pytest.raises(CassetteError, match=r"entry 1: .* is no URL") as told:
        indexed(entry({}), entry({}, url=url))
    assert told.value.remedy
