"""Wrong decisions on what a comment says: reading, accepting, recording and rendering a decision, put in by mutants."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pytest_agentcontract.contract import sentinel
from pytest_agentcontract.contract.checker import Diagnostic
from pytest_agentcontract.contract.handoff import AgentRunConfig, Dispatch, FunctionCall, Origin, Status, WorkflowState
from pytest_agentcontract.contract.routing import Decision, Facts
from pytest_agentcontract.contract.sentinel import MARKER, Model
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, as_text, dumps
from pytest_agentcontract.reference.handoff_rules import Found

_LARGE: Final = 1 << 15
_ON_ITS_LINE: Final = re.compile(rf"<!-- {MARKER} ((?:(?!<!--).)*?) -->")
_MENTION: Final = re.compile(r"@+([A-Za-z][\w-]*)")

# ---- a text


def last_brace(text: str, model: Model) -> Found:
    """Take everything from the text's first brace to its last for the payload."""
    found = sentinel.parse(text, model)
    return found and sentinel.config_of(text[text.find("{") : text.rfind("}") + 1], model)


def nothing_written(_text: str, _model: Model) -> Found:
    """Read no sentinel that an agent wrote itself."""
    return None


def bare_word(text: str, model: Model) -> Found:
    """Take the bare word for a marker."""
    found = sentinel.parse(text, model)
    return Diagnostic("there is no payload") if found is None and MARKER in text else found


def small_texts_only(text: str, model: Model) -> Found:
    """Give up on a long text."""
    return sentinel.parse(text, model) if len(text) < _LARGE else None


def mention_is_a_call(text: str, model: Model) -> Found:
    """Take a mention for a call."""
    found, mention = sentinel.parse(text, model), _MENTION.search(text)
    return AgentRunConfig(function_call=FunctionCall(mention[1])) if found is None and mention else found


def as_text_only(text: str, model: Model) -> Found:
    """Take a sentinel that is only quoted for one."""
    lines = _ON_ITS_LINE.findall(text)
    return sentinel.config_of(lines[-1], model) if lines else sentinel.parse(text, model)


def first_of_several(text: str, model: Model) -> Found:
    """Go by the first sentinel."""
    lines = _ON_ITS_LINE.findall(text)
    return sentinel.config_of(lines[0], model) if len(lines) > 1 else sentinel.parse(text, model)


def last_readable(text: str, model: Model) -> Found:
    """Fall back on an earlier sentinel where the last can't be read."""
    found = sentinel.parse(text, model)
    read = [sentinel.config_of(line, model) for line in _ON_ITS_LINE.findall(text)]
    good = [config for config in read if isinstance(config, AgentRunConfig)]
    return good[-1] if isinstance(found, Diagnostic) and good else found


def written_first(typed: AgentRunConfig | None, written: Found) -> Found:
    """Let a sentinel in the text win over the control-plane calls."""
    return written or typed


# ---- a payload


def empty_is_valid(value: JSON) -> AgentRunConfig | Diagnostic:
    """Accept a decision without any action."""
    return AgentRunConfig() if value == {} else AgentRunConfig.from_json(value)


def two_targets(value: JSON) -> AgentRunConfig | Diagnostic:
    """Accept a task beside a function call, and follow the call."""
    config = as_object(value)
    both = "task" in config and "function_call" in config
    return AgentRunConfig.from_json({key: part for key, part in config.items() if key != "task"} if both else value)


def task_required(value: JSON) -> AgentRunConfig | Diagnostic:
    """Ask for a task or a call in every decision: the defect D1."""
    found = AgentRunConfig.from_json(value)
    alone = isinstance(found, AgentRunConfig) and found.task is None and found.function_call is None
    return Diagnostic("lacks 'task'") if alone else found


def any_status(value: JSON) -> AgentRunConfig | Diagnostic:
    """Take a status that does not exist for an advance."""
    return AgentRunConfig.from_json(_dispatched(value, _with_known_status))


def any_function(value: JSON) -> AgentRunConfig | Diagnostic:
    """Take every function for call_agent."""
    config = as_object(value)
    call = as_object(config.get("function_call"))
    return AgentRunConfig.from_json({**config, "function_call": {**call, "function": "call_agent"}} if call else value)


def unwrapped(value: JSON) -> AgentRunConfig | Diagnostic:
    """Take the one element of an array for the decision."""
    items = as_list(value)
    return AgentRunConfig.from_json(items[0] if len(items) == 1 else value)


def one_action(value: JSON) -> AgentRunConfig | Diagnostic:
    """Refuse a decision of two actions."""
    return Diagnostic("more than one action") if len(as_object(value)) > 1 else AgentRunConfig.from_json(value)


def no_reason_given(value: JSON) -> AgentRunConfig | Diagnostic:
    """Refuse an invalid decision without naming the rule that it breaks."""
    found = AgentRunConfig.from_json(value)
    return Diagnostic("invalid") if isinstance(found, Diagnostic) else found


def origin_taken(value: JSON) -> AgentRunConfig | Diagnostic:
    """Believe what a dispatch says of its own origin."""
    origin = as_object(as_object(value).get("dispatch")).get("origin")
    found = AgentRunConfig.from_json(_dispatched(value, _without_origin))
    if not isinstance(found, AgentRunConfig) or found.dispatch is None or origin not in [*Origin]:
        return found
    return replace(found, dispatch=replace(found.dispatch, origin=Origin(as_text(origin))))


# ---- what is posted


def effective_callback(facts: Facts, decision: Decision) -> AgentRunConfig:
    """Record the callback that is in effect, not the one that was given; drop the reason of a dispatch."""
    config = facts.config or AgentRunConfig(dispatch=decision.dispatch)
    call, dispatch = config.function_call, config.dispatch
    return replace(
        config,
        function_call=call and replace(call, callback=decision.callback),
        dispatch=dispatch and Dispatch(dispatch.status),
    )


def always_an_advance(_facts: Facts, _decision: Decision) -> AgentRunConfig:
    """Record an advance, whatever was decided."""
    return AgentRunConfig(dispatch=Dispatch(Status.ADVANCE))


def absent_as_null(config: AgentRunConfig) -> str:
    """Render what is absent as null."""
    fields: JSONObject = {"task": None, "dispatch": None, "function_call": None}
    return sentinel.comment_line(MARKER, {**fields, **config.to_json()})


def without_callback(config: AgentRunConfig) -> str:
    """Leave a callback out."""
    call = config.function_call
    return sentinel.render(replace(config, function_call=call and FunctionCall(call.agent_name)))


def unescaped(config: AgentRunConfig) -> str:
    """Let a string end the comment."""
    return f"<!-- {MARKER} {dumps(config.to_json())} -->"


def without_callback_in_state(state: WorkflowState) -> WorkflowState:
    """Keep the callback in memory only."""
    return replace(state, callback=None)


def _dispatched(value: JSON, change: Callable[[JSONObject], JSONObject]) -> JSON:
    config = as_object(value)
    dispatch = config.get("dispatch")
    return {**config, "dispatch": change(dispatch)} if isinstance(dispatch, dict) else value


def _with_known_status(dispatch: JSONObject) -> JSONObject:
    status = dispatch.get("status")
    unknown = isinstance(status, str) and status not in [*Status]
    return {**dispatch, "status": Status.ADVANCE.value} if unknown else dispatch


def _without_origin(dispatch: JSONObject) -> JSONObject:
    return {key: part for key, part in dispatch.items() if key != "origin"}
