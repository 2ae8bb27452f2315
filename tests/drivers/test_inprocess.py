"""A Python runtime is called in a thread, and whatever it does ends in one delivery."""

from __future__ import annotations

import sys
import threading
import time
from types import SimpleNamespace

import pytest

from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import MISSING
from pytest_agentcontract.scenario.start import Result

DOCUMENT = {"result": "yes", "is_error": False}


@pytest.fixture
def call(launcher, drive, monkeypatch):
    """Return a function that drives a callable as a runtime."""

    def drive_it(run, **keywords):
        monkeypatch.setitem(sys.modules, "the_runtime", SimpleNamespace(run=run))
        return drive(launcher(driver="python", entry="the_runtime:run", **keywords))

    return drive_it


def _raises(error):
    def run(_start):
        raise error

    return run


class _UnspeakableError(Exception):
    def __str__(self):
        raise ValueError("not even this")


def test_a_returned_document_is_delivered(call, seat) -> None:
    """The value is read out of the document, which stands on standard output as a program's would."""
    delivery = call(lambda _: Result(DOCUMENT))
    assert (delivery.value, delivery.failed, delivery.status, delivery.problem) == ("yes", False, "success", "")
    assert (delivery.stdout, delivery.exit_code, seat.gone) == ('{"result": "yes", "is_error": false}\n', 0, True)


def test_a_runtime_gets_its_start_and_nothing_of_ours(call) -> None:
    """The start holds the run's own values: where the model is, what is asked for, where to work."""
    starts = []
    run = lambda start: starts.append(start) or Result(DOCUMENT)  # noqa: E731 - short, and only here
    call(run, schema={"type": "array"}, max_turns=3, settings={"mutant": "none"}, env={"MINE": "{workdir}"})
    (start,) = starts
    assert (start.mode, start.prompt, start.schema, start.max_turns) == ("json", "Go.", {"type": "array"}, 3)
    assert (start.settings, start.workdir.is_dir()) == ({"mutant": "none"}, True)
    assert start.env["MODEL_URL"] == "http://127.0.0.1:9/case/1-x/v1"
    assert start.env["MODEL_KEY"].startswith("agent-contract-")
    assert start.env["MINE"] == str(start.workdir)


def test_an_exception_is_a_crash_with_its_trace(call) -> None:
    """A runtime that raises has crashed; the trace begins in the runtime, not in this suite."""
    delivery = call(_raises(LookupError("gone")))
    assert (delivery.ended, delivery.exit_code, delivery.status) == ("crashed", None, "failed")
    assert delivery.problem == "the call raised LookupError: gone"
    assert "drivers/inprocess.py" not in delivery.stderr
    assert "raise error" in delivery.stderr


@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit(), _UnspeakableError(), RecursionError()])
def test_nothing_that_is_raised_gets_out(call, error) -> None:
    """Also what no one expects to be raised is the outcome of this run and stays in its thread."""
    assert call(_raises(error)).problem.startswith("the call raised ")


@pytest.mark.parametrize(("code", "exit_code", "ok"), [(None, 0, True), (0, 0, True), (3, 3, False), ("bye", 1, False)])
def test_system_exit_is_an_exit(call, code, exit_code, ok) -> None:
    """A runtime that exits has no document, and the exit code that the interpreter would give."""
    delivery = call(_raises(SystemExit(code)))
    assert (delivery.ended, delivery.exit_code, delivery.exit_ok) == ("exited", exit_code, ok)
    assert delivery.document is MISSING
    assert "SystemExit" in delivery.problem


@pytest.mark.parametrize(
    ("returned", "problem"),
    [(None, "returned NoneType"), (DOCUMENT, "returned dict"), (Result(DOCUMENT, "0"), "exit code is str")],
)
def test_a_wrong_return_is_a_crash(call, returned, problem) -> None:
    """Anything but a Result with a whole number is the runtime's fault, and said so."""
    delivery = call(lambda _: returned)
    assert delivery.ended == "crashed"
    assert problem in delivery.stderr
    assert problem in delivery.problem


def _endless():
    endless = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    "document",
    [{1: "a"}, {"a": (1,)}, {"a": float("nan")}, {"a": {1}}, {"a": b"x"}, {"a": 10**5000}, _endless(), {"a": object()}],
    ids=["number key", "tuple", "nan", "set", "bytes", "huge", "endless", "object"],
)
def test_a_document_that_is_no_json_is_a_problem(call, document) -> None:
    """A document counts only if it is JSON as it stands: nothing is made to fit."""
    delivery = call(lambda _: Result(document))
    assert (delivery.ended, delivery.document) == ("exited", MISSING)
    assert "result document is no" in delivery.problem


def test_a_missing_document_is_a_problem_only_where_one_is_due(call) -> None:
    """In text mode standard output is all there is."""
    assert call(lambda _: Result()).problem == "the call returned no result document"
    delivery = call(lambda start: start.write("Hello") or Result(), mode="text")
    assert (delivery.stdout, delivery.problem, delivery.document) == ("Hello", "", MISSING)


def test_a_document_cannot_be_changed_afterwards(call) -> None:
    """What was delivered is a copy."""
    document = {"result": ["a"], "is_error": False}
    delivery = call(lambda _: Result(document))
    document["result"].append("b")
    assert delivery.value == ["a"]


