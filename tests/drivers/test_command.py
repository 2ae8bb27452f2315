"""A program is started in a room of its own, and whatever it does ends in one delivery or one clear error."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_agentcontract.drivers import attending, command, processes
from pytest_agentcontract.drivers.base import missing_program
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import MISSING
from pytest_agentcontract.scenario.profile import Binding

DOCUMENT = '{"result": "yes", "is_error": false}'
SAY_SO = f"print('{DOCUMENT}')"
LEAVE_A_CHILD = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-ISc", "import time; time.sleep(60)"], start_new_session=True)
{SAY_SO}
"""
TELL = "import json, os, sys; print(json.dumps({'result': dict(os.environ), 'is_error': False, 'argv': sys.argv[1:]}))"


def _nothing_left(launch: Launch) -> bool:
    return not processes.survivors(launch.nonce, -1)


def test_a_document_on_standard_output_is_delivered(program, drive, seat) -> None:
    """The value and the failure flag are read out of the document, and the seat learns of output and end."""
    delivery = drive(program(SAY_SO))
    assert (delivery.value, delivery.failed, delivery.status, delivery.problem) == ("yes", False, "success", "")
    assert (seat.text, seat.gone, delivery.leftovers) == (f"{DOCUMENT}\n", True, ())


def test_the_exit_code_and_the_flag_must_agree(program, drive) -> None:
    """A success flag beside a failing exit code is contradictory; two failures are a failure."""
    assert drive(program(f"{SAY_SO}; raise SystemExit(3)")).status == "contradictory"
    assert drive(program("print('{\"is_error\": true}'); raise SystemExit(1)")).status == "failed"


