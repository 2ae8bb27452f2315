"""Two reports of one runtime, verdict by verdict: what a certificate says, and what the same suite finds now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_agentcontract.certificate import here
from pytest_agentcontract.certificate.here import Here
from pytest_agentcontract.certificate.subject import Subject
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.plugin import ROOT
from pytest_agentcontract.report.values import Judged, Report
from pytest_agentcontract.scenario.profile import Profile


def fit(of: Subject, profile: Profile, version: str) -> None:
    """Raise UsageError where the runtime, its profile or the suite are others here than those that were certified."""
    runtime, suite = of.runtime, of.report.header.suite
    installed = Here.installed()
    if not installed.is_of(of.report.header):
        raise UsageError(
            f"was made with suite {suite.version}, and {installed.version} is installed",
            remedy=f"Install {suite.version}: a run of another suite reproduces nothing.",
        )
    if not here.knows(profile, of):
        raise UsageError(
            f"was made with another profile of {runtime.name} than the one that is known here",
            remedy="Put the agent-contract.toml in place that was used then.",
        )
    if version != runtime.version:
        raise UsageError(
            f"is of {runtime.name} {runtime.version or '(no version)'}, and {version or '(no version)'} is here",
            remedy="Install that version.",
        )


def selection(of: Subject) -> tuple[str, ...]:
    """Return the node ids to judge again: none for the whole suite, else those that the report holds."""
    if not Here.installed().left_out(of):
        return ()
    return tuple(
        dict.fromkeys(f"{ROOT}::{judged.case.replace('/', '::', 1)}{_where(judged)}" for judged in of.report.cases)
    )


def differences(then: Report, now: Report) -> Iterator[str]:
    """Yield, one line each, where a verdict of one report is not that of the other; reasons and times may differ."""
    before, after = _verdicts(then), _verdicts(now)
    for place in sorted({**before, **after}):
        was, now_is = before.get(place, "not judged"), after.get(place, "not judged")
        if was != now_is:
            case, wire, requirement = place
            yield f"{requirement} in {case}{f' ({wire})' if wire else ''}: was {was}, is {now_is}"


def _verdicts(report: Report) -> Mapping[tuple[str, str, str], str]:
    """Return the verdicts of each requirement in each case. Whether one was to be expected is the baseline's matter."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for judged in report.cases:
        found.setdefault((judged.case, judged.wire, "the case"), [])
        for check in judged.checks:
            place = (judged.case, judged.wire, check.requirement)
            found.setdefault(place, []).append(f"{check.status} ({check.level})")
    return {place: ", ".join(sorted(words)) or "judged" for place, words in found.items()}


def _where(judged: Judged) -> str:
    return f"[{judged.runtime}-{judged.wire}]" if judged.wire else f"[{judged.runtime}]"
