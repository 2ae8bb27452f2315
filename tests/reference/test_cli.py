"""The program: its output, its exit codes, its errors; and the null runtimes, started the same way."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.reference import nulls
from pytest_agentcontract.reference.nulls import NULLS

PACKAGE = "pytest_agentcontract.reference"


@pytest.fixture
def program(model, tmp_path, pytestconfig):
    """Start a module of the reference as a program, with nothing but the model in its environment."""

    def start(*argv: str, module="cli", stdin="", env=None, timeout=20) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", f"{PACKAGE}.{module}", *argv],
            cwd=tmp_path,
            env={"PYTHONPATH": str(pytestconfig.rootpath), **(model.env if env is None else env)},
            input=stdin.encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
        )

    return start


def test_json_output_is_one_document(program, model):
    """A lone surrogate in it is printed as an escape."""
    model.reply("half \ud800 pair")
    done = program("-p", "root", "--output-format", "json")
    assert json.loads(done.stdout)["result"] == "half \ud800 pair"
    assert (done.returncode, done.stderr) == (0, b"")


def test_text_output_survives_a_lone_surrogate(program, model):
    """It is printed as an escape there, too."""
    model.reply("half \ud800 pair")
    assert program("-p", "root").stdout == b"half \\ud800 pair\n"


def test_a_failure_is_told_on_standard_error(program, model):
    """In one line, with exit code 1 and a whole document."""
    model.status(400)
    done = program("-p", "root", "--output-format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["is_error"] is True
    assert done.stderr == b"agent-contract-reference: failed: provider_error: HTTP 400: canned\n"


def test_a_conversation_is_held_on_standard_input(program, model):
    """One line each; the end of input ends it."""
    model.say("Hello.")
    model.say("Bye.")
    done = program("--interactive", stdin="root\nbye\n")
    assert (done.stdout, done.returncode) == (b"Hello.\nBye.\n", 0)


def test_a_schema_file_and_a_cap_are_options(program, model, tmp_path):
    """The value must conform, and the cap is kept."""
    (tmp_path / "schema.json").write_text('{"type": "object"}')
    model.reply("no")
    done = program("-p", "root", "--output-format", "json", "--json-schema", "schema.json", "--max-turns", "1")
    assert json.loads(done.stdout)["reason"] == "step_cap"


@pytest.mark.parametrize(
    ("argv", "written", "message"),
    [
        (["--json-schema", "absent.json"], None, "absent.json: the schema can't be read: No such file or directory"),
        (["--json-schema", "bad.json"], "{", "bad.json: the schema is no JSON: "),
        (["--json-schema", "bad.json"], "[]", "bad.json: the schema is no JSON object"),
        (["--mutant", "nobody"], None, "no mutant is called 'nobody'"),
    ],
)
def test_a_wrong_option_is_one_clear_error(program, tmp_path, argv, written, message):
    """No traceback, and exit code 2."""
    if written is not None:
        (tmp_path / "bad.json").write_text(written)
    done = program("-p", "root", *argv)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_without_a_provider_it_says_what_to_set(program):
    """The remedy names the variables."""
    done = program("-p", "root", env={})
    assert done.returncode == 2
    assert "ANTHROPIC_API_KEY" in done.stderr.decode()


def test_the_reference_loads_nothing_heavy_and_none_of_the_providers_side(program):
    """Its client side is its own, and a start is cheap."""
    code = f"import sys, {PACKAGE}.cli, {PACKAGE}.mutants; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = ("pytest_agentcontract.wire", "pytest_agentcontract.provider", "jsonschema", "click", "rich", "httptools")
    assert not [name for name in loaded if name.startswith(heavy)]


def test_the_null_runtimes_do_what_their_names_say(bench, model):
    """None of them keeps a contract; each is a success to a judge that looks at its result alone."""
    model.say("Prose.")
    model.say("Prose.")
    assert not bench.run_null("silent").document
    assert bench.run_null("echo").document["result"] == "Prose."
    assert bench.run_null("always-reply").document["result"] == "The model replied."
    assert bench.run_null("canned").exit_code == 0
    assert [sorted(model.wire.tools(body)) for body in model.requests] == [[], ["agent", "read", "reply", "touch"]]
    with pytest.raises(RuntimeError, match="always crashes"):
        bench.run_null("crash")


def test_a_null_runtime_never_fails_for_want_of_a_model(bench, model):
    """It makes something up."""
    assert bench.run_null("echo").exit_code == 0
    assert bench.run_null("always-reply", mode="text").exit_code == 0
    assert bench.printed == ["The model replied.\n"]


def test_a_null_runtime_is_a_program_too(program):
    """It takes the reference's command line after its name."""
    done = program("canned", "-p", "root", "--output-format", "json", module="nulls")
    assert json.loads(done.stdout)["subtype"] == "success"


def test_the_hanging_null_runtime_hangs(program):
    """Until somebody ends it."""
    with pytest.raises(subprocess.TimeoutExpired):
        program("hang", "-p", "root", module="nulls", timeout=1)


def test_an_unknown_null_runtime_is_a_usage_error(bench):
    """The remedy lists the known ones."""
    assert set(NULLS) == {"silent", "crash", "echo", "canned", "always-reply", "hang", "forger"}
    with pytest.raises(UsageError, match="always-reply"):
        nulls.run(bench.start())