def test_the_environment_is_an_allow_list(program, drive, monkeypatch) -> None:
    """A program sees its own home, our address and the run's mark, and neither our keys nor our proxy."""
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "PYTHONPATH"):
        monkeypatch.setenv(name, "ours")
    monkeypatch.setenv("LC_TIME", "C")
    launch = program(TELL, env={"MINE": "{workdir}"}, path=("/first/of/all",))
    seen = drive(launch).value
    assert {name: seen[name] for name in ("HOME", "LC_TIME", "MINE", "MODEL_URL", "NO_PROXY")} == {
        "HOME": str(launch.home),
        "LC_TIME": "C",
        "MINE": str(launch.workdir),
        "MODEL_URL": "http://127.0.0.1:9/case/1-x/v1",
        "NO_PROXY": "127.0.0.1,localhost,::1",
    }
    assert not seen.keys() & {"OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "PYTHONPATH"}
    assert seen["PATH"].startswith("/first/of/all:")
    assert seen["PATH"].endswith(str(Path(sys.executable).parent))


@pytest.mark.parametrize(
    ("asked", "arguments"),
    [
        ({}, ["Go.", "{other}"]),
        ({"max_turns": 4}, ["Go.", "--turns", "4", "{other}"]),
        ({"schema": {"type": "string"}}, ["Go.", '--schema={"type": "string"}', "{other}"]),
    ],
)
def test_a_group_is_dropped_when_its_value_is_not_asked_for(program, drive, asked, arguments) -> None:
    """Only a run that asks for a schema or a step cap passes the option for it; foreign braces are left alone."""
    groups = ("--turns", "{max_turns}"), ("--schema={schema_json}",)
    delivery = drive(program(TELL, "{prompt}", *groups, "{other}", **asked))
    assert delivery.document["argv"] == arguments


def test_what_a_placeholder_brings_in_is_not_filled_again(program, drive) -> None:
    """A prompt that speaks of {home} reaches the program as it is."""
    assert drive(program(TELL, "{prompt}", prompt="What is {home}?")).document["argv"] == ["What is {home}?"]


def test_files_are_written_before_the_start(program, drive) -> None:
    """Files of the profile and the schema to ask for are there when the program starts; JSON braces survive."""
    code = "import json,sys; print(json.dumps({'result': [open(name).read() for name in sys.argv[1:]]}))"
    files = {"{home}/.it/settings.json": '{"url": "{base_url}", "telemetry": false}'}
    launch = program(code, "{home}/.it/settings.json", ("{schema_file}",), files=files, schema={"type": "array"})
    settings = '{"url": "http://127.0.0.1:9/case/1-x/v1", "telemetry": false}'
    assert drive(launch).value == [settings, '{"type": "array"}']


def test_a_wire_format_has_files_of_its_own(program, drive) -> None:
    """They are written beside those of the profile, for the wire format that is judged."""
    code = "import json,sys; print(json.dumps({'result': [open(name).read() for name in sys.argv[1:]]}))"
    launch = program(code, "{home}/all", "{home}/one", files={"{home}/all": "for all"})
    setup = replace(launch.profile.wires[launch.wire], files={"{home}/one": "at {base_url}"})
    one = replace(launch, profile=replace(launch.profile, wires={**launch.profile.wires, launch.wire: setup}))
    assert drive(one).value == ["for all", "at http://127.0.0.1:9/case/1-x/v1"]


def test_a_file_with_a_value_that_is_not_asked_for_is_left_out(program, drive) -> None:
    """As a group of a command line is: a step cap is written down in the runs that have one."""
    code = "import json,os,sys; print(json.dumps({'result': os.path.exists(sys.argv[1]) and open(sys.argv[1]).read()}))"
    files = {"{home}/cap": "at most {max_turns}"}
    assert drive(program(code, "{home}/cap", files=files)).value is False
    assert drive(program(code, "{home}/cap", files=files, max_turns=4)).value == "at most 4"


def test_a_return_tool_that_lives_in_a_schema_is_always_asked_for(program, drive) -> None:
    """A schema template is filled with the case's schema, or with one that allows anything."""
    template = {"type": "object", "properties": {"report": "{schema}"}}
    tools = {"return": Binding("Structured", payload="/report", schema_template=template)}
    code = "import sys; print('{\"result\":' + sys.argv[1] + '}')"
    asked = drive(program(code, ("{schema_json}",), tools=tools)).value
    assert asked == {"type": "object", "properties": {"report": {}}}
    asked = drive(program(code, ("{schema_json}",), tools=tools, schema={"type": "array"})).value
    assert asked == {"type": "object", "properties": {"report": {"type": "array"}}}


@pytest.mark.parametrize(
    ("name", "said"),
    [("no-such-program", "was not found"), ("{home}/plain", "not an executable"), ("{home}", "not an executable")],
)
def test_a_program_that_cannot_be_started_is_one_clear_error(launcher, drive, name, said) -> None:
    """A missing program and one without permission are told apart, with what to do."""
    launch = launcher(modes={"json": (name,)})
    launch.home.mkdir()
    (launch.home / "plain").write_text("#!/bin/sh\n")
    with pytest.raises(DriverError, match=said) as caught:
        drive(launch)
    assert caught.value.where == "runtime it"
    assert caught.value.remedy


def test_a_missing_program_is_told_before_anything_runs(launcher) -> None:
    """Every command is looked for, the version's too; one that depends on the run is left for later."""
    there = {"json": ("true",), "text": ("{home}/it",)}
    assert missing_program(launcher(modes=there, version=("true",)).profile) is None
    assert missing_program(launcher(driver="python", entry="a:b", adapter=("a:b",)).profile) is None
    for fields in (
        {"modes": there | {"interactive": ("no-such-thing",)}},
        {"modes": there, "version": ("no-such-thing",)},
        {"driver": "stdio", "adapter": ("no-such-thing",)},
    ):
        told = missing_program(launcher(**fields).profile)
        assert told is not None
        assert "runtime it: the program 'no-such-thing' was not found\n  Install it" in told


@pytest.mark.parametrize("first_line", ["#!/no/such/interpreter\n", "no first line at all\n"])
def test_a_program_without_an_interpreter_is_one_clear_error(launcher, drive, first_line) -> None:
    """A script whose interpreter is missing is not reported as a missing script."""
    launch = launcher(modes={"json": ("{home}/script",)})
    launch.home.mkdir()
    script = launch.home / "script"
    script.write_text(first_line)
    script.chmod(0o755)
    with pytest.raises(DriverError, match="could not be started"):
        drive(launch)


@pytest.mark.parametrize("prompt", ["a \0 in it", "a lone \ud800 in it", "x" * 3_000_000])
def test_a_prompt_that_no_command_line_can_carry_is_one_clear_error(program, drive, prompt) -> None:
    """NUL, a lone surrogate and three megabytes cannot be an argument."""
    with pytest.raises(DriverError, match="could not be started"):
        drive(program(SAY_SO, "{prompt}", prompt=prompt))


def test_a_mode_that_the_profile_lacks_is_one_clear_error(launcher, drive) -> None:
    """A case in text mode cannot be driven without a command for it."""
    with pytest.raises(DriverError, match="no command for 'text'"):
        drive(launcher(mode="text", modes={"json": ("true",)}))


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("", "standard output is empty"),
        ("print('Done.')", "not one JSON document"),
        (f"{SAY_SO}; {SAY_SO}", "not one JSON document"),
        ("print('{\"result\": NaN}')", "NaN"),
        ('print(\'{"result": 1, "result": 2}\')', "stands twice"),
        ("print('[' * 100000)", "nested too deeply"),
        ('import os; os.write(1, b\'{"result": "\\xff"}\')', "not UTF-8"),
    ],
)
def test_what_is_no_single_document_is_no_result(program, drive, code, problem) -> None:
    """Standard output that is not exactly one strict JSON document delivers nothing, and the reason."""
    delivery = drive(program(code))
    assert problem in delivery.problem
    assert (delivery.document, delivery.value, delivery.failed) == (MISSING, MISSING, None)


