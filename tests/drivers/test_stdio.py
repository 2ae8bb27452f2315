"""An adapter is asked by numbered JSON lines; whatever it does ends in an answer, a delivery or one clear error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from pytest_agentcontract.drivers import messages, stdio
from pytest_agentcontract.drivers.adapter import Adapter
from pytest_agentcontract.drivers.adapter_check import SAMPLES, check
from pytest_agentcontract.drivers.asking import ask
from pytest_agentcontract.drivers.base import version
from pytest_agentcontract.drivers.messages import Answer
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import MISSING
from pytest_agentcontract.scenario.profile import Profile, ResultRule

Toy: TypeAlias = Callable[..., Profile]

FRAME = """
import json, os, signal, subprocess, sys, time
out = sys.stdout.buffer
def say(message):
    out.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\\n")
    out.flush()
def started(seq, **more):
    return {"seq": seq, "ok": True, "protocol": 1, "name": "toy", "version": "1", "language": "python",
            "capabilities": ["inert", "run"], **more}
def hear():
    return json.loads(sys.stdin.buffer.readline() or b'{"cmd": "stop", "seq": 0}')
while True:
    request = hear()
    seq, cmd, given = request["seq"], request["cmd"], request.get("input")
    if cmd == "stop":
        break
    if cmd == "start":
        say(started(seq))
        continue
    good = {"seq": seq, "ok": True, "output": {"body": given["text"]} if given else given}
    done = {"seq": seq, "ok": True, "result": {"exit_code": 0, "document": {"result": "yes", "is_error": False}}}
