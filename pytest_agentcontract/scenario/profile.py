"""One runtime's configuration as a value: how to start it, where its result stands, which tools play which part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing, dumps
from pytest_agentcontract.scenario.start import Mode

CAPABILITIES = frozenset(
    {
        "headless", "interactive", "text", "root-return", "child-return", "sub-agents", "async", "schema", "step-cap",
        "payload-string", "payload-object", "payload-array", "handoff", "transfer", "agents-as-tools",
    }
)  # fmt: skip
"""What a runtime can declare; a case says what it needs. The list is closed: a misspelt claim is an error."""

PLACEHOLDERS = frozenset(
    {
        "prompt", "child_prompt", "base_url", "api_key", "mark", "nonce", "port", "workdir", "home", "schema_file",
        "schema_json", "max_turns", "workflow", "thread", "event", "agent", "payload", "payload_in_shell",
    }
)  # fmt: skip
"""What a profile's strings may hold in braces; all other braces are left alone."""

SPELT = frozenset({"payload", "payload_in_shell"})
"""What stands for the returned value in the text of an argument: as text, and as one word of a shell's command line."""

Argument: TypeAlias = str | tuple[str, ...]
"""One argument of a command line; a tuple is a group that is dropped when its value was not asked for."""

Driver: TypeAlias = Literal["command", "python", "stdio", "framework"]
Attribution: TypeAlias = Literal["token", "model", "header", "system", "sole"]
"""How an agent's requests are known; `sole` is for a script of one agent: every request is its own."""
Source: TypeAlias = Literal["stdout-json", "stdout-json-array", "stdout-json-lines", "file", "file-text", "stderr-json"]


@dataclass(frozen=True, slots=True)
class WireSetup:
    """How the runtime is pointed at us on one wire format; `suffix` is appended to the base URL (`/v1` or nothing).

    `files` are written for this wire format beside those of the profile.
    """

    env: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """What the runtime promises to be bounded by: model requests of one agent, and nudges among them."""

    steps: int | None = None
    nudges: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One of several places that a result is put together from; `file`, `event` and `since` as in a `ResultRule`."""

    source: Source
    file: str = ""
    event: Mapping[str, JSON] = field(default_factory=dict)
    since: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResultRule:
    """Where the result stands: JSON pointers into the document found at `source`.

    `structured` is read instead of `value` in a run that asked for a schema; `event` holds what the wanted event of
    JSON lines has at which pointers, and `since` what the last event has before which none is wanted. Where there are
    `parts`, the document is an object with what is found of each. Where there is no flag of failure, `failed_if` holds
    what a failed run's document has at which pointers.
    """

    source: Source = "stdout-json"
    value: str = "/result"
    structured: str | None = None
    failed: str | None = None
    failed_if: Mapping[str, JSON] = field(default_factory=dict)
    exit_ok: tuple[int, ...] = (0,)
    usage_input: str | None = None
    usage_output: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    event: Mapping[str, JSON] = field(default_factory=dict)
    since: Mapping[str, JSON] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)

    def pointer(self, *, structured: bool) -> str:
        """Return where the value stands, in a run that asked for a schema or in another."""
        return self.value if self.structured is None or not structured else self.structured


@dataclass(frozen=True, slots=True)
class Binding:
    """The runtime's tool that plays one part of a case, and how its arguments are built.

    `payload` points at the place of the returned value in the arguments ("" is the whole of them), unless that is spelt
    in a text of them; `schema_template` is the schema to ask for, with "{schema}" where a case's own goes, for a tool
    that exists only in a schema run.
    `captures` are the placeholders of a tool that awaits a child: patterns, whose first group is searched for in the
    result of the call that started it.
    """

    name: str
    arguments: JSONObject = field(default_factory=dict)
    payload: str = ""
    schema_template: JSON | Missing = MISSING
    captures: Mapping[str, str] = field(default_factory=dict)

    @property
    def spells(self) -> bool:
        """Whether the returned value is spelt in a text of the arguments."""
        text = dumps(self.arguments)
        return any(f"{{{name}}}" in text for name in SPELT)


@dataclass(frozen=True, slots=True)
class Install:
    """What a runtime's own environment holds, in exact versions: packages of PyPI, and packages of npm."""

    python: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.python or self.npm)


@dataclass(frozen=True, slots=True)
class SideCall:
    """A request that is no part of any agent's conversation: all given conditions hold; answered with `answer`."""

    answer: str
    tools: Literal["none", "any"] = "any"
    system_contains: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """One runtime. `digest` is that of the file it came from; `version` is an argv that prints the exact version.

    `timeout_env` sets the runtime's own time limit for a model request, in runs that ask for one.
    `adapter` answers the operations of the hand-off contract: the argv of a program (stdio), or one `module:function`
    (python). `entry` is what a driver calls: a `module:function` of this process (python), or file and function of the
    recipe that a framework's own interpreter runs (framework): `python`, else that of the environment which `install`
    tells how to make. `folder` is where the file stands, and where such a program is started. A runtime that
    `reads_stdin` reads its standard input to the end before it begins, so it can't be started with one that stays open.
    """

    name: str
    driver: Driver
    wires: Mapping[str, WireSetup]
    result: ResultRule
    capabilities: frozenset[str]
    modes: Mapping[Mode, tuple[Argument, ...]] = field(default_factory=dict)
    entry: str = ""
    python: str = ""
    install: Install = Install()
    adapter: tuple[str, ...] = ()
    folder: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, Binding] = field(default_factory=dict)
    limits: Limits = Limits()
    files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_env: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    attribution: Attribution = "token"
    agents: Mapping[str, str] = field(default_factory=dict)
    side_calls: tuple[SideCall, ...] = ()
    tool_error: str = ""
    failure: str = ""
    timeout: float = 30.0
    reads_stdin: bool = False
    version: tuple[str, ...] = ()
    digest: str = ""

    @property
    def returns(self) -> bool:
        """Whether the runtime declares a return tool; without one the integrity group judges (INT)."""
        return "return" in self.tools