def test_a_lone_surrogate_in_the_result_is_kept(program, drive) -> None:
    """A value that is JSON but no Unicode text is delivered as it stands."""
    assert drive(program(r"""print('{"result": "a \\ud800 b"}')""")).value == "a \ud800 b"


def test_invalid_text_is_shown_with_replacements(program, drive, seat) -> None:
    """Text mode has no document; bytes that are no UTF-8 do not break it, also in the middle of a character."""
    delivery = drive(program("import os; os.write(1, b'a\\xffb\\xe2\\x82'); os.write(1, b'\\xac')", mode="text"))
    assert (delivery.stdout, delivery.problem, delivery.status) == ("a\ufffdb\u20ac", "", "success")
    assert seat.text == "a\ufffdb\u20ac"


def test_a_hundred_megabytes_end_the_run(program, drive) -> None:
    """A program that floods an output is ended; what fits the limit is kept."""
    flood = "import os\nfor _ in range(100): os.write({}, b'x' * 2**20)"
    for stream in (1, 2):
        delivery = drive(launch := program(flood.format(stream)))
        assert (delivery.ended, delivery.status) == ("output-limit", "unfinished")
        assert "printed more than 8 MiB" in delivery.problem
        assert max(len(delivery.stdout), len(delivery.stderr)) == 8 * 2**20
        assert _nothing_left(launch)


def test_a_run_that_never_ends_is_ended(program, drive, seat) -> None:
    """At the time limit a program is told to stop; one that does is gone at once, its output kept."""
    delivery = drive(program(f"{SAY_SO[:-1]}, flush=True); import time; time.sleep(60)", timeout=1))
    assert (delivery.ended, delivery.exit_code, delivery.status) == ("time-limit", -signal.SIGTERM, "unfinished")
    assert (delivery.value, seat.gone) == ("yes", True)


def test_a_program_that_ignores_the_request_to_stop_is_killed(program, drive) -> None:
    """Neither the program nor its child outlives the run, and none of them counts as left behind by it."""
    code = f"import signal; signal.signal(15, signal.SIG_IGN){LEAVE_A_CHILD}\nimport time; time.sleep(60)"
    delivery = drive(launch := program(code, timeout=1))
    assert (delivery.ended, delivery.exit_code, delivery.leftovers) == ("time-limit", -signal.SIGKILL, ())
    assert _nothing_left(launch)


def test_a_child_with_a_session_of_its_own_is_found_and_named(program, drive) -> None:
    """A descendant that left the group and holds standard output open neither hangs the run nor outlives it."""
    delivery = drive(launch := program(LEAVE_A_CHILD))
    assert delivery.value == "yes"
    assert [("sleep(60)" in left, "pid" in left) for left in delivery.leftovers] == [(True, True)]
    assert delivery.returned_at < delivery.seconds < 2
    assert _nothing_left(launch)


@pytest.mark.parametrize(
    "place", ["", "os.chdir(os.environ['HOME']); ", "os.mkdir('in'); os.chdir('in'); os.rmdir('../in'); "]
)
def test_a_child_without_mark_is_found_by_its_place(program, drive, place) -> None:
    """A descendant with an empty environment that works in the run's folders, also a removed one, is found."""
    code = LEAVE_A_CHILD.replace("start_new", "env={}, start_new").replace("\nsub", f"\nimport os; {place}sub")
    delivery = drive(launch := program(code))
    assert ["sleep(60)" in left for left in delivery.leftovers] == [True]
    assert not processes.survivors(launch.nonce, -1, launch.folders)


def test_a_child_that_leaves_by_itself_is_not_left_behind(program, drive, monkeypatch) -> None:
    """A descendant gets a moment to go."""
    monkeypatch.setattr(attending, "_TO_LEAVE", 10.0)
    assert drive(program(LEAVE_A_CHILD.replace("sleep(60)", "sleep(0.05)"))).leftovers == ()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_death_by_signal_is_a_crash(program, drive, number) -> None:
    """A program that a signal ends has crashed, whatever it printed before."""
    code = f"import os, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); {SAY_SO[:-1]}, flush=True)"
    delivery = drive(program(f"{code}; os.kill(os.getpid(), {number})"))
    assert (delivery.ended, delivery.exit_code, delivery.status) == ("crashed", -number, "contradictory")


