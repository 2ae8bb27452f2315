"""A profile is read strictly: what a user gets wrong is named with file and place, and the shipped ones are right."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib

import pytest

from pytest_agentcontract import resources
from pytest_agentcontract.errors import ProfileError
from pytest_agentcontract.jsonvalue import MISSING, as_list, as_object, loads, point
from pytest_agentcontract.scenario import load_profile
from pytest_agentcontract.scenario.profile import CAPABILITIES, Binding, Limits, ResultRule, SideCall, WireSetup
from pytest_agentcontract.wire.formats import FORMATS

GOOD = """
requirements = "2026.1"
snapshots = "tests/pinned"
[runtimes.mine]
driver = "command"
modes.json = ["bin/mine", "-p", "{prompt}", ["--schema", "{schema_json}"], ["--turns={max_turns}"]]
modes.interactive = ["mine", "--chat"]
wires.anthropic-messages = {env = {URL = "{base_url}"}, suffix = "/v1"}
tools.return = {name = "reply", payload = "/value", schema_template = {properties = {report = "{schema}"}}}
tools.work = {name = "sh", arguments = {code = ["{{ x }} ${y} {z}", "touch {mark}"]}}
tools.spawn = {name = "task", arguments = {prompt = "{child_prompt}"}}
limits = {steps = 9}
result = {from = "file", file = "{workdir}/out", failed = "/e", exit_ok = [0, 2], fields = {a = "/b"}}
files = {"{home}/.mine/rc" = '{"a": {unknown} }'}
env = {MINE = "{nonce}"}
path = ["tools", "/opt/x/../bin", "~nobody-of-that-name/bin"]
attribution = "model"
agents = {root = "big", child = "small"}
side_calls = [{answer = "A title", tools = "none", system_contains = "title"}]
tool_error = "^Error"
timeout = 5
version = ["./mine", "--version"]
capabilities = ["headless", "interactive", "root-return", "sub-agents"]
"""
COMMAND = """
[runtimes.mine]
driver = "command"
modes.json = ["mine", "{prompt}"]
wires.openai-chat = {env = {URL = "{base_url}"}}
tools.work = {name = "sh", arguments = {code = "touch {mark}"}}
capabilities = ["headless"]
"""
STDIO = """
[runtimes.mine]
driver = "stdio"
adapter = ["bin/adapter", "serve"]
capabilities = ["handoff"]
"""
HANDOFF = '["mine", "{workflow}", "{thread}", "{event}"]'
PYTHON = COMMAND.replace('"command"', '"python"').replace('modes.json = ["mine", "{prompt}"]', 'entry = "a.b:run"')


SPELT = 'tools.return = {name = "sh", arguments = {code = "say {payload_in_shell}"}}'
AWAIT = """tools.spawn = {name = "task", arguments = {prompt = "{child_prompt}"}}
tools.await = {captures = {id = "%s"}, name = "wait", arguments = {who = "%s"}}
tools.work"""
LIMIT = 'timeout_env = {T = "%s"}'


@pytest.fixture
def load(tmp_path):
    """Return a function that writes an agent-contract.toml and reads it."""

    def read(text):
        path = tmp_path / "agent-contract.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_profile.load_config(path)

    return read


def test_everything_that_can_be_said_is_read(load, tmp_path) -> None:
    """Each key of a runtime ends in the value that stands for it; programs and folders are found beside the file."""
    config = load(GOOD)
    profile = config.profiles["mine"]
    program = str(tmp_path / "bin/mine")
    assert (config.requirements, config.snapshots) == ("2026.1", tmp_path / "tests/pinned")
    assert profile.modes == {
        "json": (program, "-p", "{prompt}", ("--schema", "{schema_json}"), ("--turns={max_turns}",)),
        "interactive": ("mine", "--chat"),
    }
    assert profile.wires == {"anthropic-messages": WireSetup({"URL": "{base_url}"}, "/v1")}
    assert profile.tools["return"] == Binding("reply", {}, "/value", {"properties": {"report": "{schema}"}})
    assert profile.tools["spawn"] == Binding("task", {"prompt": "{child_prompt}"}, "", MISSING)
    assert profile.limits == Limits(9, None)
    assert profile.result == ResultRule(
        "file", failed="/e", exit_ok=(0, 2), fields={"a": "/b"}, file="{workdir}/out"
    )  # fmt: skip
    assert profile.path == (str(tmp_path / "tools"), "/opt/bin", str(tmp_path / "~nobody-of-that-name/bin"))
    assert (profile.attribution, profile.agents) == ("model", {"root": "big", "child": "small"})
    assert profile.side_calls == (SideCall("A title", "none", "title"),)
    assert (profile.timeout, profile.version) == (5.0, (str(tmp_path / "mine"), "--version"))
    assert (profile.tool_error, profile.env, len(profile.digest)) == ("^Error", {"MINE": "{nonce}"}, 64)
    assert profile.capabilities == {"headless", "interactive", "root-return", "sub-agents"}


def test_a_time_limit_is_read(load) -> None:
    """It stands apart from `env`, for it is set in some runs alone."""
    profile = load(COMMAND.replace('driver = "command"', 'driver = "command"\n' + LIMIT % "{milliseconds}"))
    assert profile.profiles["mine"].timeout_env == {"T": "{milliseconds}"}
    assert profile.profiles["mine"].env == {}


def test_little_has_to_be_said(load) -> None:
    """A program or a function, a wire format, the work tool and the capabilities are enough."""
    assert load(COMMAND).profiles["mine"].result == ResultRule()
    assert load(PYTHON).profiles["mine"].entry == "a.b:run"
    assert load(COMMAND).snapshots is None


def test_several_runtimes_keep_their_order(load) -> None:
    """Runtimes are judged in the order in which they stand."""
    assert list(load(COMMAND + COMMAND.replace("mine", "another")).profiles) == ["mine", "another"]


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        ("capabilities", "capabilites", "runtimes.mine", "did you mean 'capabilities'?"),
        ('"headless"', '"headles"', "runtimes.mine.capabilities[0]", "'headles' is not one of"),
        ('"headless"', '"headless", "headless"', "runtimes.mine.capabilities", "non-unique"),
        ('"headless"', "", "runtimes.mine.capabilities", "[] has too few entries"),
        ('"headless"', '"headless", "text"', "runtimes.mine.capabilities[1]", "needs modes.text"),
        ('"headless"', '"root-return"', "runtimes.mine.capabilities[0]", "needs tools.return"),
        ('"headless"', '"sub-agents"', "runtimes.mine.capabilities[0]", "needs tools.spawn"),
        ('modes.json = ["mine", "{prompt}"]', "", "runtimes.mine", "'modes' is a required property"),
        ('modes.json = ["mine", "{prompt}"]', "modes = {}", "runtimes.mine.modes", "{} has too few keys"),
        ('["mine", "{prompt}"]', '"mine {prompt}"', "runtimes.mine.modes.json", "is not of type 'array'"),
        ('["mine", "{prompt}"]', '[["mine"], "{prompt}"]', "runtimes.mine.modes.json[0]", "is not of type 'string'"),
        ('["mine", "{prompt}"]', '["mine", [["{prompt}"]]]', "runtimes.mine.modes.json[1][0]", "'string'"),
        ('["mine", "{prompt}"]', '["mine", 1, "{prompt}"]', "runtimes.mine.modes.json[1]", "is not of type"),
        ('["mine", "{prompt}"]', '["mine"]', "runtimes.mine.modes.json", "holds no {prompt}"),
        ("{prompt}", "{promt} {prompt}", "runtimes.mine.modes.json[1]", "did you mean {prompt}?"),
        ("{prompt}", "{prompt} {mark}", "runtimes.mine.modes.json[1]", "{mark} means nothing here"),
        ('"{prompt}"', '"{prompt}", "{max_turns}"', "runtimes.mine.modes.json[2]", "group it"),
        ("{prompt}", "{prompt} {event}", "runtimes.mine.modes.json[1]", "{event} means nothing here"),
        ("{prompt}", "{prompt} {seconds}", "runtimes.mine.modes.json[1]", "unknown placeholder {seconds}"),
        ('driver = "command"', f'driver = "command"\n{LIMIT % "5"}', "runtimes.mine.timeout_env", "it would set no"),
        ('driver = "command"', f'driver = "command"\n{LIMIT % "{minutes}"}', "mine.timeout_env.T", "{minutes}; known"),
        ('"headless"', '"handoff"', "runtimes.mine.capabilities[0]", "needs modes.handoff"),
        ("modes.json", "modes.handoff", "runtimes.mine.modes.handoff[1]", "{prompt} means nothing here"),
        ('modes.json = ["mine", "{prompt}"]', f"modes.handoff = {HANDOFF}", "modes.handoff[3]", "group it"),
        (
            'modes.json = ["mine", "{prompt}"]',
            'modes.handoff = ["mine", "{workflow} {thread}"]',
            "modes.handoff",
            "holds no {event}",
        ),
        ("{mark}", "it", "runtimes.mine.tools.work.arguments", "holds no {mark}"),
        ("touch {mark}", "{prompt} {mark}", "runtimes.mine.tools.work.arguments.code", "{prompt} means nothing here"),
        ("tools.work", "tools.wrok", "runtimes.mine.tools", "'work'"),
        ('"{base_url}"', '"http://127.0.0.1"', "runtimes.mine.wires.openai-chat.env", "holds no {base_url}"),
        ('"{base_url}"', '"{base_urI}{base_url}"', "runtimes.mine.wires.openai-chat.env", ""),
        ('"{base_url}"', "1", "runtimes.mine.wires.openai-chat.env.URL", "1 is not of type 'string'"),
        ("openai-chat", "openai-chats", "runtimes.mine.wires", "did you mean 'openai-chat'?"),
        ('driver = "command"', 'driver = "docker"', "runtimes.mine.driver", "'docker' is not one of"),
        ('driver = "command"', 'driver = "python"', "runtimes.mine", "'entry' is a required property"),
        ('driver = "command"', 'driver = "command"\nentry = "x"', "runtimes.mine.entry", "does not match"),
        ('driver = "command"', 'driver = "command"\nadapter = ["x"]', "runtimes.mine.adapter", "has none"),
        ('driver = "command"', 'driver = "stdio"', "runtimes.mine", "'adapter' is a required property"),
        ('driver = "command"', 'driver = "stdio"\nadapter = "a:b"', "runtimes.mine.adapter", "not of type 'array'"),
        ('driver = "command"', 'driver = "stdio"\nadapter = []', "runtimes.mine.adapter", "[] has too few entries"),
        ('driver = "command"', 'driver = "command"\ntimeout = 0', "runtimes.mine.timeout", "0"),
        ('driver = "command"', 'driver = "command"\ntimeout = nan', "", "not usable TOML: the value nan"),
        ('driver = "command"', 'driver = "command"\nenv.A = 2026-01-01', "", "not usable TOML: the value 2026-01-01"),
        (
            'driver = "command"',
            'driver = "command"\ntool_error = "("',
            "runtimes.mine.tool_error",
            "regular expression",
        ),
        ('driver = "command"', 'driver = "command"\nfailure = "(failed)?"', "runtimes.mine.failure", "every text"),
        ('driver = "command"', 'driver = "command"\ntool_error = "^"', "runtimes.mine.tool_error", "every text"),
        ('driver = "command"', 'driver = "command"\nresult.value = "result"', "runtimes.mine.result.value", "match"),
        (
            'driver = "command"',
            'driver = "command"\nresult.from = "file"',
            "runtimes.mine.result",
            "'file' is a required",
        ),
        (
            'driver = "command"',
            'driver = "command"\nresult.parts.end.from = "file-text"',
            "runtimes.mine.result.parts.end",
            "'file' is a required",
        ),
        (
            'driver = "command"',
            'driver = "command"\nresult = {from = "stdout-json", parts = {end = {from = "stdout-json"}}}',
            "runtimes.mine.result.from",
            "each of result.parts",
        ),
        ("touch {mark}", "touch {mark} {payload}", "mine.tools.work.arguments.code", "{payload} means nothing here"),
        ("tools.work", f"{SPELT[:-1]}, payload = ''}}\ntools.work", "mine.tools.return.payload", "leave one out"),
        ("tools.work", 'tools.await.name = "wait"\ntools.work', "runtimes.mine.tools.await", "without tools.spawn"),
        ("tools.work", AWAIT % ("[a-z]+", "{id}"), "runtimes.mine.tools.await.captures.id", "holds no group"),
        ("tools.work", AWAIT % ("(", "{id}"), "runtimes.mine.tools.await.captures.id", "not a regular expression"),
        ("tools.work", AWAIT % ("(x)", "id"), "runtimes.mine.tools.await.captures.id", "arguments holds no {id}"),
        ("tools.work", (AWAIT % ("(x)", "{nonce}")).replace("id =", "nonce ="), "captures.nonce", "another name"),
        ('driver = "command"', 'driver = "command"\nattribution = "model"', "runtimes.mine", "'agents' is a required"),
        ('driver = "command"', 'driver = "command"\nside_calls = [{answer = ""}]', "runtimes.mine.side_calls[0]", ""),
        ('driver = "command"', 'driver = "command"\nfiles."../x" = ""', "runtimes.mine.files", "'../x'"),
        ('driver = "command"', 'driver = "command"\nfiles."{home}/../x" = ""', "runtimes.mine.files", "../x"),
        ("[runtimes.mine]", "[runtimes.reference]", "runtimes.reference", "is reserved"),
        ("[runtimes.mine]", "[runtimes.reference-mine]", "runtimes.reference-mine", "is reserved"),
        ("[runtimes.mine]", '[runtimes."mutant:x"]', "runtimes.mutant:x", "is reserved"),
        ("[runtimes.mine]", '[runtimes."null:x"]', "runtimes.null:x", "is reserved"),
        ("[runtimes.mine]", '[runtimes."my agent"]', "runtimes", "'my agent'"),
        ("[runtimes.mine]", "requirement = 1\n[runtimes.mine]", "", "did you mean 'requirements'?"),
        ("[runtimes.mine]", "[runtimes.mine]\n[runtimes.mine]", "", "Cannot declare"),
        ("[runtimes.mine]", "[runtimes.mine", "", "not usable TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(load, tmp_path, old, new, place, said) -> None:
    """One clear error: the file, the place in it, what is wrong there, where to read on."""
    assert old in COMMAND
    with pytest.raises(ProfileError) as caught:
        load(COMMAND.replace(old, new))
    assert caught.value.where.startswith(str(tmp_path / "agent-contract.toml"))
    assert place in caught.value.where
    assert said in caught.value.what
    assert caught.value.remedy


def test_a_returned_value_may_stand_in_a_text(load) -> None:
    """The tool then has no pointer to it."""
    bound = load(COMMAND.replace("tools.work", f"{SPELT}\ntools.work")).profiles["mine"].tools["return"]
    assert bound == Binding("sh", {"code": "say {payload_in_shell}"})
    assert bound.spells


@pytest.mark.parametrize(
    ("word", "taken"),
    [
        ("./agent.py", "{folder}/agent.py"),
        ("../agent.mjs", "{folder}/../agent.mjs"),
        ("./run '{prompt}' http://a/../b", "{folder}/run '{prompt}' http://a/../b"),
        ("agent.py", "agent.py"),
        (".hidden/agent.py", ".hidden/agent.py"),
        ("--file=./a", "--file=./a"),
    ],
)
def test_an_argument_that_says_it_is_relative_is_beside_the_file(load, tmp_path, word, taken) -> None:
    """A script that an interpreter is to run is named as a program is, also in a group and in the version's command."""
    argv = f'["python3", "{word}", ["{word}", "{{schema_file}}"], "{{prompt}}"]'
    text = COMMAND.replace('["mine", "{prompt}"]', f'{argv}\nversion = ["python3", "{word}"]')
    profile, found = load(text).profiles["mine"], taken.replace("{folder}", str(tmp_path))
    assert profile.modes["json"] == ("python3", found, (found, "{schema_file}"), "{prompt}")
    assert profile.version == ("python3", found)


