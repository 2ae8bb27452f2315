"""Is a profile wired to its runtime? A short scripted run for each thing that it says.

Whether the runtime keeps a contract is for the cases to judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from pytest_agentcontract.drivers.finding import Finding
from pytest_agentcontract.drivers.preparation import missing_installation
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.wiring import delivery, reach, tools
from pytest_agentcontract.wiring.claims import CLAIMS, Claim
from pytest_agentcontract.wiring.scripts import failing, others, plain, working
from pytest_agentcontract.wiring.trial import Trial, play

_WAY: Final = frozenset({"start", "reach", "agent"})
"""The steps without which nothing else can be seen."""

_TOOL: Final = "tools."
_HEADLESS: Final = "headless"


def check(profile: Profile, wires: tuple[str, ...]) -> Iterator[Finding]:
    """Check a profile on the first of some wire formats, and the plainest run on the others; yield in order."""
    if not wires:
        fix = "What its adapter answers is looked at by: agent-contract adapter check -- COMMAND"
        yield Finding("start", "note", "the profile names no wire format, so there is no run to look at", fix)
        return
    if missing := missing_installation(profile):
        yield Finding("start", "FAIL", f"{profile.name} {missing.what}", missing.remedy)
        return
    with Provider() as provider:
        yield from _Check(profile, wires[0], provider).whole()
        for wire in wires[1:]:
            yield from _also(_Check(profile, wire, provider))


def _also(other: _Check) -> Iterator[Finding]:
    wrong = [finding for finding in other.basics() if finding.verdict == "FAIL"]
    yield from (replace(finding, text=f"{other.wire}: {finding.text}") for finding in wrong)
    if not wrong:
        yield Finding("wire", "ok", f"asks by {other.wire}, too, and the result is found")


class _Check:
    """One profile on one wire format. What FAILs is `broken`, and whatever depends on it is not looked at."""

    def __init__(self, profile: Profile, wire: str, provider: Provider) -> None:
        self.wire = wire
        self._profile, self._provider = profile, provider
        self._broken: set[str] = set()
        self._played: list[tuple[Case, Profile, Trial]] = []

    def whole(self) -> Iterator[Finding]:
        """Look at everything the profile says."""
        yield from self.basics()
        if self._broken & _WAY:
            return
        yield from self._noted(_told("work", self._work()))
        yield from _told("failure", self._failure())
        yield from self._claimed()
        yield from self._unclaimed()
        if self._profile.limits.steps is None:
            yield Finding("limits", "note", "no limits.steps is declared, so boundedness stays not verified")

    def basics(self) -> Iterator[Finding]:
        """Look at the plainest run: the start, the way to the provider, the tools, the result."""
        yield from self._noted(_told("start", self._way()))
        if self._broken & _WAY:
            return
        trial = self._plainest
        yield from self._noted(tools.tools(trial, others(self._profile)))
        if self._mode == "json" and not self._lacks("return"):
            rejected = tools.rejected(trial)
            yield from self._noted([rejected] if rejected else delivery.result(trial))

    @property
    def _mode(self) -> str:
        claimed = self._profile.capabilities
        others = (mode for mode in ("text", "interactive", "handoff") if mode in claimed)
        return "json" if _HEADLESS in claimed else next(others, "json")

    @property
    def _plainest(self) -> Trial:
        return self._play(plain(self._profile, self._mode), self._profile)

    def _way(self) -> Iterator[Finding]:
        yield from reach.reach(self._plainest)

    def _play(self, case: Case, profile: Profile) -> Trial:
        """Play a case; one that was played before is not played again."""
        before = (trial for played, of, trial in self._played if played == case and of == profile)
        trial = next(before, None)
        if trial is None:
            trial = play(case, profile, self.wire, self._provider)
            self._played.append((case, profile, trial))
        return trial

    def _noted(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        for finding in findings:
            if finding.verdict == "FAIL":
                self._broken.add(finding.step)
            yield finding

    def _lacks(self, part: str) -> bool:
        return bool(self._broken & {part, f"{_TOOL}{part}"})

    def _work(self) -> Iterator[Finding]:
        if self._mode != "json" or "work" not in self._profile.tools or self._lacks("work") or self._lacks("return"):
            return
        yield tools.worked(self._play(working(self._profile), self._profile))

    def _failure(self) -> Iterator[Finding]:
        if self._mode == "json" and not self._broken & {"result", "exit", "failed"}:
            yield from delivery.failure(self._play(failing(), self._profile))

    def _claimed(self) -> Iterator[Finding]:
        unseen = []
        if _HEADLESS in self._profile.capabilities:
            yield Finding(_HEADLESS, "ok", "shown: every run above ended without a word from a user")
        for name, claim in CLAIMS.items():
            if name not in self._profile.capabilities:
                continue
            if any(map(self._lacks, claim.parts)):
                unseen.append(name)
            else:
                yield from self._noted(_told(name, self._shown(name, claim)))
        if unseen:
            yield Finding("claims", "note", f"not shown, for want of what FAILs above: {', '.join(unseen)}")

    def _shown(self, name: str, claim: Claim) -> Iterator[Finding]:
        if why := claim.unfit(self._profile):
            yield Finding(name, "note", f"not shown: {why}")
        elif wrong := claim.look(self._play(claim.script(self._profile), self._profile)):
            yield Finding(name, "FAIL", wrong, f"Mend it, or take {name} out of capabilities.")
        else:
            yield Finding(name, "ok", f"shown: {claim.shows}")

    def _unclaimed(self) -> Iterator[Finding]:
        """Try what is not declared although the profile has the means; only what works is told."""
        for name, claim in CLAIMS.items():
            trying = replace(self._profile, capabilities=self._profile.capabilities | {name})
            idle = name in self._profile.capabilities or not claim.means(self._profile) or claim.unfit(trying)
            if idle or any(map(self._lacks, claim.parts)) or not self._works(claim, trying):
                continue
            yield Finding(name, "note", f"not declared, and yet {claim.shows}", f"Add {name!r} to capabilities.")

    def _works(self, claim: Claim, profile: Profile) -> bool:
        try:
            return not claim.look(self._play(claim.script(profile), profile))
        except DriverError:
            return False


def _told(step: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings; a runtime that can't be started, or breaks its protocol, is one of them."""
    try:
        yield from findings
    except DriverError as error:
        yield Finding(step, "FAIL", error.what, error.remedy)
