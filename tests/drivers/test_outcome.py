"""A result document is found where the profile says, and read by its pointers."""

from __future__ import annotations

import pytest

from pytest_agentcontract.drivers.outcome import Run, deliver, find
from pytest_agentcontract.jsonvalue import MISSING
from pytest_agentcontract.scenario.profile import Part, ResultRule
from pytest_agentcontract.wire.turn import Usage

EVENTS = b"""starting
{"type": "item", "item": {"kind": "text", "text": "first"}}
{"type": "item", "item": {"kind": "text", "text": "last"}}
{"type": "item", "item": {"kind": "tool"}}
"""


def _read(launcher, rule, stdout=b"", stderr=b"", **keywords):
    launch = launcher(result=rule, **keywords)
    run = Run("exited", 0, stdout, stderr)
    return deliver(launch, run, find(launch, run))


def test_all_pointers_are_followed(launcher) -> None:
    """Value, flag, usage and named fields come from where the profile points; what is not there is left out."""
    rule = ResultRule(
        value="/out/0", failed="/bad", usage_input="/in", usage_output="/ou t", fields={"type": "/t", "gone": "/no"}
    )
    delivery = _read(launcher, rule, b'{"out": ["v"], "bad": true, "in": 3, "ou t": 4, "t": null}')
    assert (delivery.value, delivery.failed, delivery.usage) == ("v", True, Usage(3, 4))
    assert dict(delivery.fields) == {"type": None}


@pytest.mark.parametrize("usage", ['{"i": null, "o": 1}', '{"i": 1}', '{"i": true, "o": 1}', '{"i": 1.5, "o": 2}'])
def test_half_a_usage_is_none(launcher, usage) -> None:
    """Only two whole numbers are a usage: nothing is invented."""
    assert _read(launcher, ResultRule(usage_input="/i", usage_output="/o"), usage.encode()).usage is None


@pytest.mark.parametrize(
    ("text", "failed"), [('{"end": "error"}', True), ('{"end": "stop"}', False), ("{}", False), ("", None)]
)
def test_a_failure_may_show_by_a_word(launcher, text, failed) -> None:
    """What a failed run's document has; of a document that is not there nothing is said."""
    assert _read(launcher, ResultRule(failed_if={"/end": "error"}), text.encode()).failed is failed


def test_lines_of_json_end_with_a_line_feed_and_nothing_else(launcher) -> None:
    """A line separator inside a text is a part of it."""
    line = '{"n": 1, "text": "a\u2028b\x85c\u2029d"}\r\n'.encode()
    assert (
        _read(launcher, ResultRule("stdout-json-lines", "/text", event={"/n": 1}), line).value == "a\u2028b\x85c\u2029d"
    )


@pytest.mark.parametrize("flag", ["0", "null", '"false"', "{}"])
def test_only_a_boolean_is_a_failure_flag(launcher, flag) -> None:
    """Anything else says nothing, and the exit code decides."""
    delivery = _read(launcher, ResultRule(failed="/f"), f'{{"f": {flag}}}'.encode())
    assert (delivery.failed, delivery.status) == (None, "success")


def test_a_schema_run_may_have_a_place_of_its_own(launcher) -> None:
    """`structured` is read where a schema was asked for, `value` elsewhere."""
    rule, document = (
        ResultRule(value="/result", structured="/structured"),
        b'{"result": "prose", "structured": {"a": 1}}',
    )
    assert _read(launcher, rule, document, schema={"type": "object"}).value == {"a": 1}
    assert _read(launcher, rule, document).value == "prose"


@pytest.mark.parametrize(
    ("rule", "stdout", "stderr", "value"),
    [
        (ResultRule("stdout-json-array"), b'[{"result": 1}, {"result": 2}]', b"", 2),
        (ResultRule("stdout-json-lines", "/item/text", event={"/item/kind": "text"}), EVENTS, b"", "last"),
        (ResultRule("stdout-json-lines", "/n", event={"/n": 1}, since={"/n": 2}), b'{"n": 2}\n{"n": 1}\n{}', b"", 1),
        (ResultRule("stderr-json"), b"", b'warning {x}\n{"result": 1}\n{\n "result": {\n  "a": 2\n }\n}\n', {"a": 2}),
        (ResultRule("stderr-json"), b"", b'{"result": 3}', 3),
        (ResultRule("stderr-json"), b"", b'{"result": 3}\n[ERROR] {\n "result": {"a": 4}\n}\n', {"a": 4}),
    ],
)
def test_the_document_is_found_in_every_source(launcher, rule, stdout, stderr, value) -> None:
    """An array's last element, the last event of a kind and the end of standard error are all places for a result."""
    assert _read(launcher, rule, stdout, stderr).value == value