def test_an_adapter_is_started_where_its_file_stands(load, tmp_path) -> None:
    """A relative program is looked for beside the file, and so is what else its command line names."""
    profile = load(STDIO).profiles["mine"]
    assert (profile.adapter, profile.folder) == ((f"{tmp_path}/bin/adapter", "serve"), str(tmp_path))


def test_an_adapter_alone_needs_no_wire_and_no_tools(load) -> None:
    """Who claims the hand-off contract only is never run against a model; any other claim needs both."""
    profile = load(STDIO).profiles["mine"]
    assert (profile.wires, profile.tools) == ({}, {})
    with pytest.raises(ProfileError, match="'wires' is a required property"):
        load(STDIO.replace('"handoff"', '"handoff", "headless"'))


def test_a_python_adapter_is_a_function(load) -> None:
    """In process it is named as the entry is."""
    text = PYTHON.replace('entry = "a.b:run"', 'entry = "a.b:run"\nadapter = "a.b:answer"')
    assert load(text).profiles["mine"].adapter == ("a.b:answer",)


@pytest.mark.parametrize(
    "content", [b"", b"runtimes = 1", b"runtimes = {}", b"[[runtimes]]", b"\xff\xfe", b"a = " + b"[" * 9999]
)
def test_a_file_that_is_no_configuration_is_one_clear_error(load, content) -> None:
    """Nothing in it, something else in it, another encoding, nonsense: never a traceback."""
    with pytest.raises(ProfileError):
        load(content)