"""
TEXT = {"text": "b"}
BODY = {"body": "b"}


def _code(*lines: str) -> str:
    return FRAME + "".join(f"    {line}\n" for line in lines)


def _profile(code: str, **fields: Any) -> Profile:
    argv = (sys.executable, "-ISc", code)
    return Profile(**{"name": "toy", "driver": "stdio", "wires": {}, "result": ResultRule(), "adapter": argv,
                      "capabilities": frozenset({"handoff"})} | fields)  # fmt: skip


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """Let no test meet the adapter of another."""
    yield
    stdio.stop_all()


@pytest.fixture
def toy() -> Toy:
    """Return a function that makes the profile of a toy adapter: what it does with each request after `start`."""
    return lambda *lines, **fields: _profile(_code(*lines), **fields)


@pytest.fixture
def run(launcher, drive):
    """Return a function that carries out a run of a toy adapter."""

    def play(*lines: str, **keywords: Any):
        return drive(launcher(driver="stdio", adapter=(sys.executable, "-ISc", _code(*lines)), **keywords))

    return play


def test_an_operation_is_asked_and_answered(toy) -> None:
    """The input arrives as it is, half a surrogate pair and line separators included, and the output comes back."""
    text = "é \u2028 \ud800 😀 \x00"
    assert ask(toy("say(good)"), "inert", {"text": text}) == Answer({"body": text})


def test_one_process_answers_all(toy) -> None:
    """A long-lived adapter is started once, and numbers go on."""
    profile = toy("say({**good, 'output': {'body': f'{os.getpid()} {seq}'}})")
    first, second = (ask(profile, "inert", TEXT).output["body"].split() for _ in range(2))
    assert (first[0], first[1], second[1]) == (second[0], "2", "3")


def test_what_is_not_declared_is_not_asked(toy) -> None:
    """An operation that the adapter does not declare is unsupported without a question."""
    assert ask(toy("os.abort()"), "parse", {"text": ""}) == Answer(unsupported=True)


def test_an_adapter_that_never_starts_is_given_up(tmp_path) -> None:
    """It is started a few times; the rest of the run is told the same at once, until everything is stopped."""
    log = tmp_path / "starts"
    profile = _profile(f"open({str(log)!r}, 'a').write('x')")
    said = [_complaint(profile) for _ in range(stdio.MOST_STARTS + 4)]
    assert log.read_text() == "x" * stdio.MOST_STARTS
    assert all("was gone before it answered" in what for what in said)
    assert [what for what in said if "is not started again" in what] == said[stdio.MOST_STARTS :]
    stdio.stop_all()
    assert "is not started again" not in _complaint(profile)


def _complaint(profile: Profile) -> str:
    with pytest.raises(DriverError) as caught:
        ask(profile, "inert", TEXT)
    return caught.value.what


def test_an_error_answer_is_the_adapters_own_word(toy) -> None:
    """An error is answered, not raised, and the adapter lives on; so it is where the line could not be read."""
    profile = toy("say({'seq': seq if seq == 2 else None, 'ok': False, 'error': {'message': f'no {seq}'}})")
    assert [ask(profile, "inert", TEXT).error for _ in range(2)] == ["no 2", "no 3"]


@pytest.mark.parametrize(
    ("lines", "said", "where"),
    [
        (["say({**good, 'seq': seq + 1})"], "seq 3 in the answer to request 2", "line 2 of .* output, \\$.seq"),
        (["say({**good, 'seq': True})"], "seq true in the answer", "line 2"),
        (["del good['seq']; say(good)"], "no seq in the answer", "line 2"),
        (["say(b'hello')"], "not JSON", "line 2"),
        (["say(b'')"], "not JSON", "line 2"),
        (["say([1])"], "not a JSON object", "line 2"),
        (["say(b'{\"seq\": 2, \"seq\": 2}')"], "stands twice", "line 2"),
        (["say(b'{\"seq\": NaN}')"], "NaN", "line 2"),
        (["say(b'\\xff')"], "not UTF-8 \\(byte 1", "line 2"),
        (["say({'seq': seq})"], "'ok' is a required", "line 2"),
        (["say({'seq': seq, 'ok': False})"], "'error' is a required", "line 2"),
        (["say({**good, 'extra': 1})"], "unknown key 'extra'", "line 2"),
        (["say({**good, 'output': {}})"], "'body' is a required", "line 2 of .*, \\$.output"),
        (["say({**good, 'output': {'body': 1}})"], "1 is not of type 'string'", "\\$.output.body"),
        (["say({'seq': seq, 'event': 'printed', 'text': 'x'})"], "which only a run may send", "\\$.event"),
        (["out.write(b'{\"seq\"'); out.flush(); break"], "in the middle of a line", "line 2"),
        (["say(json.dumps(good).encode() + b'\\n' + b'more')"], "more than was asked for", "line 3"),
    ],
)  # fmt: skip
def test_a_broken_answer_is_blamed_on_the_adapter(toy, lines, said, where) -> None:
    """The error names the line of output, the place in it and what to mend; it never quotes without end."""
    with pytest.raises(DriverError, match=said) as caught:
        ask(toy(*lines), "inert", TEXT)
    caught.match(where)
    assert "the adapter breaks the protocol" in caught.value.what
    assert caught.value.remedy
    assert len(str(caught.value)) < 1000


def test_a_broken_request_is_blamed_on_the_suite(toy) -> None:
    """A request that breaks our own schema is never sent, and the adapter lives on."""
    profile = toy("say(good)")
    with pytest.raises(DriverError, match="the suite breaks the suite's own protocol") as caught:
        stdio.ask(profile, "inert", {"text": 1})
    assert "adapter is not at fault" in caught.value.remedy
    assert ask(profile, "inert", TEXT).output == BODY


def test_a_second_answer_is_found_out(toy) -> None:
    """A line that comes after the answer, however late, breaks the protocol before the next request is sent."""
    profile = toy("say(good); say(good) if seq == 3 else None", "time.sleep(0.05)")
    ask(profile, "inert", TEXT)
    said = r"more than was asked for, after the answer to request 3|seq 3 in the answer to request 4"
    with pytest.raises(DriverError, match=said):
        _ask_twice(profile)


def _ask_twice(profile: Profile) -> None:
    ask(profile, "inert", TEXT)
    ask(profile, "inert", TEXT)


def test_a_lie_about_capabilities_is_called_one(toy) -> None:
    """An operation that is declared and then unsupported is an error of the adapter's, not a missing capability."""
    with pytest.raises(DriverError, match="declares 'inert', and answers that it is unsupported") as caught:
        ask(toy("say({'seq': seq, 'ok': False, 'unsupported': True})"), "inert", TEXT)
    assert "Take 'inert' out" in caught.value.remedy


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["sys.stderr.write('out of tea\\n'); sys.exit(3)"], "gone before it answered \\(exit status 3\\)"),
        (["sys.stderr.write('out of tea\\n'); sys.stderr.flush(); os.kill(os.getpid(), 9)"], "\\(signal 9\\)"),
    ],
)
def test_a_death_is_told_with_the_last_words(toy, lines, said) -> None:
    """The exit status and the last line of standard error are in the error."""
    with pytest.raises(DriverError, match=said) as caught:
        ask(toy(*lines), "inert", TEXT)
    assert "out of tea" in caught.value.remedy


