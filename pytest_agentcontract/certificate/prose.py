"""A certificate in one paragraph, for somebody who knows neither the suite nor agent runtimes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.report import level
from pytest_agentcontract.report.level import Stated
from pytest_agentcontract.report.tally import Tally
from pytest_agentcontract.report.text import counted, shortened
from pytest_agentcontract.report.values import Header, Runtime

SELF_ASSESSED: Final = (
    "It is self-assessed: whoever signed it ran the suite and says what was found; nobody else has watched that run."
)

DOES_NOT_ESTABLISH: Final = (
    "That the run took place as reported: it is self-assessed, and whoever holds the key can sign what was made up.",
    "Who signed it, unless the public key is known from elsewhere.",
    "That the runtime is good, safe or secure, or that its answers are right: a script played the model.",
    "Anything of another version of the runtime, another profile or settings, another wire format or another machine.",
    "That the runtime has no other faults: the suite judges numbered requirements by its cases, and nothing else.",
)

_SHOWN, _LENGTH = 3, 160
_EMBEDDED: Final[tuple[tuple[str, str], ...]] = (
    ("mutant:", "It is a mutant: the suite's own reference with one rule broken on purpose. Nothing else was judged."),
    ("null:", "It is a null runtime of the suite's own, which does nothing of use. Nothing else was judged."),
    ("reference", "It is the suite's own reference runtime. No runtime of anybody else's was judged."),
)
_HOW: Final[tuple[tuple[str, str], ...]] = (
    ("failed", "It breaks {n}: {which}."),
    ("baselined", "{n} it breaks as its own list of known failures says: {which}."),
    ("notVerified", "{n} could not be verified, for what has to happen first did not: {which}."),
    ("notJudgeable", "{n} could not be judged, for the test bench had an error: {which}."),
    ("metInPart", "{n} it keeps in part only: {which}."),
    ("notJudged", "{n} no case that was run speaks of: {which}."),
)


def paragraph(header: Header, tally: Tally, stated: Stated, ledger: Mapping[str, Requirement]) -> str:
    """Return the paragraph."""
    must = tally["MUST"]
    return " ".join(
        (
            _what(header),
            *_kind(header.runtimes[0]),
            _kept(must),
            *_not_kept(must, ledger),
            *_level(stated, must),
            SELF_ASSESSED,
        )
    )


def _what(header: Header) -> str:
    runtime = header.runtimes[0]
    return (
        f"{_named(runtime)} was judged by the agent contract suite {header.suite.version}, which plays the language "
        "model and watches from outside how a runtime returns its agents' results and how its agents hand work on "
        f"(requirement set {header.requirements.set}; wire formats: {', '.join(runtime.wires)})."
    )


def _kind(runtime: Runtime) -> Iterator[str]:
    if runtime.embedded:
        yield from [words for beginning, words in _EMBEDDED if runtime.name.startswith(beginning)]


def _kept(must: Mapping[str, Sequence[str]]) -> str:
    every = sum(map(len, must.values()))
    applying = every - len(must["notApplicable"])
    return (
        f"Of the {counted(every, 'rule')} that a runtime MUST keep, {applying} apply to it, by what it claims to be "
        f"able to do; it was seen to keep {len(must['passed'])} of these {applying}."
    )


def _not_kept(must: Mapping[str, Sequence[str]], ledger: Mapping[str, Requirement]) -> Iterator[str]:
    for bucket, words in _HOW:
        if ids := must[bucket]:
            rest = f", and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
            which = "; ".join(_told(name, ledger) for name in ids[:_SHOWN]) + rest
            yield words.format(n=len(ids), which=which)


def _told(name: str, ledger: Mapping[str, Requirement]) -> str:
    return f"{name} (“{shortened(ledger[name].text, _LENGTH)}”)" if name in ledger else name


def _level(stated: Stated, must: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if stated.name == level.HIGHEST:
        yield f"That is the highest level, “{stated.name}”: each of them was kept in every case of the suite."
        return
    of_musts = sum(bool(must[bucket]) for bucket, _ in _HOW)
    for reason in stated.reasons[of_musts:]:
        yield f"Besides: {reason}."
    yield (
        f"So its level is “{stated.name}”. The highest, “{level.HIGHEST}”, takes each rule that applies to be kept in "
        "every case of the whole suite, with no failure excused."
    )


def _named(runtime: Runtime) -> str:
    return (
        f"{runtime.name} {runtime.version}"
        if runtime.version
        else f"{runtime.name}, of a version that it doesn't tell,"
    )
