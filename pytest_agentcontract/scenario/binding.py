"""From a case's words to one run's: the nonces, the runtime's own tools, the places on disk, the agents' prompts."""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeVar, cast

from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, dumps, place
from pytest_agentcontract.scenario.case import HANDOFF, RETURN, SPAWN, WORK, Case, ScriptedCall, ScriptedTurn
from pytest_agentcontract.scenario.profile import Binding, Profile
from pytest_agentcontract.scenario.template import Change, Template, template
from pytest_agentcontract.wire.turn import Call, Turn

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Nonces:
    """The two values of one run: a runtime is started with `public`, and hears `secret` from the model alone.

    Marks and expected values are made of the secret, so that nobody can have them who did not take what the model said.
    """

    public: str
    secret: str

    @classmethod
    def fresh(cls) -> Self:
        """Draw the values of a new run."""
        return cls(secrets.token_hex(6), secrets.token_hex(6))


@dataclass(frozen=True, slots=True)
class Places:
    """Where one run leaves its traces, and what its children are told: `prompts` holds each agent's seed prompt."""

    nonces: Nonces
    workdir: Path
    prompts: Mapping[str, str]

    def mark(self, label: str) -> Path:
        """Return the file that the `$work` call with this label creates."""
        return self.workdir / f"mark-{label}-{self.nonces.secret}"


def token(agent: str, public: str) -> str:
    """Return the text that tells an agent's requests from all others'; it stands in the agent's first message."""
    return f"[[{agent}-{public}]]"


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace `{name}` for each name of `values`, in one pass: what is put in is not looked at again."""
    if "{" not in text:
        return text
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda found: values[found[1]], text)


def bind(case: Case, nonces: Nonces) -> Case:
    """Put a run's nonces into a case: the public one into what is given, the secret into what is said and expected.

    What is expected of the given texts themselves says `{given-nonce}`.
    """

    def known(text: str) -> str:
        return text.replace("{nonce}", nonces.public)

    def said(text: str) -> str:
        return text.replace("{nonce}", nonces.secret)

    def expected(text: str) -> str:
        return said(text).replace("{given-nonce}", nonces.public)

    given, script, expect = _templates(case)
    return replace(
        case,
        given=_changed(case.given, given, known),
        script=_changed(case.script, script, said),
        expect=_changed(case.expect, expect, expected),
    )


def _templates(case: Case) -> list[Template | None]:
    """Return what fills the parts of a case; found once for all its runs."""
    if not case.templates:
        case.templates.extend(map(template, (case.given, case.script, case.expect)))
    return case.templates


def bind_turn(turn: ScriptedTurn, profile: Profile, places: Places, label: str) -> Turn:
    """Say a scripted turn in the runtime's own tools; `label` makes the call ids unique in the run."""
    calls = tuple(
        _bind_call(call, profile, places, call.id or f"toolu_{label}_{k}") for k, call in enumerate(turn.calls, 1)
    )
    return Turn(turn.text, turn.thinking, calls, turn.stop, turn.usage, turn.refusal, deltas=turn.deltas)


def tool_name(call: ScriptedCall, profile: Profile) -> str:
    """Return the name under which the runtime must advertise the tool of this call."""
    return fill(_binding(call, profile).name, {"agent": call.agent})


def _bind_call(call: ScriptedCall, profile: Profile, places: Places, call_id: str) -> Call:
    binding = _binding(call, profile)
    build = _BUILDERS.get(call.tool, _as_given)
    arguments = build(call, binding, places) if call.arguments is MISSING else _as_given(call, binding, places)
    raw = dumps(arguments)[: -call.truncate] if call.truncate else call.raw_arguments
    return Call(tool_name(call, profile), arguments, raw, call_id)


def _binding(call: ScriptedCall, profile: Profile) -> Binding:
    """Find the profile's tool for a `$` name; any other name, and a part that is not bound, stands for itself."""
    bound = profile.tools.get(call.tool[1:]) if call.tool in _BUILDERS else None
    return bound or Binding(call.tool)


def _returned(call: ScriptedCall, binding: Binding, places: Places) -> JSON:
    if call.value is MISSING:
        return {}
    known, value = {"nonce": places.nonces.public}, cast("JSON", call.value)
    if not binding.spells:
        return _merged(_filled(binding.arguments, known), place(binding.payload, value))
    # In a text, `true` would be the string of that name: what has no text of its own is left out.
    return _filled(binding.arguments, known | _spelt(value)) if isinstance(value, str | dict | list) else {}


def _spelt(value: JSON) -> dict[str, str]:
    """Return a value as text, a string as it stands, and the same as one word of a shell's command line."""
    text = value if isinstance(value, str) else dumps(value)
    return {"payload": text, "payload_in_shell": shlex.quote(text)}


def _worked(call: ScriptedCall, binding: Binding, places: Places) -> JSON:
    return filled(binding.arguments, {"mark": str(places.mark(call.mark))}, places)


def _spawned(call: ScriptedCall, binding: Binding, places: Places) -> JSON:
    asked = {"agent": call.agent, "child_prompt": places.prompts[call.agent]}
    return filled(binding.arguments, asked, places)


def _handed_on(call: ScriptedCall, binding: Binding, places: Places) -> JSON:
    return filled(binding.arguments, {"agent": call.agent}, places)


def _as_given(call: ScriptedCall, _binding: Binding, _places: Places) -> JSON:
    return {} if call.arguments is MISSING else cast("JSON", call.arguments)


_BUILDERS: Mapping[str, Callable[[ScriptedCall, Binding, Places], JSON]] = {
    RETURN: _returned,
    WORK: _worked,
    SPAWN: _spawned,
    HANDOFF: _handed_on,
}


def filled(arguments: JSONObject, values: Mapping[str, str], places: Places) -> JSONObject:
    """Fill the arguments of a binding with what is known of one run, and with values of their own."""
    return _filled(arguments, _placeholders(places) | dict(values))


def _placeholders(places: Places) -> dict[str, str]:
    return {"nonce": places.nonces.public, "workdir": str(places.workdir)}


def _filled(arguments: JSONObject, values: Mapping[str, str]) -> JSONObject:
    return _mapped(arguments, lambda text: fill(text, values))


def _merged(under: JSON, over: JSON) -> JSON:
    """Lay one JSON value over another: objects key by key, anything else replaces."""
    if isinstance(under, dict) and isinstance(over, dict):
        return under | {key: _merged(under.get(key), value) for key, value in over.items()}
    return over


def _mapped(value: _T, change: Change) -> _T:
    """Change every string inside a value, keys too."""
    return _changed(value, template(value), change)


def _changed(value: _T, holes: Template | None, change: Change) -> _T:
    return value if holes is None else cast("_T", holes(change))