def test_it_is_started_again_after_a_death(toy) -> None:
    """The request after a crash gets a new process, whose numbers begin anew."""
    profile = toy("if given['text'] == 'die': sys.exit(1)", "say(good)")
    with pytest.raises(DriverError):
        ask(profile, "inert", {"text": "die"})
    assert ask(profile, "inert", TEXT).output == BODY


def test_silence_ends_at_the_time_limit(toy) -> None:
    """An adapter that never answers is ended, with everything that it has started."""
    profile = toy("subprocess.Popen(['sleep', '60'], start_new_session=True); time.sleep(60)")
    stdio.about(profile)
    adapter = next(iter(stdio._ADAPTERS.values()))
    with pytest.raises(DriverError, match="did not answer in time"):
        stdio.ask(profile, "inert", TEXT, 0.3)
    assert not adapter.family()


def test_an_interrupted_request_is_not_answered_by_the_next_one(toy) -> None:
    """Where something of ours gets between question and answer, the adapter is ended with it."""
    adapter = Adapter(toy("say({'seq': seq, 'event': 'printed', 'text': 'x'})", "say(done)"))
    adapter.start()
    with pytest.raises(ZeroDivisionError):
        adapter.request("inert", {"input": TEXT}, 9, hear=lambda _text: 1 // 0)
    assert not adapter.alive


def test_a_hundred_megabytes_are_cut_off(toy) -> None:
    """Output without end, with or without line ends, is bounded in memory and ends the adapter."""
    with pytest.raises(DriverError, match="wrote more than 64 MiB"):
        ask(toy("for _ in range(100): out.write(b'x' * 1000000)", "out.flush()"), "inert", TEXT)


def test_a_large_message_passes_in_both_directions(toy) -> None:
    """Eight mebibytes there and back: neither side waits for the other."""
    text = "é" * (4 * 1024 * 1024)
    assert ask(toy("say(good)"), "inert", {"text": text}) == Answer({"body": text})


def test_standard_error_is_kept_and_not_parsed(toy) -> None:
    """Log lines, also more than a pipe holds, disturb nothing."""
    profile = toy("sys.stderr.write('{}\\n' * 100000); sys.stderr.flush()", "say(good)")
    assert ask(profile, "inert", TEXT).output == BODY


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("say({**started(seq), 'protocol': 7})", "chose version 7"),
        ("say({'seq': seq, 'ok': False, 'error': {'message': 'too old'}})", "declines to start: too old"),
        ("say(started(seq, capabilities=['inrt']))", "'inrt' is not one of"),
        ("say(started(seq, name=''))", "non-empty|is too short"),
        ("sys.exit('no licence')", "gone before it answered"),
    ],
)
def test_a_start_that_comes_to_nothing_is_one_clear_error(toy, start, said) -> None:
    """Versions, a refusal, a misspelt capability, an early exit: each is told as what it is, and nothing is left."""
    profile = _profile(FRAME.replace("say(started(seq))", start))
    with pytest.raises(DriverError, match=said):
        ask(profile, "inert", TEXT)
    assert not stdio._ADAPTERS


def test_a_missing_program_is_one_clear_error(toy) -> None:
    """An adapter that is not there is named."""
    with pytest.raises(DriverError, match="'no-such-adapter' was not found"):
        ask(toy(adapter=("no-such-adapter",)), "inert", TEXT)


def test_it_lives_in_a_room_of_its_own(toy, monkeypatch, tmp_path) -> None:
    """Its environment is an allow-list and the profile's lasting variables; it is started where its file stands."""
    monkeypatch.setenv("OPENAI_API_KEY", "ours")
    env = {"MINE": "yes", "PER_RUN": "{base_url}"}
    told = "say({**good, 'output': {'body': json.dumps([dict(os.environ), os.getcwd()])}})"
    seen, folder = json.loads(ask(toy(told, env=env, folder=str(tmp_path)), "inert", TEXT).output["body"])
    assert (seen["MINE"], folder) == ("yes", str(tmp_path))
    assert not seen.keys() & {"OPENAI_API_KEY", "PER_RUN"}
    assert "agent-contract-adapter-" in seen["HOME"]


