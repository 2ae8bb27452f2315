"""What the reference tells its model: the system prompt of each kind of agent."""

from __future__ import annotations

from pytest_agentcontract.contract import reply
from pytest_agentcontract.contract.returning import Role
from pytest_agentcontract.jsonvalue import JSONObject, dumps

_WORK = "You are an agent with a working folder and a few tools."
_RETURNING = (
    f"You work without a user. Finish by calling `{reply.NAME}` once: its `{reply.FIELD}` is all that anybody gets to "
    "see of your work, so put the whole result in it: text as a string, a structure as an object or an array."
)
_ANSWERING = "You work without a user. Your last message, one that calls no tool, is your answer."
_CONVERSING = "You talk with a user, who reads what you write."

REPLY = "Return your result and finish. Nothing that you say elsewhere is returned."


def system(role: Role, schema: JSONObject | None, *, offered: bool) -> str:
    """Return the system prompt; `offered` says whether the agent is offered the reply."""
    if role.is_root and role.interactive:
        return f"{_WORK} {_CONVERSING}"
    text = f"{_WORK} {_RETURNING if offered else _ANSWERING}"
    if schema is None:
        return text
    return f"{text} The result must conform to this JSON Schema: {dumps(schema)}"