@pytest.mark.parametrize(
    ("rule", "stdout", "stderr", "problem"),
    [
        (ResultRule("stdout-json-array"), b"{}", b"", "not a JSON array"),
        (ResultRule("stdout-json-array"), b"[]", b"", "at least one"),
        (ResultRule("stdout-json-lines", event={"/type": "end"}), EVENTS, b"", "no event"),
        (ResultRule("stdout-json-lines", event={"/n": 1}, since={"/n": 2}), b'{"n": 1}\n{"n": 2}\n{}', b"", "since"),
        (ResultRule("stdout-json-lines", event={"/type": "item"}), EVENTS + b'{"type": "it', b"", "not one JSON"),
        (ResultRule("stderr-json"), b"", b"", "does not end with"),
        (ResultRule("stderr-json"), b"", b"{\n" * 5000, "does not end with"),
        (ResultRule("file", file="{workdir}/out.json"), b"", b"", "did not write out.json"),
    ],
)
def test_a_missing_document_is_a_problem_not_an_error(launcher, rule, stdout, stderr, problem) -> None:
    """Each source says in its own words what it did not find; a cut event does not give way to an earlier one."""
    delivery = _read(launcher, rule, stdout, stderr)
    assert problem in delivery.problem
    assert delivery.document is MISSING


def test_the_document_may_stand_in_a_file(program, drive) -> None:
    """A program may write its result instead of printing it."""
    code = "open('out.json', 'w').write('{\"result\": 7}')"
    assert drive(program(code, result=ResultRule("file", file="{workdir}/out.json"))).value == 7
    too_long = "open('out.json', 'w').write(' ' * 9 * 2**20)"
    assert "larger than" in drive(program(too_long, result=ResultRule("file", file="{workdir}/out.json"))).problem
    folder = "import os; os.remove('out.json'); os.mkdir('out.json')"
    assert "directory" in drive(program(folder, result=ResultRule("file", file="{workdir}/out.json"))).problem


def test_a_file_may_hold_the_value_as_it_is(program, drive) -> None:
    """Plain text is taken to the last character, and is not read as JSON."""
    code = "open('out.txt', 'w').write('{\\n 7 \\n')"
    rule = ResultRule("file-text", value="", file="{workdir}/out.txt")
    assert drive(program(code, result=rule)).value == "{\n 7 \n"
    gone = "import os; os.remove('out.txt')"
    assert "did not write out.txt" in drive(program(gone, result=rule)).problem


PARTS = ResultRule(
    value="/answer/result",
    structured="/end/structure",
    usage_input="/end/in",
    usage_output="/end/out",
    fields={"error": "/error/message"},
    parts={
        "answer": Part("stdout-json-lines", event={"/type": "answer"}),
        "end": Part("stdout-json-lines", event={"/type": "end"}),
        "error": Part("stderr-json"),
    },
)


def test_a_result_may_be_put_together_from_several_places(launcher) -> None:
    """What stands in one event is not looked for in another; a part that is not there is left out."""
    lines = b'{"type": "answer", "result": "R"}\n{"type": "end", "in": 3, "out": 4}\n'
    whole = _read(launcher, PARTS, lines, b'oh\n{"message": "no"}')
    assert (whole.value, whole.usage, dict(whole.fields)) == ("R", Usage(3, 4), {"error": "no"})
    assert _read(launcher, PARTS, lines).document == {
        "answer": {"type": "answer", "result": "R"},
        "end": {"type": "end", "in": 3, "out": 4},
    }


def test_of_parts_the_one_with_the_value_is_missed(launcher) -> None:
    """The problem is that of the place which the pointer in use leads to."""
    end = b'{"type": "end"}'
    assert "{'/type': 'answer'}" in _read(launcher, PARTS, end).problem
    assert "{'/type': 'end'}" in _read(launcher, PARTS, b"", schema={"type": "object"}).problem
    assert _read(launcher, PARTS, end, schema={"type": "object"}).problem == ""
