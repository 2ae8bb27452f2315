"""Everything seen in one run, frozen: what the runtime asked the model, and what it handed its caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing
from pytest_agentcontract.scenario.case import Hold
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.turn import Turn, Usage

Kind: TypeAlias = Literal["turn", "poll", "beyond", "fault", "side", "withheld", "unexpected", "ambiguous", "budget"]
"""How a request was answered.

`turn`: an entry of the agent's script; `poll`: a call while a turn waits, of `$work` or of what awaits a child;
`beyond`: the plain text after the script's end; `fault`: an error status or a cut; `side`: a side call of the profile;
the rest are refusals: `withheld` (the turn calls a tool that the request does not advertise), `unexpected` (nobody's
request), `ambiguous` (two agents' request), `budget` (the request budget is used up).
"""

REFUSALS: frozenset[Kind] = frozenset({"withheld", "unexpected", "ambiguous", "budget"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """One model request and its answer, in order of arrival. `turn` counts an agent's script from 1; 0 is none of it.

    `delivered`: the whole answer was handed to the connection. `retry`: the same request again after an undelivered
    answer. `released` is False where a gate opened only because its time was up. `gate` is
    the one that it waited at when its client hung up. `note` says why a refusal was one.
    """

    serial: int
    agent: str
    kind: Kind
    request: Request
    turn: int = 0
    answer: Turn | None = None
    delivered: bool = False
    retry: bool = False
    released: bool = True
    received_at: float = 0.0
    sent: Usage | None = None
    note: str = ""
    gate: Hold | None = None


Ended: TypeAlias = Literal["exited", "time-limit", "output-limit", "crashed"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the caller was handed. Times are seconds since the start of the run.

    `value`, `failed` and the rest are read out of `document` by the profile; `problem` says why there is no document.
    `leftovers` are processes of the run that were still alive after it (and were ended).
    """

    ended: Ended
    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
    document: JSON | Missing = MISSING
    problem: str = ""
    value: JSON | Missing = MISSING
    failed: bool | None = None
    exit_ok: bool = False
    usage: Usage | None = None
    fields: Mapping[str, JSON] = field(default_factory=dict)
    leftovers: tuple[str, ...] = ()
    seconds: float = 0.0
    returned_at: float = 0.0

    @property
    def status(self) -> Literal["success", "failed", "unfinished", "contradictory"]:
        """How the run ended by its own account: the failure flag and the exit code, which must agree."""
        if self.ended in ("time-limit", "output-limit"):
            return "unfinished"
        failed = not self.exit_ok if self.failed is None else self.failed
        if failed == self.exit_ok:
            return "contradictory"
        return "failed" if failed else "success"


@dataclass(frozen=True, slots=True)
class Invocation:
    """One invocation of a hand-off engine: how it ended, the comments it posted, and the serials of its exchanges.

    `altered` says of each earlier comment that it changed or removed which one it is.
    """

    delivery: Delivery
    posted: tuple[JSONObject, ...]
    serials: tuple[int, ...] = ()
    altered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """One run, whole. `marks` are the `$work` marks found on disk; `unused` counts an agent's undelivered turns.

    `missed` names, as `POST /path`, what was asked of the run's own URL where nothing is served.
    """

    exchanges: tuple[Exchange, ...]
    delivery: Delivery
    marks: frozenset[str] = frozenset()
    unused: Mapping[str, int] = field(default_factory=dict)
    invocations: tuple[Invocation, ...] = ()
    missed: tuple[str, ...] = ()

    def of(self, agent: str) -> tuple[Exchange, ...]:
        """Return one agent's exchanges in order of arrival."""
        return tuple(exchange for exchange in self.exchanges if exchange.agent == agent)
