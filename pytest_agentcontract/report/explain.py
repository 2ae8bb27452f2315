"""A case that is not met, explained: what is required, what was seen, what went over the wire, how to see it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.conformance.verdict import CaseReport, Verdict
from pytest_agentcontract.jsonvalue import as_list, dumps
from pytest_agentcontract.report.seen import document
from pytest_agentcontract.report.text import harmless, indented
from pytest_agentcontract.report.wirelog import missed, tail
from pytest_agentcontract.scenario.observation import Delivery

_LIMIT = 1600
_OUTPUT, _LINES = 800, 12
_WORDS = {"fail": ("fails", "fail"), "not-verified": ("is not verified", "are not verified")}


def explain(
    report: CaseReport, unmet: Sequence[Verdict], requirements: Mapping[str, Requirement], difference: str, again: str
) -> str:
    """Return the whole explanation of one case."""
    parts = [f"{report.case.title}\n{indented(report.case.why)}"]
    parts += ["\n".join(_verdict(verdict, requirements.get(verdict.requirement))) for verdict in unmet]
    parts += [difference] if difference else []
    parts += ["\n".join(_run(report))]
    parts += [f"kept in {report.artifacts}"] if report.artifacts else []
    parts += [f"reproduce: {again}"]
    return harmless("\n".join(parts))


def headline(unmet: Sequence[Verdict]) -> str:
    """Return one line for a list of failures: what is not met, each with the first sign of it, failures first."""
    for verdict in unmet:
        if verdict.status == "error":
            return verdict.why
    signs: dict[tuple[str, str], list[str]] = {}
    for verdict in sorted(unmet, key=lambda verdict: verdict.status != "fail"):
        signs.setdefault((verdict.status, verdict.observed or verdict.why), []).append(verdict.requirement)
    return "; ".join(
        f"{', '.join(names)} {_said(status, len(names))}: {sign}" for (status, sign), names in signs.items()
    )


def _said(status: str, count: int) -> str:
    one, many = _WORDS.get(status, (status, status))
    return one if count == 1 else many


def _verdict(verdict: Verdict, requirement: Requirement | None) -> Iterator[str]:
    yield f"{verdict.requirement} ({verdict.level}): {verdict.status}"
    if requirement:
        yield indented(requirement.text)
        if requirement.interpretation:
            yield indented(f"(an interpretation: {requirement.interpretation})")
    for name in ("expected", "observed", "why"):
        if text := getattr(verdict, name):
            yield f"    {name + ':':<10}{_cut(text)}"


def _run(report: CaseReport) -> Iterator[str]:
    if report.case.vector is not None:
        yield f"asked: {report.case.vector.op} {_cut(dumps(report.case.vector.given))}"
        return
    if report.observation is None:
        yield "the run never happened"
        return
    for number, came_to in enumerate(as_list(report.outcome.get("route")), 1):
        yield f"invocation {number} came to {_cut(dumps(came_to))}"
    yield from tail(report.observation.exchanges)
    yield from missed(report.observation.missed)
    yield from _delivery(report.observation.delivery)


def _delivery(delivery: Delivery) -> Iterator[str]:
    code = "" if delivery.exit_code is None else f", exit code {delivery.exit_code}"
    yield f"the run: {delivery.ended} after {delivery.seconds:.2f}s{code}, by its own account {delivery.status}"
    if delivery.problem and delivery.problem not in delivery.stderr:
        yield f"no result was read: {_cut(delivery.problem)}"
    if text := document(delivery):
        yield f"the result document: {_cut(text)}"
    for name in ("stdout", "stderr"):
        if text := getattr(delivery, name).strip():
            yield f"end of {name}:\n{indented(_end(text))}"


def _end(text: str) -> str:
    return "\n".join(text[-_OUTPUT:].split("\n")[-_LINES:])


def _cut(text: str) -> str:
    return text if len(text) <= _LIMIT else f"{text[: _LIMIT // 2]} [...] {text[-_LIMIT // 2 :]}"
