"""One short scripted run, made to see how a runtime is wired; no requirement is judged by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pytest_agentcontract.conformance.evidence import Run, heard
from pytest_agentcontract.conformance.prerequisites import PREREQUISITES
from pytest_agentcontract.conformance.run import observe
from pytest_agentcontract.jsonvalue import JSON, Missing
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.report.text import counted, shortened
from pytest_agentcontract.scenario.binding import Nonces, bind
from pytest_agentcontract.scenario.case import RETURN, Case
from pytest_agentcontract.scenario.observation import REFUSALS, Delivery, Exchange, Observation
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.wire.turn import Call
from pytest_agentcontract.wiring.document import SHOWN

TEXT: Final = "payload-string"
PAYLOADS: Final[Mapping[str, JSON]] = {
    TEXT: "Wired ({nonce}).",
    "payload-object": {"wired": "({nonce})", "more": [1, None, True]},
    "payload-array": ["wired ({nonce})", {"more": 1}],
}
"""A value of each kind that a runtime can claim to return; they hold the run's secret, so nobody can guess them."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A case as it was played. `astray` is what was asked of the provider outside of the run's own base URL."""

    case: Case
    profile: Profile
    wire: str
    observation: Observation
    astray: tuple[str, ...]

    @property
    def delivery(self) -> Delivery:
        """What the caller was handed."""
        return self.observation.delivery

    @property
    def missed(self) -> tuple[str, ...]:
        """What was asked where nothing is served, method and path."""
        return (*self.observation.missed, *self.astray)

    @property
    def lead(self) -> str:
        """The agent that begins: the root, or the first one of a workflow."""
        return next(iter(self.case.script))

    @property
    def said(self) -> JSON | Missing:
        """What the root's last turn hands over: a payload or a text."""
        last = self.case.script[self.lead][-1]
        return next((call.value for call in last.calls if call.tool == RETURN), last.text)

    @property
    def said_by_call(self) -> bool:
        """Whether the root was told to end by its return tool."""
        return any(call.tool == RETURN for call in self.case.script[self.lead][-1].calls)

    def of(self, agent: str = "") -> tuple[Exchange, ...]:
        """Return an agent's requests, those of the first if none is named; side calls are left out."""
        return tuple(seen for seen in self.observation.of(agent or self.lead) if seen.kind != "side")

    @property
    def strangers(self) -> tuple[Exchange, ...]:
        """The requests that belong to no agent, and to no rule for side calls."""
        return tuple(seen for seen in self.observation.exchanges if seen.kind in ("unexpected", "ambiguous"))

    @property
    def unasked(self) -> str:
        """Say how the run went by without the first agent's asking the model; empty if it asked."""
        return "" if self.of() else PREREQUISITES["asked"](self._run)

    @property
    def cut_off(self) -> str:
        """Say that the run did not end by itself; empty if it did."""
        if self.delivery.ended == "exited":
            return ""
        if self.delivery.ended == "time-limit":
            made = counted(len(self.of()), "model request")
            return f"the run was ended at its limit of {self.profile.timeout:g} s, after {made}"
        return f"{PREREQUISITES['finished'](self._run)}{self.last_words}"

    @property
    def stopped(self) -> str:
        """Say what kept the run from going its way; empty if nothing did."""
        return self.unasked or self.cut_off

    @property
    def last_words(self) -> str:
        """The last line of standard error, after a colon; empty if there is none."""
        lines = self.delivery.stderr.strip().splitlines()
        return f": {shortened(lines[-1], SHOWN)}" if lines else ""

    @property
    def _run(self) -> Run:
        return Run(self.case, self.profile, self.wire, self.observation)

    def answer_to(self, tool: str, agent: str = "") -> str:
        """Say how the agent's first call of a tool was answered, in words that go on with `the call`."""
        for at, seen in enumerate(self.of(agent)):
            for call in (call for call in (seen.answer.calls if seen.answer else ()) if call.name == tool):
                after = self.of(agent)[at + 1 :]
                ending = "" if after or not self.cut_off else f", and {self.cut_off}"
                return f"the call {spelt(call)} {_answered(call, after)}{ending}"
        return f"{tool} was never called: {self.unserved(agent)}"

    def unserved(self, agent: str = "") -> str:
        """Say why an agent's script was not played to its end."""
        refused = [seen.note for seen in self.observation.exchanges if seen.kind in REFUSALS and seen.note]
        count = counted(len(self.of(agent)), "time")
        return (
            next(iter(refused), "") or self.stopped or f"{agent or self.lead} asked the model {count}{self.last_words}"
        )

    def heard(self, text: str, agent: str = "") -> bool:
        """Tell whether a text stands in some request of an agent, its own words left out."""
        return any(text in said for seen in self.of(agent) for said in heard(seen.request))


def play(case: Case, profile: Profile, wire: str, provider: Provider) -> Trial:
    """Let the runtime play a case; raise DriverError where it could not be started."""
    nonces, before = Nonces.fresh(), len(provider.missed)
    bound = bind(case, nonces)
    with TemporaryDirectory(prefix="agent-contract-", ignore_cleanup_errors=True) as folder:
        seen = observe(bound, profile, wire, provider, Path(folder).resolve(), nonces, profile.timeout)
    return Trial(bound, profile, wire, seen, tuple(provider.missed[before:]))


def spelt(call: Call) -> str:
    """Return a call as one would write it."""
    return f"{call.name}({shortened(call.arguments_text, SHOWN)})"


def _answered(call: Call, after: Sequence[Exchange]) -> str:
    if not after:
        return "was followed by no other request"
    results = [result for seen in after for message in seen.request.messages for result in message.results]
    text = next((result.text for result in results if result.call_id == call.id), None)
    text = text if text is not None or not results else results[-1].text
    return "got no answer" if text is None else f"was answered {shortened(text, SHOWN)!r}"