def test_a_conversation_is_fed_line_by_line(program, drive) -> None:
    """Each line arrives when the one before was answered, then standard input ends."""
    code = "import sys\nfor line in sys.stdin: print('heard', line.strip(), flush=True)\nprint('bye')"
    delivery = drive(program(code, mode="interactive", lines=("one", "two")))
    assert (delivery.stdout, delivery.status) == ("heard one\nheard two\nbye\n", "success")


def test_a_line_waits_for_the_turns_before_it(program, drive, seat) -> None:
    """While the root's turns are outstanding, the next line is not sent."""
    seat.delivered = 0
    code = "import sys\nfor line in sys.stdin: print(line.strip(), flush=True)"
    delivery = drive(program(code, mode="interactive", lines=("one", "two"), timeout=1))
    assert (delivery.stdout, delivery.ended, set(seat.asked)) == ("one\n", "time-limit", {"root"})


def test_a_standard_input_that_nobody_reads_hangs_nothing(program, drive) -> None:
    """A huge line fills the pipe: output is still read, and the time limit still holds."""
    code = "import sys, time; print('x' * 2**20, flush=True); time.sleep(60)"
    delivery = drive(program(code, mode="interactive", lines=("x" * 2**24,), timeout=0.5))
    assert (delivery.ended, len(delivery.stdout)) == ("time-limit", 2**20 + 1)


def test_a_closed_standard_input_hangs_nothing(program, drive) -> None:
    """A program may end, or close its input, in the middle of a line."""
    for code in ("", "import os, time; os.close(0); time.sleep(0.05)"):
        assert drive(program(code, mode="interactive", lines=("x" * 2**24, "y"))).status == "success"


def test_a_huge_line_arrives_whole(program, drive) -> None:
    """A line of sixteen megabytes goes through the pipe piece by piece."""
    code = "import sys; print(len(sys.stdin.readline()))"
    assert drive(program(code, mode="interactive", lines=("x" * 2**24,))).stdout == f"{2**24 + 1}\n"


def test_headless_programs_have_an_empty_standard_input(program, drive) -> None:
    """A program that reads where nobody writes is at its end at once."""
    assert drive(program("import sys; print('{\"result\": %d}' % len(sys.stdin.read()))")).value == 0


def test_a_standard_input_that_is_left_open_says_nothing(program, drive) -> None:
    """Who reads it waits until he is ended; who does not ends as ever, and the pipe is given back."""
    reads = drive(program("import sys; print('on', flush=True); sys.stdin.readline()", timeout=0.5, open_stdin=True))
    assert (reads.ended, reads.stdout) == ("time-limit", "on\n")
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert drive(program(SAY_SO, open_stdin=True)).status == "success"
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_no_pipe_is_left_open(program, drive) -> None:
    """A run gives back every file descriptor, also one whose child kept the pipes open."""
    drive(program(SAY_SO))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for code in (SAY_SO, LEAVE_A_CHILD):
        drive(program(code))
    drive(program(SAY_SO, mode="interactive", lines=("x",)))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_an_interrupt_leaves_nothing_running(program, drive, monkeypatch) -> None:
    """Ctrl-C in the middle of a run ends the program before it goes on."""
    launch = program("import time; time.sleep(60)")
    monkeypatch.setattr(attending, "_attend", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        drive(launch)
    assert _nothing_left(launch)


def _interrupted(*_: object) -> str:
    raise KeyboardInterrupt


def test_a_version_on_standard_error_is_read_too(launcher) -> None:
    """Where standard output is empty: some programs print it there alone."""
    version = (sys.executable, "-ISc", "import sys; print('it 1.2\\nmore', file=sys.stderr)")
    assert command.version(launcher(version=version).profile) == "it 1.2"


def test_the_version_is_what_its_command_prints_first(launcher) -> None:
    """A version command's first line is the version; a profile without one has none; a failing one is an error."""
    version = (sys.executable, "-ISc", "print('it 1.2'); print('more')")
    assert command.version(launcher(version=version).profile) == "it 1.2"
    beside = (sys.executable, "-ISc", "import sys; print('it 1.2'); print('a warning', file=sys.stderr)")
    assert command.version(launcher(version=beside).profile) == "it 1.2"
    assert command.version(launcher().profile) == ""
    with pytest.raises(DriverError, match="version command failed"):
        command.version(launcher(version=("false",)).profile)


def test_a_process_that_cannot_be_recognised_holds_nothing_up(program, drive) -> None:
    """A descendant without session, mark and place keeps its pipes, but the run ends and its result counts."""
    code = LEAVE_A_CHILD.replace("sleep(60)", "sleep(6)").replace("start_new", "env={}, cwd='/', start_new")
    delivery = drive(program(code))
    assert (delivery.value, delivery.leftovers) == ("yes", ())
    assert delivery.seconds < 5
