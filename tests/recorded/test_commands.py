"""The commands around cassettes, from a file to a file, with their exit statuses."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.scenario import load_case
from pytest_agentcontract.scripted import call, load, status, turn
from pytest_agentcontract.scripted.playbook import Playbook
from tests.recorded.taking import again, asked, cassette, desk, said

KEY = "sk-ant-api03-" + "aB3" * 30
WIRE = "anthropic-messages"
TURNS = (turn("Let me see.\nSo.", call("search", q="yes")), turn("Fine.", fault=status(429, "slow", retry_after=2)))


def run(*arguments):
    """Call the command line; return its exit status and what it printed."""
    done = CliRunner().invoke(cli.main, ["cassette", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def clean(exchange):
    """Leave out the headers that no recording keeps."""
    kept = tuple(line for line in exchange.headers if line[0] in ("content-type", "retry-after"))
    return replace(exchange, headers=kept)


@pytest.fixture
def tape(folder):
    """Write a cassette of three exchanges."""
    model = desk(Playbook({"root": TURNS}))
    for text in ("Hi", "Go on", "Go on"):
        model.ask(asked(WIRE, said(WIRE, text, tools=["search"])))
    held = cassette(*map(clean, model.kept))
    store.save(held, folder / "tape.yaml")
    return held


def test_show(tape):
    """A table, one exchange whole, and JSON."""
    code, shown = run("show", "tape.yaml")
    assert (code, len(shown.splitlines())) == (0, 4)
    code, shown = run("show", "tape.yaml", "--exchange", 1)
    assert code == 0
    assert "    retry-after: 2" in shown
    rows = json.loads(run("show", "tape.yaml", "--json")[1])
    assert [one["status"] for one in rows] == [200, 429, 200]
    assert [one["exchange"] for one in json.loads(run("show", "tape.yaml", "--json", "--exchange", 1)[1])] == [1]
    assert run("show", "tape.yaml", "--exchange", 3)[0] == 4


def test_diff(tape, folder):
    """The exit status says whether the two differ."""
    assert run("diff", "tape.yaml", "tape.yaml") == (0, "")
    store.save(cassette(*tape.exchanges[:2]), folder / "less.yaml")
    code, shown = run("diff", "tape.yaml", "less.yaml")
    assert (code, shown.startswith("exchange 2: only in the old cassette")) == (1, True)
    assert [one["part"] for one in json.loads(run("diff", "tape.yaml", "less.yaml", "--json")[1])] == ["exchange"]


@pytest.mark.parametrize("name", ["script.yaml", "script.json"])
def test_import(tape, folder, name):
    """The script that is written plays what was recorded, and is not written over."""
    code, shown = run("import", "tape.yaml", "-o", name)
    assert (code, shown) == (0, f"exchanges 0, 1, 2: kept\nwritten: {name}\n")
    book = load.load(folder / name)
    assert [len(turns) for turns in book.agents.values()] == [1, 1]
    document = load.read(folder / name)[0].value
    assert [one.turn for one in again(document, tape)] == [one.turn for one in read_all(tape)]
    before = (folder / name).read_bytes()
    code, shown = run("import", "tape.yaml", "-o", name)
    assert (code, "is there already" in shown) == (4, True)
    assert (folder / name).read_bytes() == before


def test_import_says_what_it_leaves_out(tape, folder):
    """With numbers and reasons; where nothing is left there is no script."""
    foreign = replace(tape.exchanges[0], url="https://api.openai.com/v1/embeddings")
    store.save(cassette(foreign, tape.exchanges[0]), folder / "more.yaml")
    code, shown = run("import", "more.yaml", "-o", "script.yaml", "--pace")
    assert code == 0
    assert shown.splitlines()[:2] == [
        "exchange 1: kept",
        "exchange 0: left out: no wire format knows POST https://api.openai.com/v1/embeddings",
    ]
    assert "first: 0.25" in (folder / "script.yaml").read_text()
    store.save(cassette(foreign), folder / "none.yaml")
    code, shown = run("import", "none.yaml", "-o", "none.json")
    assert (code, "no wire format knows" in shown, (folder / "none.json").exists()) == (4, True, False)


def test_import_as_a_case(tape, folder):
    """For a runtime and what the case covers; each is of no use without the other."""
    code, shown = run("import", "tape.yaml", "-o", "case.json", "--runtime", "reference", "--covers", "RET-201")
    assert (code, "exchange 0: calls search, which is bound to no part of a case" in shown) == (0, True)
    case = load_case.load_case(folder / "case.json")
    assert (case.given.prompt, [one.requirement for one in case.covers]) == ("Hi", ["RET-201"])
    code, shown = run("import", "tape.yaml", "-o", "other.json", "--runtime", "reference")
    assert (code, "Give --runtime and --covers, or neither." in shown) == (4, True)
    code, shown = run("import", "tape.yaml", "-o", "other.json", "--runtime", "reference", "--covers", "RET-999")
    assert (code, "no requirement is called RET-999" in shown, (folder / "other.json").exists()) == (4, True, False)


def test_check(tape, folder):
    """Sound cassettes, leaks, answers that can't be read, and files that are none; the exit status is 1 for a fault."""
    assert run("check", "tape.yaml") == (0, "1 cassette, no faults\n")
    leaking = replace(tape.exchanges[0], request_headers=(("x-api-key", KEY),))
    odd = replace(tape.exchanges[1], status=302)
    store.save(cassette(leaking, odd), folder / "bad.yaml")
    (folder / "none.yaml").write_text("version: 1\ninteractions: [")
    code, shown = run("check", "tape.yaml", "bad.yaml", "none.yaml", "missing.yaml")
    assert code == 1
    assert KEY not in shown
    assert "bad.yaml: exchange 0 leaks: " in shown
    assert "bad.yaml: exchange 1: status 302 is neither an answer nor an error" in shown
    assert "none.yaml" in shown
    assert "missing.yaml" in shown
    assert shown.splitlines()[-1].startswith("4 cassettes, ")


