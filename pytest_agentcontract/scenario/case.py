"""One case as a value: what is given, what the model says, what must come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing
from pytest_agentcontract.scenario.start import Mode
from pytest_agentcontract.scenario.template import Template
from pytest_agentcontract.wire.faults import UNPACED, Fault, Pace
from pytest_agentcontract.wire.turn import DELTAS, TYPICAL_USAGE, Stop, Usage

Level: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
Status: TypeAlias = Literal["success", "failed"]

RETURN, WORK, SPAWN, HANDOFF = "$return", "$work", "$spawn", "$handoff"
"""Tools named by their part in a case; a profile binds each to a tool of its runtime."""


@dataclass(frozen=True, slots=True)
class Say:
    """One line of a scripted conversation, and how many root turns answer it before the next line is sent."""

    line: str
    turns: int = 1


@dataclass(frozen=True, slots=True)
class Handoff:
    """A workflow over a thread of comments, and one engine invocation for each of `events`.

    An event of None is an invocation without one: the engine goes on from the last posted state.
    """

    workflow: JSONObject
    thread: tuple[JSONObject, ...]
    events: tuple[JSONObject | None, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """How the run is started. An interactive root gets its first line from `conversation`, not from `prompt`.

    `patience` is for how many seconds the runtime is told to bear a silent provider. With `open_stdin` a headless root
    has a standard input on which nobody says a word, and which ends only after the run; else it has none.
    """

    mode: Mode
    prompt: str = ""
    schema: JSONObject | None = None
    max_turns: int | None = None
    conversation: tuple[Say, ...] = ()
    handoff: Handoff | None = None
    patience: int | None = None
    open_stdin: bool = False


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One tool call of the script, before a profile binds it.

    `tool` is `$return` (payload `value`), `$work` (leaves the mark `mark`), `$spawn` (starts the agent `agent`),
    `$handoff` (control moves on to the agent `agent`), or a literal tool name with `arguments`. `arguments` or
    `raw_arguments` replace what the binding would build; `truncate` drops that many characters from the end of the
    bound arguments' JSON text: broken as a provider breaks them.
    """

    tool: str
    value: JSON | Missing = MISSING
    mark: str = ""
    agent: str = ""
    arguments: JSON | Missing = MISSING
    raw_arguments: str | None = None
    truncate: int = 0
    unadvertised: bool = False
    id: str = ""

    @property
    def broken(self) -> bool:
        """Whether the arguments are scripted to be broken JSON on the wire."""
        return self.raw_arguments is not None or bool(self.truncate)


@dataclass(frozen=True, slots=True)
class When:
    """What a turn waits for, while `$work` calls are served in its place.

    `sees`: the asking agent's request holds that child's returned payload; `started`: that child has asked for its
    first turn; `failed`: the asking agent's request holds the profile's failure pattern.
    """

    event: Literal["sees", "started", "failed"]
    agent: str


@dataclass(frozen=True, slots=True)
class Hold:
    """A gate: after `after_deltas` content deltas the stream stands still until something has happened.

    `until` is `end` (the run is over), `printed` (standard output holds `text`), `delivered` (turn number `turn`,
    counted from 1, of `agent` was delivered) or `released` (somebody has opened the gate of the name `text`).
    """

    after_deltas: int
    until: Literal["end", "printed", "delivered", "released"]
    text: str = ""
    agent: str = ""
    turn: int = 0


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """One entry of an agent's script: an answer, a fault, or an answer whose first delivery is faulted.

    `asked` is a text that the request must bring along beyond the agent's last one; a request without it is refused.
    What is `final` is used up by its faulted delivery: another request gets the next entry, the same again is refused.
    """

    text: str | None = None
    thinking: str | None = None
    calls: tuple[ScriptedCall, ...] = ()
    stop: Stop | None = None
    usage: Usage = TYPICAL_USAGE
    fault: Fault | None = None
    when: When | None = None
    hold: Hold | None = None
    repeat: bool = False
    refusal: str | None = None
    pace: Pace = UNPACED
    deltas: int = DELTAS
    asked: str = ""
    final: bool = False

    @property
    def only_fault(self) -> bool:
        """Whether the fault is all there is: the attempt uses the entry up, and a retry gets the next one."""
        said = (self.text, self.thinking, self.refusal)
        silent = all(part is None for part in said) and not self.calls
        return self.fault is not None and (self.final or silent)


@dataclass(frozen=True, slots=True)
class ExpectedResult:
    """What the caller must be handed: `value` only with `success`."""

    status: Status
    value: JSON | Missing = MISSING


@dataclass(frozen=True, slots=True)
class ExpectedAgent:
    """What must come of one agent. `requests` and `nudges` are evidence for checks, never a verdict of their own."""

    status: Status | None = None
    value: JSON | Missing = MISSING
    requests: int | None = None
    nudges: int | None = None


@dataclass(frozen=True, slots=True)
class ExpectedInvocation:
    """What must come of one engine invocation: `fields` as posted, compared where they are named.

    A value `{"any_of": [...]}` allows several, and `begins`, `ends`, `contains` and `lacks` ask something of a text. A
    name in `should` is judged as a SHOULD. `covers` are the requirements that this invocation shows; without any it is
    but the way to what others show.
    """

    fields: Mapping[str, JSON]
    should: frozenset[str] = frozenset()
    covers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Expect:
    """The literal data that checks compare with.

    `work` are the marks that must have been left (by default every unbroken `$work` call of the script). `stray` are
    texts that must reach nobody: not the result, and no other agent's requests.
    """

    result: ExpectedResult | None = None
    agents: Mapping[str, ExpectedAgent] = field(default_factory=dict)
    work: tuple[str, ...] = ()
    stray: tuple[str, ...] = ()
    usage: Usage | None = None
    route: tuple[ExpectedInvocation, ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """One question to a runtime's adapter, in place of a run: the operation, its input, what is asked of each field."""

    op: str
    given: JSONObject
    expect: Mapping[str, tuple[JSONObject, ...]]


@dataclass(frozen=True, slots=True)
class Cover:
    """One requirement that a case judges; a `level` lowers the requirement's own for this case, with a reason."""

    requirement: str
    level: Level | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One case file, or one row of a table of vectors: that has a `vector` instead of a script.

    `needs` and `without` are capabilities that decide whether it applies to a runtime at all. `templates` is what
    binding has found out of it so far.
    """

    id: str
    title: str
    why: str
    covers: tuple[Cover, ...]
    given: Given
    script: Mapping[str, tuple[ScriptedTurn, ...]]
    expect: Expect
    needs: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    vector: Vector | None = None
    templates: list[Template | None] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def contract(self) -> str:
        """The first folder below `cases/`: which contract it judges."""
        return self.id.partition("/")[0]

    @property
    def group(self) -> str:
        """The folder below `cases/`, for example `return/no-reply`."""
        return self.id.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The last part of the id."""
        return self.id.rpartition("/")[2]


def gates(script: Mapping[str, tuple[ScriptedTurn, ...]]) -> tuple[str, ...]:
    """Return the names of the gates of a script that somebody has to open."""
    holds = (turn.hold for turns in script.values() for turn in turns)
    return tuple(hold.text for hold in holds if hold is not None and hold.until == "released")