def test_the_adapter_says_its_version(toy) -> None:
    """Without a version command in the profile the report holds what the adapter answered to `start`."""
    assert version(toy()) == "1"
    assert version(toy(version=("echo", "2.0"))) == "2.0"


def test_it_is_told_to_stop(toy) -> None:
    """At the end `stop` is sent, and an adapter that heeds it ends by itself; one that does not is killed."""
    adapter = Adapter(toy("say(good)"))
    adapter.start()
    assert adapter.stop() is not None
    assert adapter.exit_code == 0
    deaf = Adapter(_profile(FRAME.replace("        break", "        time.sleep(60)")))
    deaf.start()
    assert deaf.stop() is None
    assert deaf.exit_code == -9


def test_a_run_is_delivered(run, seat) -> None:
    """The document of a run is read by the profile's pointers, as that of a program is."""
    delivery = run("say(done)")
    assert (delivery.value, delivery.status, delivery.exit_code, delivery.problem) == ("yes", "success", 0, "")
    assert seat.gone


def test_a_run_is_told_all_that_it_needs(run) -> None:
    """Prompt, step cap, schema, folders and the variables that point it at the model."""
    delivery = run(
        "say({**done, 'result': {'exit_code': 0, 'document': {'result': request['run'], 'is_error': False}}})",
        max_turns=4,
        schema={"type": "string"},
    )
    asked = delivery.value
    assert (asked["mode"], asked["prompt"], asked["max_turns"], asked["schema"]) == (
        "json",
        "Go.",
        4,
        {"type": "string"},
    )
    assert asked["env"]["MODEL_URL"] == "http://127.0.0.1:9/case/1-x/v1"
    assert asked["workdir"] != asked["home"]


def test_what_a_run_prints_is_heard_at_once(run, seat) -> None:
    """Each printed event reaches the seat, and together they are the standard output."""
    delivery = run(
        *(f"say({{'seq': seq, 'event': 'printed', 'text': {text!r}}})" for text in ("a", "é\n")),
        "say({**done, 'result': {'exit_code': 0}})",
        mode="text",
    )
    assert (delivery.stdout, seat.text, delivery.ended) == ("aé\n", "aé\n", "exited")


def test_a_run_converses(run) -> None:
    """The caller's lines are said when they are due, and null is the end."""
    delivery = run(
        "said = []",
        "while (line := hear()['line']) is not None: said.append(line)",
        "say({'seq': seq, 'event': 'printed', 'text': ' '.join(said)})",
        "say({**done, 'result': {'exit_code': 0}})",
        mode="interactive",
        lines=("one", "two"),
    )
    assert delivery.stdout == "one two"


@pytest.mark.parametrize(
    ("lines", "ended", "problem"),
    [
        (["sys.exit(3)"], "crashed", "gone before it answered"),
        (["time.sleep(60)"], "time-limit", "did not answer in time"),
        (["for _ in range(100): say({'seq': seq, 'event': 'printed', 'text': 'x' * 100000})"], "output-limit", "8 MiB"),
        (["say({'seq': seq, 'ok': False, 'error': {'message': 'no tea'}})"], "crashed", "reports an error: no tea"),
        (["say({**done, 'result': {'exit_code': 0}})"], "exited", "no result document"),
        (["say({'seq': seq, 'event': 'printed', 'text': 'x'})", "say(done)"], "exited", "other text beside"),
    ],
)  # fmt: skip
def test_a_run_that_goes_wrong_is_the_runtimes_own(run, lines, ended, problem) -> None:
    """A crash, silence, a flood or a missing document are how the run ended, to be judged; not errors of the bench."""
    delivery = run(*lines, timeout=1.0 if ended == "time-limit" else 120.0)
    assert delivery.ended == ended
    assert problem in delivery.problem
    assert delivery.value is MISSING


def test_a_broken_message_of_a_run_is_an_error(run) -> None:
    """A message that breaks the protocol is never judged as a delivery."""
    with pytest.raises(DriverError, match="'exit_code' is a required"):
        run("say({**done, 'result': {}})")


def test_what_a_run_leaves_running_is_named_and_ended(run) -> None:
    """A process that outlives its run is a leftover of it; the adapter itself is none and lives on."""
    delivery = run("subprocess.Popen(['sleep', '61'], start_new_session=True, stdout=2)", "say(done)")
    assert len(delivery.leftovers) == 1
    assert delivery.leftovers[0].startswith("sleep 61")
    adapter = next(iter(stdio._ADAPTERS.values()))
    assert len(adapter.family()) == 1


