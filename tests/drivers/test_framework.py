"""A framework's recipe is loaded once and forked for each run; whatever it does ends in one delivery or one error."""

from __future__ import annotations

import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_agentcontract.drivers import framework, framework_process, processes
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import MISSING

SAY = "def run(start):\n    return {'result': start.prompt}\n"


@pytest.fixture(autouse=True)
def _ended():
    """End every framework's process behind each test."""
    yield
    framework.stop_all()


@pytest.fixture
def recipe(launcher, tmp_path):
    """Return a function that makes a run of a recipe of these lines, in this interpreter."""

    def launch(code, *, name="recipe", **keywords):
        path = tmp_path / f"{name}.py"
        path.write_text(code, "utf-8")
        return launcher(driver="framework", entry=f"{path}:run", python=sys.executable, **keywords)

    return launch


def test_what_the_recipe_returns_is_the_document(recipe, drive, seat):
    """It comes over a file descriptor: what a framework prints is its standard output, and no part of it."""
    delivery = drive(
        recipe("def run(start):\n    print('a log line')\n    return {'result': [start.prompt, 1.5, None]}\n")
    )
    assert (delivery.value, delivery.failed, delivery.status) == (["Go.", 1.5, None], False, "success")
    assert (delivery.stdout, seat.text, seat.gone) == ("a log line\n", "a log line\n", True)


def test_what_the_recipe_raises_is_a_failure(recipe, drive):
    """Told by type and words, with the traceback on standard error."""
    delivery = drive(recipe("def run(start):\n    raise ValueError('no')\n"))
    assert delivery.document == {"result": None, "is_error": True, "error": "ValueError: no"}
    assert (delivery.status, delivery.exit_code) == ("failed", 1)
    assert "in run\n" in delivery.stderr


def test_it_is_loaded_once_and_no_run_sees_another(recipe, drive, tmp_path):
    """Loading costs seconds; what one run changes is gone in the next."""
    code = (
        f"open({str(tmp_path / 'loaded')!r}, 'a').write('x')\nseen = []\n"
        "def run(start):\n    seen.append(start.prompt)\n    return {'result': list(seen)}\n"
    )
    assert [drive(recipe(code)).value for _ in range(3)] == [["Go."]] * 3
    assert (tmp_path / "loaded").read_text("utf-8") == "x"


def test_a_run_has_its_own_room(recipe, drive, monkeypatch):
    """Its own home, folder and environment, as a command has: an allow-list, and what the profile sets."""
    monkeypatch.setenv("OPENAI_API_KEY", "ours")
    own = "'cwd': os.getcwd(), 'env': start.env, 'pid': os.getpid(), 'session': os.getsid(0)"
    code = f"import os\ndef run(start):\n    return {{'result': {{**os.environ, {own}}}}}\n"
    launch = recipe(code, env={"MINE": "{workdir}"}, settings={"how": "best"})
    seen = drive(launch).value
    assert (seen["HOME"], seen["cwd"], seen["MINE"]) == (str(launch.home), str(launch.workdir), str(launch.workdir))
    assert seen["MODEL_URL"] == seen["env"]["MODEL_URL"] == "http://127.0.0.1:9/case/1-x/v1"
    assert "OPENAI_API_KEY" not in seen
    assert seen["session"] == seen["pid"], "a session of its own"


def test_it_is_told_what_is_asked_for(recipe, drive):
    """Schema, step cap, mode and settings."""
    code = "def run(start):\n    return {'result': [start.mode, start.schema, start.max_turns, start.settings]}\n"
    asked = {"schema": {"type": "array"}, "max_turns": 4, "settings": {"how": "best"}}
    assert drive(recipe(code, **asked)).value == ["json", {"type": "array"}, 4, {"how": "best"}]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("return 'text'", "the recipe returned str, not a dict"),
        ("return {'result': {1, 2}}", "is no JSON: TypeError"),
        ("return {'result': float('nan')}", "is no JSON: ValueError"),
        ("return {'result': (1, 2)}", "is no plain JSON"),
        ("return {'result': {1: 2}}", "is no plain JSON"),
        ("raise SystemExit(0)", "raised SystemExit"),
        ("import os; os._exit(0)", "ended the process before the recipe returned"),
        ("import os; os.closerange(3, 4096); return {'result': 1}", "ended the process before the recipe returned"),
    ],
)
def test_what_is_no_result_is_told_as_that(recipe, drive, body, problem):
    """Nothing is made to fit: a value that JSON would change is no result."""
    delivery = drive(recipe(f"def run(start):\n    {body}\n"))
    assert delivery.value is MISSING
    assert problem in delivery.problem