def test_scrub(tape, folder, monkeypatch):
    """What was secret is gone, its kinds are told, and a second time there is nothing to do."""
    monkeypatch.setenv("MY_SERVICE_TOKEN", "hunter2-hunter2")
    body = tape.exchanges[0].request_body.replace(b'"Hi"', b'"I am hunter2-hunter2"')
    store.save(
        cassette(replace(tape.exchanges[0], request_headers=(("x-api-key", KEY),), request_body=body)),
        folder / "s.yaml",
    )
    code, shown = run("scrub", "s.yaml")
    assert (code, shown) == (0, "exchange 0: x-api-key dropped; 1 environment replaced\ns.yaml: scrubbed\n")
    written = (folder / "s.yaml").read_text()
    assert KEY not in written
    assert "hunter2" not in written
    assert run("scrub", "s.yaml") == (0, "s.yaml: nothing to scrub\n")
    assert (folder / "s.yaml").read_text() == written
    assert run("check", "s.yaml")[0] == 0


def test_the_metadata_is_checked_and_scrubbed(tape, folder):
    """Our own, with lines in place of values, and what strangers wrote there; nothing but our own is rewritten."""
    origin = replace(
        tape.origin, upstreams={**tape.origin.upstreams, f"n-{KEY}": "https://h.example"}, note=f"by {KEY}"
    )
    store.save(replace(tape, origin=origin), folder / "m.yaml")
    code, shown = run("check", "m.yaml")
    assert (code, KEY in shown, shown.splitlines()[-1]) == (1, False, "1 cassette, 2 faults")
    assert len(re.findall(r"^m\.yaml: the metadata leaks: key in line \d+$", shown, re.MULTILINE)) == len(
        ("name", "note")
    )
    assert run("scrub", "m.yaml") == (0, "metadata: 2 keys replaced\nm.yaml: scrubbed\n")
    assert KEY not in (folder / "m.yaml").read_text()
    assert run("check", "m.yaml") == (0, "1 cassette, no faults\n")
    assert run("scrub", "m.yaml") == (0, "m.yaml: nothing to scrub\n")
    with (folder / "m.yaml").open("a") as file:
        file.write(f"  other: [{{why: [{KEY}]}}]\n")
    assert run("check", "m.yaml")[0] == 1


def test_metadata_that_can_not_be_scrubbed_is_left(tape, folder):
    """The error tells the place, and the file stays as it was."""
    note = base64.b64encode(f"see {KEY}".encode()).decode()
    store.save(replace(tape, origin=replace(tape.origin, note=note)), folder / "m.yaml")
    before = (folder / "m.yaml").read_text()
    code, shown = run("scrub", "m.yaml")
    assert (code, "the metadata still leaks: key in the note, as base64" in shown, KEY in shown) == (4, True, False)
    assert (folder / "m.yaml").read_text() == before


def test_a_file_that_is_no_cassette_is_told_by_each_command(folder):
    """With the exit status of usage errors."""
    (folder / "none.yaml").write_text("- 1\n")
    for arguments in (("show",), ("diff", "none.yaml"), ("import", "-o", "s.yaml"), ("scrub",)):
        code, shown = run(arguments[0], "none.yaml", *arguments[1:])
        assert (code, "ERROR: none.yaml" in shown) == (4, True)
