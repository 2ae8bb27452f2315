"""The beginning of a run: the start, the way to the scripted provider, and who is asking there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_agentcontract.drivers.finding import Finding
from pytest_agentcontract.report.text import counted, shortened
from pytest_agentcontract.scenario.attribution import SIGN_PLACES
from pytest_agentcontract.scenario.nearest import explained
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.scenario.profile import WireSetup
from pytest_agentcontract.wire.formats import FORMATS
from pytest_agentcontract.wiring.document import SHOWN
from pytest_agentcontract.wiring.trial import Trial

_SUFFIX = "/v1"
_COMMAND_LINE = re.compile(r"\b(?:arguments?|options?|flags?|usage)\b", re.IGNORECASE)


def reach(trial: Trial) -> Iterator[Finding]:
    """Yield what the first run shows of the way to the provider; the last one is a FAIL where no agent was heard."""
    if trial.observation.exchanges or trial.missed:
        yield Finding("start", "ok", _ended(trial))
    if trial.of():
        first = trial.of()[0].request
        offered = counted(len(first.tools), "tool")
        yield Finding(
            "reach", "ok", f"asks the provider by {trial.wire}, for the model {first.model!r}, with {offered}"
        )
        yield from _side_calls(trial.strangers)
    elif trial.strangers:
        yield Finding("reach", "ok", f"asks the provider by {trial.wire}")
        yield _unknown(trial, trial.strangers[0])
    else:
        yield _unreached(trial)


def _ended(trial: Trial) -> str:
    said = trial.delivery
    return trial.cut_off or f"ends by itself after {said.seconds:.1f} s, with {said.exit_code}"


def _unreached(trial: Trial) -> Finding:
    asked = next((asked for asked in trial.missed if asked.startswith("POST ")), "")
    if asked:
        return Finding("reach", "FAIL", *_elsewhere(trial, asked))
    if trial.delivery.ended == "time-limit":
        fix = "Does it wait for input or a permission? If it only needs longer: `timeout` in the profile."
        return Finding("start", "FAIL", f"{trial.cut_off}: it never asked the model{trial.last_words}", fix)
    if trial.delivery.ended == "crashed":
        return Finding("start", "FAIL", trial.unasked, "That is an error of the runtime's own, before it came to ask.")
    if _COMMAND_LINE.search(trial.last_words):
        return Finding(
            "start", "FAIL", trial.unasked, f"Mend modes.{trial.case.given.mode}: it takes another command line."
        )
    setup = trial.profile.wires[trial.wire]
    return Finding("reach", "FAIL", trial.unasked, f"{_beside(trial)}{_pointed(trial, setup)}")


def _elsewhere(trial: Trial, asked: str) -> tuple[str, str]:
    """Say where a request went in place of the named wire format, and what to write in the profile."""
    method, _, path = asked.partition(" ")
    # A path may be doubled or lack its beginning: what it ends with tells the wire format.
    tails = [path[at:] for at, letter in enumerate(path) if letter == "/"]
    spoken = next((name for name, wire in FORMATS.items() for tail in tails if wire.owns(method, tail)), "")
    named = f"the profile names {trial.wire}"
    if spoken and spoken != trial.wire:
        fix = f"Say wires.{spoken} in place of wires.{trial.wire}, or tell the runtime to speak {trial.wire}."
        return f"asked {asked}, which is {spoken}; {named}", fix
    if asked in trial.astray:
        return (
            f"asked {asked}, outside of its base URL",
            "Point it at {base_url}, path included, and not at {port} alone.",
        )
    suffix = trial.profile.wires[trial.wire].suffix
    what = f"asked {asked}, where nothing is served; {named}"
    if spoken:
        other = "" if suffix == _SUFFIX else _SUFFIX
        return what, f"The wire's suffix is {suffix!r}: try suffix = {other!r}."
    return what, f"Is it another API? Those that are spoken: {', '.join(FORMATS)}."


def _beside(trial: Trial) -> str:
    return f"It asked {', '.join(trial.missed)} only. " if trial.missed else ""


def _pointed(trial: Trial, setup: WireSetup) -> str:
    given = {**trial.profile.env, **setup.env}
    names = [name for name, text in given.items() if "{base_url}" in text or "{port}" in text]
    by = f"by the variable {' and '.join(names)}" if names else "by its files or its command line"
    return f"The profile points it at the provider {by}: is that what the runtime reads?"


def _unknown(trial: Trial, seen: Exchange) -> Finding:
    """Say what the request of nobody holds in the place where its agent's mark was looked for."""
    attribution, request = trial.profile.attribution, seen.request
    if not request.messages and seen.note:
        return Finding("agent", "FAIL", seen.note, f"Does it speak {trial.wire}?")
    mark = "[[root-"
    found = "the system prompt" if mark in request.system else "a later message" if mark in str(request.body) else ""
    if attribution == "model":
        fix = f"It asks for the model {request.model!r}: name that in agents."
        return Finding("agent", "FAIL", seen.note, fix)
    if found:
        fix = 'Say attribution = "system".' if mark in request.system else "Pass {prompt} on as the first message."
        return Finding("agent", "FAIL", f"{seen.note}; it stands in {found}", fix)
    where = SIGN_PLACES[attribution]
    fix = 'Is {prompt} passed on unaltered? If it can\'t be: attribution = "model", "header" or "system".'
    return Finding("agent", "FAIL", f"{seen.note}; {where} holds {shortened(request.opening, SHOWN)!r}", fix)


def _side_calls(strangers: tuple[Exchange, ...]) -> Iterator[Finding]:
    if strangers:
        request = strangers[0].request
        what = f"{counted(len(strangers), 'request')} of nobody beside the agent's own: {explained(request)}"
        fix = (
            f"Switch it off, or name it in side_calls (model {request.model!r}, {counted(len(request.tools), 'tool')})."
        )
        yield Finding("side", "FAIL", what, fix)
