"""Whose request is whose: conversations are told apart by the weakest mark that does it, and never by a guess."""

from __future__ import annotations

import pytest

from pytest_agentcontract.jsonvalue import dumps, loads
from pytest_agentcontract.recorded.conversations import conversations
from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.recorded.script_of import imported
from pytest_agentcontract.scenario.case import ScriptedTurn
from pytest_agentcontract.scripted import call, turn
from pytest_agentcontract.scripted.playbook import Playbook
from tests.recorded.taking import again, asked, cassette, desk, said

CHAT = "openai-chat"
TOOLS = ("search",)


class Client:
    """One agent's conversation over Chat Completions: each answer is handed back, with results of its calls."""

    def __init__(self, model, *, name="m", system="", text="Go.", **headers):
        self.desk, self.name, self.headers = model, name, headers
        self.body = said(CHAT, text, tools=TOOLS, system=system)
        self.request = None

    def ask(self):
        """Ask once, and take the answer into the conversation."""
        self.request = asked(CHAT, self.body, stream=False, model=self.name, **self.headers)
        message = loads(self.desk.ask(self.request).body)["choices"][0]["message"]
        self.body["messages"] += [{key: value for key, value in message.items() if value is not None}]
        for made in message.get("tool_calls", ()):
            self.body["messages"] += [{"role": "tool", "tool_call_id": made["id"], "content": "found"}]


WAYS = {
    "model": ({"name": "big"}, {"name": "small"}),
    "header": ({"x_agent": "boss"}, {"x_agent": "scout"}),
    "system": ({"system": "You lead a team.\nBe kind."}, {"system": "You look things up.\nBe kind."}),
    "token": ({"text": "Lead the team."}, {"text": "Look it up."}),
}


def both(by):
    """Let two agents converse at the same time: the second begins after the first, and ends before it."""
    one, other = WAYS[by]
    turns = {"a": (turn(call("search", q=1)), turn("A.")), "b": (turn(call("search", q=2)), turn("B."))}
    models = {name: desk(Playbook({"root": told})) for name, told in turns.items()}
    first, second = Client(models["a"], **one), Client(models["b"], **other)
    kept = []
    for client in (first, second, second, first):
        client.ask()
        kept.append(client.desk.kept[-1])
    return cassette(*kept)


@pytest.mark.parametrize("by", WAYS)
def test_agents_at_the_same_time_have_scripts_of_their_own(by):
    """By what is different of them; played in another order, each still gets its own answers."""
    tape = both(by)
    made = imported(tape)
    attribution = made.script["attribution"]
    assert (attribution if isinstance(attribution, str) else attribution["by"]) == by
    assert (made.notes, len(made.script["agents"])) == ((), 2)
    assert [one.turn for one in again(made.script, tape)] == [one.turn for one in read_all(tape)]
    swapped = cassette(*(tape.exchanges[at] for at in (1, 0, 3, 2)))
    assert [one.turn for one in again(made.script, swapped)] == [one.turn for one in read_all(swapped)]


def test_names_of_agents():
    """A model or a header that is a name is one; else the first is the root. Marks stand where they are not usual."""
    assert imported(both("model")).script["attribution"] == "model"
    assert [*imported(both("header")).script["agents"]] == ["boss", "scout"]
    assert imported(both("system")).script["attribution"]["marks"] == {
        "root": "You lead a team.",
        "agent-2": "You look things",
    }


def test_what_stands_in_the_other_text_is_no_mark():
    """A text that is all there in another one can't tell the two apart: there is another way, or none."""
    models = desk(Playbook({"root": (turn("1"), turn("2"))})), desk(Playbook({"root": (turn("3"), turn("4"))}))
    first, second = Client(models[0], text="Look."), Client(models[1], text="Look. And then?")
    kept = []
    for client in (first, second, first, second):
        client.ask()
        kept.append(client.desk.kept[-1])
    made = imported(cassette(*kept))
    assert [note.number for note in made.notes] == [1]
    assert "no mark tells" in made.notes[0].what
    assert [one["text"] for one in made.script["turns"]] == ["1", "3", "2", "4"]


def test_a_date_and_a_placeholder_are_poor_marks():
    """What will be another text tomorrow is taken only where nothing else is there, what was scrubbed never."""
    dated = "2026-11-30 is the date.\nSCRUBBED-user-1 is a user whom you know.\n"
    models = desk(Playbook({"root": (turn("1"),)})), desk(Playbook({"root": (turn("2"),)}))
    first = Client(models[0], system=f"{dated}Write a poem about spring.")
    second = Client(models[1], system="Answer the phone.")
    for client in (first, second):
        client.ask()
    made = imported(cassette(models[0].kept[0], models[1].kept[0]))
    assert made.script["attribution"]["marks"]["root"] == "Write a poem"


def test_one_conversation_needs_no_mark(wire):
    """However long it is, and whatever models it asks."""
    model = desk(Playbook({"root": (turn("1"), turn("2"))}))
    model.ask(asked(wire, said(wire, "Hi"), model="big"))
    model.ask(asked(wire, said(wire, "Hi"), model="big"))
    made = imported(cassette(*model.kept))
    assert [*made.script] == ["turns"]


def test_a_conversation_goes_on_where_the_answer_is_handed_back():
    """Also in one that forgets how it began; the same words in another conversation are not enough."""
    turns: tuple[ScriptedTurn, ...] = (turn("Yes."), turn("No."), turn("Yes."))
    model = desk(Playbook({"root": turns}))
    one, other = Client(model, text="Is it?"), Client(model, text="Was it?")
    for client in (one, one, other):
        client.ask()
    del one.body["messages"][1]
    one.body["messages"][0] = {"role": "user", "content": "Is it?"}
    late = asked(CHAT, one.body, stream=False)
    tape = cassette(*model.kept, late)
    found = conversations([reading for reading in read_all(tape) if reading.request])
    assert [[reading.number for reading in of.attempts] for of in found] == [[0, 1, 3], [2]]


def test_the_same_last_words_of_two_conversations():
    """All that was said before tells which of them goes on."""
    turns = tuple(map(turn, ("A.", "B.", "Yes.", "Yes.", "1", "2")))
    model = desk(Playbook({"root": turns}))
    one, other = Client(model), Client(model)
    for client in (one, other, one, other, one, other):
        client.ask()
    found = conversations(read_all(cassette(*model.kept)))
    assert [[reading.number for reading in of.attempts] for of in found] == [[0, 2, 4], [1, 3, 5]]


def test_a_response_that_the_server_keeps_is_gone_on_from():
    """A request that names the earlier answer belongs to its conversation."""
    name = "openai-responses"
    model = desk(Playbook({"root": (turn("1"), turn("2"))}))
    first = model.ask(asked(name, said(name, "Hi"), stream=False))
    follow = said(name, "More") | {"previous_response_id": loads(first.body)["id"]}
    model.ask(asked(name, follow, stream=False))
    (found,) = conversations(read_all(cassette(*model.kept)))
    assert len(found.exchanges) == 2


def test_several_that_ask_the_same_are_played_in_their_order():
    """Requests that nothing tells apart are named, and none is lost."""
    model = desk(Playbook({"root": (turn("1"), turn("2"), turn("3"))}))
    for _ in range(3):
        model.ask(asked(CHAT, said(CHAT, "Hi")))
    made = imported(cassette(*model.kept))
    assert [note.number for note in made.notes] == [1, 2]
    assert made.kept == (0, 1, 2)
    assert dumps(made.script) == '{"turns": [{"text": "1"}, {"text": "2"}, {"text": "3"}]}'