def test_a_death_by_signal_is_a_crash(recipe, drive):
    """And the next run finds all in order."""
    kill = "import os, signal\ndef run(start):\n    start.prompt == 'die' and os.kill(os.getpid(), signal.SIGSEGV)\n"
    code = f"{kill}    return {{'result': 'alive'}}\n"
    delivery = drive(recipe(code, prompt="die"))
    assert (delivery.ended, delivery.exit_code) == ("crashed", -signal.SIGSEGV)
    assert drive(recipe(code)).value == "alive"


def test_a_run_that_hangs_is_ended_at_its_limit(recipe, drive):
    """With all that it has started; the loaded recipe lives on."""
    code = (
        "import subprocess, sys, time\ndef run(start):\n"
        "    subprocess.Popen([sys.executable, '-ISc', 'import time; time.sleep(60)'], start_new_session=True)\n"
        "    time.sleep(60)\n"
    )
    launch = recipe(code, timeout=0.7)
    assert drive(launch).ended == "time-limit"
    assert not processes.survivors(launch.nonce, -1, launch.folders)


def test_threads_that_are_left_do_not_hold_the_run_up(recipe, drive):
    """The result counts when it is returned: a framework's own threads end with the run."""
    code = (
        "import threading, time\ndef run(start):\n"
        "    threading.Thread(target=time.sleep, args=(60,)).start()\n    return {'result': 1}\n"
    )
    delivery = drive(recipe(code))
    assert (delivery.value, delivery.ended) == (1, "exited")
    assert delivery.seconds < 10


def test_a_flood_of_output_is_ended(recipe, drive):
    """As that of a command is."""
    assert drive(recipe("def run(start):\n    while True: print('x' * 65536)\n")).ended == "output-limit"


def test_a_result_without_measure_is_an_excess(recipe, drive):
    """What is more than a program may print is more than a recipe may return."""
    assert drive(recipe("def run(start):\n    return {'result': 'x' * 9_000_000}\n")).ended == "output-limit"


def test_text_mode_is_what_is_printed(recipe, drive):
    """There is no document then."""
    delivery = drive(recipe("def run(start):\n    print('as it comes', end='')\n    return {}\n", mode="text"))
    assert (delivery.stdout, delivery.document) == ("as it comes", MISSING)


def test_two_runs_at_once_are_two(recipe, drive, tmp_path):
    """Each waits for the other one's file: in turn they would never end."""
    code = (
        "import pathlib, time\ndef run(start):\n"
        f"    place = pathlib.Path({str(tmp_path)!r})\n    (place / start.prompt).touch()\n"
        "    while len(list(place.glob('side-*'))) < 2: time.sleep(0.01)\n    return {'result': start.prompt}\n"
    )
    launches, found = [recipe(code, prompt=f"side-{number}") for number in range(2)], []
    threads = [threading.Thread(target=lambda one=one: found.append(drive(one).value)) for one in launches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(found) == ["side-0", "side-1"]


def test_a_recipe_may_forbid_the_fork(recipe, drive, tmp_path):
    """Then each run has an interpreter of its own."""
    code = f"FORK = False\nopen({str(tmp_path / 'loaded')!r}, 'a').write('x')\n{SAY}"
    assert [drive(recipe(code)).value for _ in range(2)] == ["Go.", "Go."]
    assert (tmp_path / "loaded").read_text("utf-8") == "xx"


def test_where_a_fork_fails_a_run_has_an_interpreter_of_its_own(recipe, drive, tmp_path):
    """The machine may have no process left to copy, and then one to start."""
    code = (
        f"import os\nopen({str(tmp_path / 'loaded')!r}, 'a').write('x')\n"
        f"def fork(): raise OSError('no more')\nos.fork = fork\n{SAY}"
    )
    assert drive(recipe(code)).value == "Go."
    assert (tmp_path / "loaded").read_text("utf-8") == "xx"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import no_such_framework\n", "No module named 'no_such_framework'"),
        ("1 / 0\n", "ZeroDivisionError"),
        ("def ran(start): pass\n", "run"),
        ("import os; os._exit(3)\n", "ended the interpreter while it was loaded"),
        ("def run(:\n", "SyntaxError"),
    ],
)
def test_a_recipe_that_cannot_be_loaded_is_one_clear_error(recipe, drive, code, words):
    """It names the recipe, and is not tried again for each case."""
    for _ in range(2):
        with pytest.raises(DriverError, match="recipe") as caught:
            drive(recipe(code))
        assert words in str(caught.value)
        assert "recipe.py" in caught.value.where


