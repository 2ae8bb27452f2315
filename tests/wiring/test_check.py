"""A profile that is broken in one way gets one FAIL, which names what was observed in its place."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_agentcontract.drivers.finding import Finding
from pytest_agentcontract.scenario import load_profile
from pytest_agentcontract.scenario.profile import Argument, Binding, Profile, ResultRule, SideCall, WireSetup
from pytest_agentcontract.scenario.start import Mode
from pytest_agentcontract.wiring.check import check
from pytest_agentcontract.wiring.claims import CLAIMS
from tests import team

WIRE = "anthropic-messages"
GIVEN = load_profile.shipped()["reference-command"]
JSON_MODE = GIVEN.modes["json"]
BARE: tuple[Argument, ...] = tuple(word for word in JSON_MODE if isinstance(word, str))
BASE = replace(
    GIVEN,
    wires={WIRE: GIVEN.wires[WIRE]},
    modes={"json": BARE},
    tools={"work": GIVEN.tools["work"]},
    capabilities=frozenset({"headless", "payload-string"}),
)
"""The shipped profile, without whatever a test does not ask for: each capability is a run of its own."""

RETURNING = replace(
    BASE,
    tools={**BASE.tools, "return": GIVEN.tools["return"]},
    capabilities=BASE.capabilities | {"root-return", "payload-object", "payload-array"},
)
FAMILY = replace(
    RETURNING,
    tools=GIVEN.tools,
    capabilities=RETURNING.capabilities | {"sub-agents", "child-return", "async"},
)
NOBODY = "http://127.0.0.1:9"


def _result(**changed: object) -> Profile:
    return replace(RETURNING, result=replace(GIVEN.result, **changed))  # type: ignore[arg-type] - each case names fields


def _tool(part: str, of: Profile = RETURNING, **changed: object) -> Profile:
    return replace(of, tools={**of.tools, part: replace(of.tools[part], **changed)})  # type: ignore[arg-type] - the same


def _wire(name: str, setup: WireSetup) -> Profile:
    return replace(RETURNING, wires={name: setup})


def _argv(mode: str, *argv: Argument, claims: str = "") -> Profile:
    modes = {**BASE.modes, mode: argv}
    return replace(RETURNING, modes=modes, capabilities=RETURNING.capabilities | ({claims} if claims else set()))


def _swapped(old: str, new: str) -> tuple[Argument, ...]:
    return tuple(new if word == old else word for word in BARE)


BROKEN: Mapping[str, tuple[Profile, str, str]] = {
    "pointer": (
        _result(value="/reslt"),
        "result",
        "the result holds no /reslt; what the model said stands at /result",
    ),
    "pointer at something else": (_result(value="/subtype"), "result", '/subtype holds "success"; what the model said'),
    "failure flag": (_result(failed="/error"), "failed", "holds no /error; true or false stands at: /is_error"),
    "failure flag at a text": (_result(failed="/subtype"), "failed", '/subtype is "success"; true or false stands at'),
    "exit codes": (_result(exit_ok=(3,)), "exit", "exits with 0; result.exit_ok lists [3]"),
    "too many exit codes": (
        _result(exit_ok=(0, 1)),
        "failure",
        "exits with 1 and has /is_error = true, which contradict",
    ),
    "result as an array": (_result(source="stdout-json-array"), "result", "where from = 'stdout-json' looks"),
    "result in a file": (
        _result(source="file", file="{workdir}/out.json"),
        "result",
        "did not write out.json; a result stands where from = 'stdout-json' looks",
    ),
    "result on stderr": (_result(source="stderr-json"), "result", "where from = 'stdout-json' looks"),
    "result in an event": (
        _result(source="stdout-json-lines", event={"/type": "final"}),
        "result",
        '/type of its events: "result"',
    ),
    "usage": (
        _result(usage_input="/usage/input"),
        "usage_input",
        "holds no /usage/input; numbers stand at: /num_turns",
    ),
    "turns": (
        _result(fields={"num_turns": "/subtype"}),
        "fields.num_turns",
        '/subtype is "success"; numbers stand at:',
    ),
    "name of the return tool": (
        _tool("return", name="repply"),
        "tools.return",
        "'repply' is not advertised; there is: reply, ",
    ),
    "no return tool": (BASE, "return", "the root asks again after the model's last text, 4 requests in all"),
    "payload path": (_tool("return", payload="/report"), "tools.return", "it takes /value (required)"),
    "name of the work tool": (_tool("work", name="tuch"), "tools.work", "'tuch' is not advertised; there is: touch, "),
    "name of the tool that awaits": (
        replace(FAMILY, tools={**FAMILY.tools, "await": Binding("wait", {"for": "{id}"}, captures={"id": "(.+)"})}),
        "tools.await",
        "'wait' is not advertised; there is: agent, ",
    ),
    "arguments of the work tool": (
        _tool("work", arguments={"file": "{mark}"}),
        "tools.work",
        "'path' is a required property; it takes /path (required)",
    ),
    "mark elsewhere": (_tool("work", arguments={"path": "{mark}.txt"}), "work", "was answered 'created mark-w1-"),
    "name of the spawn tool": (
        _tool("spawn", FAMILY, name="agnt"),
        "tools.spawn",
        "'agnt' is not advertised; there is: agent, ",
    ),
    "prompt of a child": (
        _tool("spawn", FAMILY, arguments={"prompt": "Look around."}),
        "sub-agents",
        "its request begins with 'Look around.'",
    ),
    "wire": (
        _wire("openai-chat", GIVEN.wires["openai-responses"]),
        "reach",
        "asked POST /v1/responses, which is openai-responses; the profile names openai-chat",
    ),
    "suffix": (
        _wire("openai-chat", replace(GIVEN.wires["openai-chat"], suffix="/v2")),
        "reach",
        "asked POST /v2/chat/completions, where nothing is served",
    ),
    "port alone": (
        _wire(WIRE, WireSetup({"ANTHROPIC_BASE_URL": "http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "k"})),
        "reach",
        "asked POST /v1/messages, outside of its base URL",
    ),
    "variable": (
        _wire(WIRE, WireSetup({"ANTHROPIC_URL": "{base_url}", "ANTHROPIC_BASE_URL": NOBODY, "ANTHROPIC_API_KEY": "k"})),
        "reach",
        "exited with 1 before it asked the model: agent-contract-reference: failed: provider_error",
    ),
    "flag": (
        _argv("json", *_swapped("--output-format", "--output-form-at")),
        "start",
        "unrecognized arguments: --output",
    ),
    "text for JSON": (_argv("json", *_swapped("json", "text")), "result", "is not one JSON document"),
    "no such program": (_argv("json", "no-such-agent", "{prompt}"), "start", "'no-such-agent' was not found"),
    "prompt": (_argv("json", *_swapped("{prompt}", "Hello")), "agent", "the first user message holds 'Hello'"),
    "attribution": (
        replace(RETURNING, attribution="model", agents={"root": "root-model"}),
        "agent",
        "expected in `model` one of 'root-model' (root)",
    ),
    "step cap is not passed on": (
        replace(RETURNING, capabilities=RETURNING.capabilities | {"step-cap"}),
        "step-cap",
        "3 model requests were allowed, it made 30: neither modes.json nor a file passes {max_turns} on",
    ),
    "flag of the step cap": (
        _argv("json", *BARE, ("--steps", "{max_turns}"), claims="step-cap"),
        "step-cap",
        "unrecognized arguments: --steps 3",
    ),
    "schema is not passed on": (
        replace(RETURNING, capabilities=RETURNING.capabilities | {"schema"}),
        "schema",
        "no request holds the schema that was asked for: neither modes.json nor a file passes {schema_json} on",
    ),
    "text": (_argv("text", *BARE[:1], "-h", claims="text"), "text", "exited with 0 before it asked the model"),
    "conversation": (
        _argv("interactive", *BARE[:1], "--chat", claims="interactive"),
        "interactive",
        "unrecognized arguments: --chat",
    ),
    "answers nothing": (_argv("json", "true"), "reach", "exited with 0 before it asked the model"),
    "never ends": (
        replace(_argv("json", "sleep", "60"), timeout=0.3),
        "start",
        "ended at its limit of 0.3 s, after 0 model requests: it never asked the model",
    ),
}


def _findings(profile: Profile) -> list[Finding]:
    return list(check(profile, tuple(profile.wires)))


@pytest.mark.parametrize(("profile", "step", "said"), BROKEN.values(), ids=BROKEN)
def test_one_break_is_one_line(profile: Profile, step: str, said: str) -> None:
    """There is one FAIL, at the step that is wrong, which says what was seen; what depends on it is not looked at."""
    wrong = [finding for finding in _findings(profile) if finding.verdict == "FAIL"]
    assert [finding.step for finding in wrong] == [step], "\n".join(map(str, wrong))
    assert said in wrong[0].text
    assert wrong[0].fix
    assert "\n" not in wrong[0].text


@pytest.mark.parametrize("name", ["reference", "reference-command", "reference-stdio", "reference-tool-less"])
def test_a_shipped_profile_is_wired(name: str) -> None:
    """Nothing FAILs, every capability is shown or named as not shown, and each further wire format is looked at."""
    profile = load_profile.shipped()[name]
    found = _findings(profile)
    assert [str(finding) for finding in found if finding.verdict == "FAIL"] == []
    assert profile.capabilities <= {finding.step for finding in found}
    assert len([finding for finding in found if finding.step == "wire"]) == len(profile.wires) - 1


def test_what_is_there_and_not_declared_is_a_hint() -> None:
    """A capability that the profile has the means for, and that works, is told; one that does not work is not."""
    quiet = replace(RETURNING, capabilities=frozenset({"headless", "root-return", "payload-string"}))
    capped = replace(quiet, modes={"json": JSON_MODE, "text": ("true",)}, limits=replace(GIVEN.limits, steps=None))
    hints = {finding.step: finding for finding in _findings(capped) if finding.verdict == "note"}
    assert set(hints) == {"payload-object", "payload-array", "schema", "step-cap", "limits"}
    assert hints["step-cap"].fix == "Add 'step-cap' to capabilities."


@pytest.mark.parametrize(
    ("changed", "has_the_means"),
    [({"files": {"{home}/cap": "at most {max_turns}"}}, True), ({"modes": {"json": JSON_MODE}}, True), ({}, False)],
)
def test_a_step_cap_may_be_asked_for_in_a_file(changed: Mapping[str, Any], *, has_the_means: bool) -> None:
    """A profile that passes it on by its command line or by a file has what it takes to show it."""
    assert CLAIMS["step-cap"].means(replace(BASE, **changed)) is has_the_means


def test_a_capability_that_a_runtime_without_a_return_tool_can_not_show_is_named() -> None:
    """Its answer is a text, so nothing shows that an object would arrive as one."""
    said = {finding.step: finding for finding in _findings(replace(BASE, modes=_tool_less(), capabilities=_PAYLOADS))}
    assert said["payload-object"].text == "not shown: without a return tool the answer is always a text"
    assert said["payload-string"].verdict == "ok"


def _tool_less() -> dict[str, tuple[Argument, ...]]:
    return {"json": (BARE[0], "--variant", "tool-less", *BARE[1:])}


_PAYLOADS = frozenset({"headless", "payload-string", "payload-object"})


_AGENT = """
import http.client, json, os, sys, urllib.parse
url = urllib.parse.urlsplit(os.environ["ANTHROPIC_BASE_URL"])
line = http.client.HTTPConnection(url.netloc)
body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": sys.argv[1]}]}
line.request("POST", url.path + "/v1/messages", json.dumps(body), {"content-type": "application/json"})
text = json.load(line.getresponse())["content"][0]["text"]
"""


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("print('loading...', json.dumps({'result': text}), sep=chr(10))", "where from = 'stdout-json-lines' looks"),
        ("print(json.dumps([{}, {'result': text}]))", "what the model said stands at /1/result"),
        ("print(json.dumps({'a/b': {'out': [text]}}))", "what the model said stands at /a~1b/out/0"),
        ("print(json.dumps({'result': 'Answer: ' + text}))", "what the model said stands among other text"),
        ("print(json.dumps(text))", "the result holds no /result; it is "),
        ("print(json.dumps({'answer': 'mine', 'log': []}))", "the result holds no /result; it has /answer, /log"),
        ("sys.stderr.write('warning' + chr(10) + json.dumps({'result': text}))", "where from = 'stderr-json' looks"),
        ("sys.stdout.buffer.write(bytes([255]))", "standard output is not UTF-8"),
        ("sys.exit('no key')", "standard output is empty (exit code 1: no key)"),
        ("os.abort()", "the run did not end by itself: crashed"),
    ],
)
def test_a_result_elsewhere_is_found(printed: str, said: str) -> None:
    """Whatever a runtime prints in place of the result that is described, one line says what it is."""
    modes: Mapping[Mode, tuple[Argument, ...]] = {"json": (sys.executable, "-c", _AGENT + printed, "{prompt}")}
    wrong = [finding for finding in _findings(replace(BASE, modes=modes, tools={})) if finding.verdict == "FAIL"]
    assert [finding.step for finding in wrong] == ["result"]
    assert said in wrong[0].text


def test_a_request_of_nobody_is_told() -> None:
    """A background call that no rule of the profile names is one line; a rule makes it go."""
    script = f"{sys.executable} -c '{_TITLE}' && exec agent-contract-reference -p \"$0\" --output-format json"
    titled = replace(RETURNING, modes={"json": ("sh", "-c", script, "{prompt}")})
    wrong = [finding for finding in _findings(titled) if finding.verdict == "FAIL"]
    assert [finding.step for finding in wrong] == ["side"]
    assert "model 'small'" in wrong[0].fix
    ruled = replace(titled, side_calls=(SideCall("A title", model="small"),))
    assert [str(finding) for finding in _findings(ruled) if finding.verdict == "FAIL"] == []


_TITLE = """
import http.client, json, os, urllib.parse
url = urllib.parse.urlsplit(os.environ["ANTHROPIC_BASE_URL"])
line = http.client.HTTPConnection(url.netloc)
body = {"model": "small", "max_tokens": 9, "messages": [{"role": "user", "content": "Make a title."}]}
line.request("POST", url.path + "/v1/messages", json.dumps(body), {"content-type": "application/json"})
line.getresponse().read()
"""


def test_a_wrong_further_wire_is_named() -> None:
    """Each but the first is looked at by the plainest run alone, and what is wrong there says where."""
    wires = {**RETURNING.wires, "openai-chat": GIVEN.wires["openai-responses"]}
    wrong = [finding for finding in _findings(replace(RETURNING, wires=wires)) if finding.verdict == "FAIL"]
    assert [finding.step for finding in wrong] == ["reach"]
    assert wrong[0].text.startswith("openai-chat: asked POST /v1/responses, which is openai-responses")


@pytest.mark.parametrize("mode", ["text", "interactive", "handoff"])
def test_a_runtime_of_one_mode_is_looked_at_in_that(mode: str) -> None:
    """Without `headless` no JSON is asked for: what the mode shows is shown, and nothing FAILs."""
    reference = load_profile.shipped()["reference"]
    found = list(check(replace(reference, capabilities=frozenset({mode})), (WIRE,)))
    assert {finding.step: finding.verdict for finding in found}.items() >= {"reach": "ok", mode: "ok"}.items()
    assert {finding.verdict for finding in found} == {"ok"}


TEAM = replace(team.dressed(GIVEN), driver="python", result=ResultRule(failed="/is_error"))


@pytest.mark.parametrize(
    ("profile", "step", "verdict", "said"),
    [
        (TEAM, "transfer", "ok", "control moved on"),
        (TEAM, "agents-as-tools", "ok", "who was called called another"),
        (
            _tool("handoff", TEAM, name="hand_to_{agent}"),
            "tools.handoff",
            "FAIL",
            "'hand_to_helper' is not advertised; there is: transfer_to_helper, ",
        ),
        (
            replace(TEAM, settings={"fault": team.DEAF}),
            "transfer",
            "FAIL",
            "transfer_to_helper({}) was answered 'done'",
        ),
        (
            replace(TEAM, agents={"root": "root", "helper": "aide", "third": "third"}),
            "transfer",
            "FAIL",
            "its request asks for the model 'helper'",
        ),
        (replace(TEAM, agents={"root": "root"}), "transfer", "note", "`agents` lists fewer than 1 agent"),
    ],
)
def test_a_team_shows_who_takes_over(profile: Profile, step: str, verdict: str, said: str) -> None:
    """Transfers and calls are seen by who asks next; the agents are those that the profile lists."""
    found = {finding.step: finding for finding in check(profile, ("openai-chat",))}
    assert found[step].verdict == verdict
    assert said in found[step].text


def test_operations_alone_are_no_run() -> None:
    """A profile of an adapter that answers operations and carries out no run is pointed to the other check."""
    profile = Profile("engine", "stdio", {}, GIVEN.result, frozenset({"handoff"}), adapter=("true",))
    (only,) = _findings(profile)
    assert (only.verdict, "agent-contract adapter check" in only.fix) == ("note", True)