def test_what_a_run_leaves_without_a_mark_is_found_by_its_place(run) -> None:
    """A process with a session of its own and an empty environment is recognised by the run's folder that it is in."""
    start = "['/bin/sh', '-c', 'setsid -f sleep 62; exit'], env={}, cwd=request['run']['workdir']"
    delivery = run(f"subprocess.run({start}, stdout=2)", "say(done)")
    assert [left.startswith("sleep 62") for left in delivery.leftovers] == [True]
    assert len(next(iter(stdio._ADAPTERS.values())).family()) == 1


def test_a_runtime_without_runs_says_so(launcher, drive) -> None:
    """A profile that claims runs of an adapter that declares none is told what to do."""
    code = FRAME.replace('"inert", "run"', '"inert"')
    with pytest.raises(DriverError, match="declares no `run`"):
        drive(launcher(driver="stdio", adapter=(sys.executable, "-ISc", code)))


def _toy_answer(op, given, settings):
    """Answer as a Python adapter would."""
    answers = {"inert": {"body": given.get("text")}, "parse": {"config": object()}, "model": {"valid": 1}}
    if op == "notice":
        raise LookupError("nobody")
    return answers.get(op, MISSING)


def test_a_python_adapter_is_held_to_the_same() -> None:
    """In process, too: outputs are JSON of the right shape, MISSING is unsupported, an exception is an error answer."""
    profile = replace(_profile(""), driver="python", adapter=("toy_adapter:answer",))
    module = type(sys)("toy_adapter")
    module.answer = _toy_answer
    sys.modules["toy_adapter"] = module
    try:
        assert ask(profile, "inert", TEXT) == Answer(BODY)
        assert ask(profile, "team", SAMPLES["team"]) == Answer(unsupported=True)
        assert ask(profile, "notice", SAMPLES["notice"]).error == "LookupError: nobody"
        for op in ("parse", "model"):
            with pytest.raises(DriverError, match=r"not JSON|required") as caught:
                ask(profile, op, SAMPLES[op])
            assert repr(op) in caught.value.where
    finally:
        del sys.modules["toy_adapter"]


def test_a_runtime_without_an_adapter_says_so() -> None:
    """There is nothing to ask of a profile that names none."""
    with pytest.raises(DriverError, match="no adapter"):
        ask(replace(_profile(""), adapter=()), "inert", TEXT)


def test_every_sample_of_the_check_is_a_well_formed_request() -> None:
    """The built-in samples keep to the request schema, one for each operation."""
    assert [*SAMPLES] == [*messages.OPERATIONS]
    for op, given in SAMPLES.items():
        assert messages.encode({"seq": 1, "cmd": op, "input": given}).endswith(b"\n")


@pytest.mark.parametrize(
    ("start", "lines", "bad"),
    [
        ("say(started(seq))", ["say(good if cmd == 'inert' else {'seq': seq, 'ok': False, 'unsupported': True})"], {}),
        ("say(started(seq))", ["say(good)"], {"unknown": "answers 'no-such-operation' with"}),
        ("say(started(seq))", ["say({**good, 'output': {'body': '?'}})"], {"inert": "not come back", "unknown": ""}),
        ("say(started(seq))", ["sys.exit(1)"], {"inert": "gone before it answered"}),
        ("sys.exit(1)", [], {"start": "gone before it answered"}),
        ("print('Welcome!', flush=True)", [], {"start": "not JSON"}),
    ],
    ids=["good", "knows everything", "wrong encoding", "dies", "never starts", "greets"],
)  # fmt: skip
def test_the_check_says_what_to_mend(tmp_path, start, lines, bad) -> None:
    """`adapter check` finds each fault, names its step and says what to do; a good adapter passes."""
    code = FRAME.replace("say(started(seq))", start).replace('["inert", "run"]', '["inert"]')
    code += "".join(f"    {line}\n" for line in lines)
    findings = [*check((sys.executable, "-ISc", code), tmp_path)]
    assert {finding.step for finding in findings if finding.verdict == "FAIL"} == {*bad}
    assert all(said in str(finding) for step, said in bad.items() for finding in findings if finding.step == step)
    assert all(finding.fix for finding in findings if finding.verdict == "FAIL")
