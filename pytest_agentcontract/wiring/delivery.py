"""The end of a run: where the result stands, and what its flags, exit codes and numbers mean.

A value counts only where it is the very one that the model handed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_agentcontract.drivers.finding import Finding
from pytest_agentcontract.drivers.outcome import elsewhere
from pytest_agentcontract.jsonvalue import JSON, Missing, as_text, equal, loads, point
from pytest_agentcontract.wiring.document import flags, holds, is_number, listed, places, shown, stands, top
from pytest_agentcontract.wiring.trial import Trial

_LONGER = "If it only needs longer: `timeout` in the profile."
_ARRAY = 'from = "stdout-json-array" reads the last element of an array.'
_SHAPE = "Is it a result of another shape? See `from` in result."


def result(trial: Trial) -> Iterator[Finding]:
    """Yield what stands in the result of a run that the model ended well, and how the run ended."""
    if trial.cut_off:
        late = trial.delivery.ended == "time-limit"
        yield Finding("result", "FAIL", trial.cut_off, _LONGER if late else "That is an error of the runtime's own.")
    elif isinstance(trial.delivery.document, Missing):
        yield Finding("result", "FAIL", *_absent(trial))
    else:
        found, said = value(trial), trial.delivery
        if found.verdict == "FAIL":
            ending = "" if said.exit_ok else f"; the run exits with {said.exit_code}{trial.last_words}"
            yield replace(found, text=f"{found.text}{ending}")
            return
        yield found
        yield from _ending(trial)
        yield from _numbers(trial)


def value(trial: Trial) -> Finding:
    """Compare what the pointer of the result names with what the model said."""
    document, rule = trial.delivery.document, trial.profile.result
    asked = trial.case.given.schema is not None and rule.structured is not None
    key, pointer = ("structured", rule.structured or "") if asked else ("value", rule.value)
    if equal(trial.delivery.value, trial.said):
        return Finding("result", "ok", f"is found at {pointer or 'the whole document'}")
    there = stands(document, trial.said)
    at = f"what the model said stands at {', '.join(there)}" if there else ""
    fix = f'Say result.{key} = "{there[0]}".' if there else _SHAPE
    fix = _ARRAY if isinstance(document, list) else fix
    if isinstance(trial.delivery.value, Missing):
        return Finding("result", "FAIL", f"the result holds no {pointer}; {at or holds(document)}", fix)
    held = f"{pointer or 'the document'} holds {shown(trial.delivery.value)}"
    if isinstance(trial.said, str) and trial.said in as_text(trial.delivery.value):
        fix = "Is there a place, or an output mode, where it stands alone?"
        return Finding("result", "FAIL", f"{held}; what the model said stands among other text", fix)
    return Finding("result", "FAIL", f"{held}; {at or f'what the model said is nowhere in it; {holds(document)}'}", fix)


def failure(trial: Trial) -> Iterator[Finding]:
    """Yield what a run shows whose model refuses everything: its flag and its exit code have to agree on that."""
    said, rule = trial.delivery, trial.profile.result
    ends = f"a run whose model refuses everything exits with {said.exit_code}"
    flag = "" if rule.failed is None else f" and has {rule.failed} = {shown(point(said.document, rule.failed))}"
    if trial.stopped:
        yield Finding("failure", "note", f"when the model refuses everything: {trial.stopped}")
    elif said.status == "failed":
        yield Finding("failure", "ok", f"{ends}{flag}: failed")
    elif said.status == "success":
        fix = "That is for the FLT cases to judge, unless result.failed or result.exit_ok looks at the wrong thing."
        yield Finding("failure", "note", f"{ends}{flag}: counted as a success", fix)
    elif said.exit_ok:
        fix = f"result.exit_ok lists {said.exit_code}, and only the codes of a success belong there."
        yield Finding("failure", "FAIL", f"{ends}{flag}, which contradict each other", fix)
    else:
        fix = f"Does result.failed point at the flag of failure? There is: {flags(said.document)}."
        yield Finding("failure", "FAIL", f"{ends}{flag}, which contradict each other", fix)


def _ending(trial: Trial) -> Iterator[Finding]:
    said, rule = trial.delivery, trial.profile.result
    if rule.failed is not None and said.failed is None:
        held = point(said.document, rule.failed)
        what = f"the result holds no {rule.failed}" if isinstance(held, Missing) else f"{rule.failed} is {shown(held)}"
        yield Finding(
            "failed", "FAIL", f"{what}; true or false stands at: {flags(said.document)}", "Mend result.failed."
        )
    if not said.exit_ok and said.failed is not True:
        fix = "Mend result.exit_ok, which lists the codes of a success."
        what = f"a run that went well exits with {said.exit_code}; result.exit_ok lists {list(rule.exit_ok)}"
        yield Finding("exit", "FAIL", f"{what}{trial.last_words}", fix)
    elif said.failed:
        fix = "Does result.failed point at the flag of failure, and is the return tool's `payload` right?"
        yield Finding(
            "failed", "FAIL", f"{rule.failed} is true in a run that the model ended well{trial.last_words}", fix
        )


def _numbers(trial: Trial) -> Iterator[Finding]:
    rule, document = trial.profile.result, trial.delivery.document
    named = {"usage_input": rule.usage_input, "usage_output": rule.usage_output}
    counts = {key: pointer for key, pointer in named.items() if pointer is not None}
    counts |= {f"fields.{name}": pointer for name, pointer in rule.fields.items() if "turns" in name}
    wrong = {key: pointer for key, pointer in counts.items() if not is_number(point(document, pointer))}
    for key, pointer in wrong.items():
        held = point(document, pointer)
        what = f"the result holds no {pointer}" if isinstance(held, Missing) else f"{pointer} is {shown(held)}"
        numbers = [place for place, item in places(document) if is_number(item)]
        yield Finding(key, "FAIL", f"{what}; numbers stand at: {listed(numbers)}", f"Mend result.{key}.")
    if counts and not wrong:
        yield Finding("numbers", "ok", ", ".join(f"{key} {shown(point(document, at))}" for key, at in counts.items()))
    absent = {name: at for name, at in rule.fields.items() if f"fields.{name}" not in counts and _lacks(document, at)}
    if absent:
        places_named = ", ".join(absent.values())
        yield Finding(
            "fields", "note", f"not in the result of this run: {places_named}; it has {listed(top(document))}"
        )


def _absent(trial: Trial) -> tuple[str, str]:
    """Say why there is no result document, and where one stands."""
    said, rule = trial.delivery, trial.profile.result
    other = [source for source in elsewhere(said, rule) if source != rule.source]
    problem = f"{said.problem}{_events(trial)}"
    ending = "" if said.exit_ok else f" (exit code {said.exit_code}{trial.last_words})"
    if other:
        return (
            f"{problem}{ending}; a result stands where from = {other[0]!r} looks",
            f'Say result.from = "{other[0]}".',
        )
    return (
        f"{problem}{ending}",
        "Which option makes the runtime print its result as JSON, and nothing else beside it?",
    )


def _events(trial: Trial) -> str:
    """Say what the events of JSON lines have at the places by which one is wanted."""
    if trial.profile.result.source != "stdout-json-lines":
        return ""
    events = [event for line in trial.delivery.stdout.split("\n") if line.startswith("{") for event in _parsed(line)]
    marks = {at: dict.fromkeys(shown(point(event, at)) for event in events) for at in trial.profile.result.event}
    return "".join(f"; {at} of its events: {', '.join(held) or 'there is none'}" for at, held in marks.items())


def _parsed(line: str) -> tuple[JSON, ...]:
    try:
        return (loads(line),)
    except ValueError:
        return ()


def _lacks(document: JSON | Missing, pointer: str) -> bool:
    return isinstance(point(document, pointer), Missing)