def test_a_file_that_is_not_there_is_one_clear_error(tmp_path) -> None:
    """A missing file and a folder are named."""
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ProfileError) as caught:
            load_profile.load_config(path)
        assert caught.value.where == str(path)


def test_a_program_may_hand_over_the_same_tables(monkeypatch, tmp_path) -> None:
    """Tables from a hook are held to the same schema; relative paths are taken from the current folder."""
    monkeypatch.chdir(tmp_path)
    table = tomllib.loads(COMMAND)["runtimes"]["mine"] | {"path": ("bin",)}
    assert load_profile.load_tables({"mine": table}, "the hook")["mine"].path == (str(tmp_path / "bin"),)
    for wrong in ({"mine": table | {"x": 1}}, {"mine": object()}, {"reference": table}, {"mine": None}, {1: {}}):
        with pytest.raises(ProfileError) as caught:
            load_profile.load_tables(wrong, "the hook")
        assert caught.value.where.startswith("the hook")


def test_the_shipped_profiles_hold_the_schema() -> None:
    """What ships says nothing that a user's profile can't say, and every file is valid."""
    for path in resources.profiles().glob("*.toml"):
        wrong = list(load_profile.faults(tomllib.loads(path.read_text("utf-8"))))
        assert [complaint for _, complaint in wrong if "is reserved" not in complaint] == []
    assert {"reference", "reference-command", "reference-tool-less"} <= load_profile.shipped().keys()


def test_the_schema_knows_the_words_of_the_code() -> None:
    """Capabilities and wire formats are listed in the schema as they are in the code."""
    schema = loads(resources.schema("profile").read_bytes())
    runtime = "/$defs/runtime/properties"
    assert set(as_list(point(schema, f"{runtime}/capabilities/items/enum"))) == CAPABILITIES
    assert as_object(point(schema, f"{runtime}/wires/properties")).keys() == FORMATS.keys()


def test_shipped_profiles_cost_no_schema_library() -> None:
    """Only a user's file is worth the import of jsonschema."""
    code = "import sys; from pytest_agentcontract.scenario.load_profile import shipped; shipped(); print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(resources.profiles().parent.parent)}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "jsonschema" not in told.stdout.split()