def test_a_recipe_that_is_never_loaded_has_a_limit(recipe, drive, monkeypatch):
    """Of its own: loading costs no case its time."""
    monkeypatch.setattr(framework_process, "TO_LOAD", 0.5)
    with pytest.raises(DriverError, match="was not loaded in"):
        drive(recipe("import time; time.sleep(60)\n"))


def test_an_interpreter_that_is_not_there_is_told(recipe, drive, tmp_path):
    """With what was looked for."""
    launch = recipe(SAY)
    gone = launch.profile.__class__(**{**_fields(launch.profile), "python": str(tmp_path / "venv/bin/python")})
    with pytest.raises(DriverError, match="was not found"):
        drive(launch.__class__(**{**_fields(launch), "profile": gone}))


def test_a_loaded_recipe_that_dies_is_loaded_again(recipe, drive):
    """The run that it died in is told; the next one finds a new one."""
    code = "import os, signal\ndef run(start):\n    os.kill(os.getppid(), signal.SIGKILL)\n    return {'result': 1}\n"
    drive(recipe(code))
    assert drive(recipe(SAY)).value == "Go."


def _fields(value):
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def test_its_own_folder_and_ours_are_no_places_for_modules(recipe, drive, tmp_path):
    """A file beside the recipe must not stand in for a module of the framework's, nor must this suite."""
    (tmp_path / "json5.py").write_text("", "utf-8")
    code = (
        "import importlib.util, sys\ndef run(start):\n"
        "    return {'result': [importlib.util.find_spec('json5') is None, sys.path]}\n"
    )
    alone, path = drive(recipe(code)).value
    assert alone
    assert str(Path(framework.__file__).parent) not in path


STRAY = """
import os, time
def run(start):
    if not os.fork():
        os.setsid()
        if not os.fork():
            os.chdir("/")
            os.closerange(0, 3)
            with open(start.prompt + ".new", "w") as file: file.write(str(os.getpid()))
            os.rename(start.prompt + ".new", start.prompt)
            time.sleep(60)
        os._exit(0)
    while not os.path.exists(start.prompt): time.sleep(0.01)
    return {"result": 1}
"""


def test_a_process_that_only_forked_its_way_out_is_named_and_ended(recipe, drive, tmp_path):
    """Nobody's child, in another session and folder, with the environment of the process that the recipe lies in."""
    mark = tmp_path / "pid"
    delivery = drive(recipe(STRAY, prompt=str(mark)))
    pid = int(mark.read_text())
    assert [named for named in delivery.leftovers if named.endswith(f"(pid {pid})")]
    assert not processes._alive(pid)


def test_long_requests_at_once_are_not_mixed(recipe, drive):
    """Each is more than a socket holds."""
    code = "def run(start):\n    return {'result': len(start.prompt)}\n"
    sizes = range(300_000, 300_012)
    launches = [recipe(code, prompt="x" * size) for size in sizes]
    with ThreadPoolExecutor(len(launches)) as pool:
        assert [delivery.value for delivery in pool.map(drive, launches)] == [*sizes]
