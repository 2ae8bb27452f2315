"""What did not go as the script says, one line each: refusals, unknown paths, shut gates, unused turns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from urllib.request import proxy_bypass

from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.scenario.observation import REFUSALS, Exchange
from pytest_agentcontract.scripted.playbook import Playbook

_PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


def violations(
    playbook: Playbook,
    exchanges: Sequence[Exchange],
    left: Mapping[str, Sequence[int]],
    missed: Sequence[str],
    proxy: str = "",
) -> tuple[str, ...]:
    """Return everything that was wrong, in order: what was asked, then what never was.

    `proxy` is what to say of a proxy on the way if nothing was asked at all. Pointers in a line on a request lead into
    its messages, and those on a turn into the script.
    """
    hint = f" ({proxy})" if proxy and not exchanges and not missed else ""
    unused = (f"{line}{hint}" for line in _unused(playbook, exchanges, left))
    return tuple(map(harmless, (*_refused(exchanges), *_shut(exchanges), *_missed(missed), *unused)))


def detour(host: str) -> str:
    """Say which variable sends requests for a host of ours to a proxy, if one does."""
    name = next((name for name in _PROXIES if os.environ.get(name)), "")
    return f"{name} is set and NO_PROXY does not name {host}" if name and not proxy_bypass(host) else ""


def told(found: Sequence[str]) -> str:
    """Render violations as the one message of a failing test."""
    many = f"{len(found)} violations" if len(found) > 1 else "1 violation"
    return "\n  ".join([f"the script was not played as written: {many}", *found])


def _refused(exchanges: Sequence[Exchange]) -> Iterator[str]:
    for seen in (seen for seen in exchanges if seen.kind in REFUSALS):
        turn = f", turn {seen.turn} (/agents/{seen.agent}/{seen.turn - 1})" if seen.turn else ""
        yield f"{seen.agent or 'nobody'}{turn}: request {seen.serial} was refused as {seen.kind}: {seen.note}"


def _shut(exchanges: Sequence[Exchange]) -> Iterator[str]:
    for seen in (seen for seen in exchanges if not seen.released):
        place = f"turn {seen.turn} (/agents/{seen.agent}/{seen.turn - 1})"
        yield f"{seen.agent}, {place}: nobody opened its gate: request {seen.serial} went on when its time was up"


def _missed(paths: Sequence[str]) -> Iterator[str]:
    yield from (f"nobody: {path} was asked, and nothing is served there" for path in paths)


def _unused(playbook: Playbook, exchanges: Sequence[Exchange], left: Mapping[str, Sequence[int]]) -> Iterator[str]:
    for agent, numbers in left.items():
        for number in numbers:
            sent = [seen for seen in exchanges if _answers(seen, agent, number)]
            what = _undelivered(sent[-1]) if sent else "never asked for"
            yield f"{agent}, turn {number} of {len(playbook.agents[agent])} (/agents/{agent}/{number - 1}): {what}"


def _undelivered(seen: Exchange) -> str:
    if seen.gate is None or seen.gate.until == "end":
        return f"sent to request {seen.serial}, never delivered whole"
    if seen.gate.until == "released":
        return f"request {seen.serial} waited at gate {seen.gate.text!r}, which nobody opened before its client hung up"
    return f"request {seen.serial} waited for turn {seen.gate.turn} of {seen.gate.agent}, until its client hung up"


def _answers(seen: Exchange, agent: str, number: int) -> bool:
    return (seen.agent, seen.turn) == (agent, number) and seen.kind not in REFUSALS