def test_what_is_asked_for_is_its_own_to_change(call) -> None:
    """A runtime that adds to its schema adds to this run's: the case is asked again of others."""
    asked = {"type": "array"}
    call(lambda start: start.schema.update(items={}) or Result(DOCUMENT), schema=asked)
    assert asked == {"type": "array"}


def test_a_lone_surrogate_is_kept(call) -> None:
    """A value that is JSON but no Unicode text is delivered as it stands, and shown as an escape."""
    delivery = call(lambda _: Result({"result": "\ud800"}))
    assert (delivery.value, delivery.stdout) == ("\ud800", '{"result": "\\ud800"}\n')
    assert call(lambda start: start.write("a\ud800") or Result(), mode="text").stdout.startswith("a\ufffd")


def test_other_text_beside_the_document_spoils_it(call) -> None:
    """A program that printed so would hand over no single document either; white space is none."""
    delivery = call(lambda start: start.write("hm") or Result(DOCUMENT))
    assert (delivery.document, delivery.stdout.startswith("hm")) == (MISSING, True)
    assert "beside the result document" in delivery.problem
    assert call(lambda start: start.write("\n") or Result(DOCUMENT)).value == "yes"


def test_only_text_can_be_written(call) -> None:
    """Writing bytes fails in the runtime, where the fault is."""
    assert "TypeError" in call(lambda start: start.write(b"x")).problem


def test_what_is_written_reaches_the_seat_at_once(call, seat) -> None:
    """A gate may wait for standard output while the runtime still works."""

    def run(start):
        start.write("a")
        assert seat.text == "a"
        return Result()

    assert call(run, mode="text").status == "success"


def test_a_flood_ends_the_run(call) -> None:
    """A runtime that prints without end is shut out."""

    def run(start):
        while True:
            start.write("x" * 2**20)

    delivery = call(run, mode="text")
    assert (delivery.ended, delivery.status) == ("output-limit", "unfinished")


def test_a_call_that_never_returns_is_left_behind(call, seat) -> None:
    """At the time limit the run is unfinished and the next one goes on; what comes later changes nothing."""
    free, left = threading.Event(), threading.Event()

    def run(start):
        free.wait(10)
        try:
            start.write("late")
        finally:
            left.set()
        return Result(DOCUMENT)

    delivery = call(run, timeout=0.05)
    assert (delivery.ended, delivery.status, delivery.document) == ("time-limit", "unfinished", MISSING)
    assert (delivery.seconds < 1, seat.gone) == (True, True)
    free.set()
    assert left.wait(5)
    assert (seat.text, delivery.stdout) == ("", "")


def test_a_conversation_is_held_line_by_line(call) -> None:
    """Each line is handed out when the one before was answered; then comes the end, as often as asked."""

    def run(start):
        lines = [start.read_line() for _ in range(4)]
        start.write(repr(lines))
        return Result()

    assert call(run, mode="interactive", lines=("one", "two")).stdout == "['one', 'two', None, None]"


def test_a_reader_is_released_when_the_time_is_up(call, seat) -> None:
    """A runtime that waits for a line which is never due gets the end of the conversation."""
    seat.quiet = 0.0
    read = []
    done = threading.Event()

    def run(start):
        read.extend([start.read_line(), start.read_line()])
        done.set()
        return Result()

    assert call(run, mode="interactive", lines=("one", "two"), timeout=0.05).ended == "time-limit"
    assert done.wait(5)
    assert read == ["one", None]


def test_a_stalled_conversation_goes_on(call, seat, monkeypatch) -> None:
    """Where a turn never comes, the next line is sent after a while without any movement."""
    monkeypatch.setattr("pytest_agentcontract.drivers.conversation.STALLED", 0.3)
    seat.delivered, seat.quiet = 1, 0.31
    run = lambda start: start.write(f"{start.read_line()} {start.read_line()}") or Result()  # noqa: E731 - short, and only here
    delivery = call(run, mode="interactive", lines=("a", "b"))
    assert delivery.stdout == "a b"


@pytest.mark.parametrize("entry", ["no_such_module:run", "json:no_such_function", "json:__doc__", "not_a_module.x:y"])
def test_an_entry_that_is_not_there_is_one_clear_error(launcher, drive, entry) -> None:
    """The error names the entry and the runtime."""
    with pytest.raises(DriverError, match="the entry") as caught:
        drive(launcher(driver="python", entry=entry))
    assert caught.value.where == "runtime it"


@pytest.mark.parametrize("body", ["def run(:", "raise SystemExit(1)", "import no_such_module"])
def test_a_module_that_cannot_be_imported_is_one_clear_error(launcher, drive, tmp_path, monkeypatch, body) -> None:
    """Whatever an import raises is a fault of the set-up; the profile's path is where modules are found."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "broken_runtime.py").write_text(body)
    with pytest.raises(DriverError, match="can't be imported"):
        drive(launcher(driver="python", entry="broken_runtime:run", path=(str(tmp_path),)))


def test_driving_costs_next_to_nothing(call) -> None:
    """A run in this process takes less than a millisecond of ours (the best of many, on a busy machine)."""

    def seconds():
        since = time.perf_counter()
        call(lambda _: Result(DOCUMENT))
        return time.perf_counter() - since

    assert min(seconds() for _ in range(50)) < 0.001
