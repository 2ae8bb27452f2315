"""Ask a runtime one operation of the hand-off contract, however its adapter is reached; both ways are held alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from pytest_agentcontract.drivers import stdio
from pytest_agentcontract.drivers.inprocess import imported
from pytest_agentcontract.drivers.messages import Answer, Broken, answered, decode, encode
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, Missing, as_object, dumps, loads
from pytest_agentcontract.scenario.profile import Profile


def ask(profile: Profile, op: str, given: JSONObject) -> Answer:
    """Return what the runtime answers to `op`; raise DriverError where it has no adapter, or one that breaks down."""
    if not profile.adapter:
        raise DriverError(
            "has no adapter to ask", where=f"runtime {profile.name}", remedy="Name one: `adapter` in its profile."
        )
    return _ASK[profile.driver](profile, op, given)


def _ask_in_process(profile: Profile, op: str, given: JSONObject) -> Answer:
    """Call `function(op, input, settings)`: it returns the output, or MISSING for what it does not support."""
    function = imported(profile, profile.adapter[0])
    asked = as_object(loads(encode({"seq": 1, "cmd": op, "input": given})))["input"]
    try:
        output = function(op, asked, profile.settings)
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return Answer(error=f"{type(error).__name__}: {error}")
    return Answer(unsupported=True) if isinstance(output, Missing) else _held(profile, op, output)


def _held(profile: Profile, op: str, output: object) -> Answer:
    """Hold a Python value to what a line would have to be."""
    where = f"runtime {profile.name}, the output of {profile.adapter[0]} for {op!r}"
    try:
        line = dumps({"seq": 1, "ok": True, "output": cast("JSON", output)}).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise DriverError(f"not JSON: {error}", where=where, remedy="Return dicts, lists and scalars.") from error
    message = decode(line, op, 1)
    if isinstance(message, Broken):
        place = message.place.removeprefix("$.")
        raise DriverError(f"{place}: {message.what}", where=where, remedy=message.remedy)
    return answered(message)


_ASK: Mapping[str, Callable[[Profile, str, JSONObject], Answer]] = {"stdio": stdio.ask, "python": _ask_in_process}
