"""The scripted provider as a test sees it: play a script, point clients at its URL, and be told what went wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pytest_agentcontract.errors import ScriptError, ScriptViolation
from pytest_agentcontract.provider.seat import Seat
from pytest_agentcontract.provider.server import HOST, Provider
from pytest_agentcontract.provider.upstream.proxies import past_proxies
from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.scenario.case import ScriptedTurn
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.scenario.profile import Attribution, SideCall
from pytest_agentcontract.scripted.asked import Asked
from pytest_agentcontract.scripted.playbook import ONLY, Playbook, early_repeats, loose_attribution, loose_turns, script
from pytest_agentcontract.scripted.violations import detour, told, violations
from pytest_agentcontract.wire.formats import FORMATS

_KEY = "scripted"


class ScriptedProvider:
    """One test's provider: one script, behind one URL that speaks every wire format.

    The URL stands from the start, so that clients can be made before the script is played. What is asked of it after
    its end is late, and told under the name of the `test`.
    """

    def __init__(self, listener: Provider, test: str = "") -> None:
        self._listener, self._path = listener, listener.place(test or "a block of `running`")
        self._missed_before = len(listener.missed)
        self._seat: Seat | None = None
        self._playbook = Playbook({})
        self._told = self._proxy = ""

    # ---- where clients are pointed

    @property
    def url(self) -> str:
        """The base URL without a version: for the clients of Anthropic and Google."""
        return self._listener.url(self._path)

    @property
    def openai_url(self) -> str:
        """The base URL with `/v1`: for the clients of OpenAI."""
        return f"{self.url}/v1"

    @property
    def env(self) -> dict[str, str]:
        """What to set for a process whose clients read their settings from the environment."""
        return environment(self.url)

    # ---- what is played

    def play(
        self,
        *turns: ScriptedTurn,
        by: Attribution | None = None,
        marks: Mapping[str, str] | None = None,
        side_calls: Sequence[SideCall] = (),
        **agents: Sequence[ScriptedTurn],
    ) -> None:
        """Play a script: the turns of one agent, or `name=[...]` for each of several.

        Several are told apart `by` their "model", a "header", a text in the "system" prompt or a "token" in the first
        user message. What marks an agent is the model of its name, the header line `x-agent: NAME`, or the text
        `[[NAME]]`, unless `marks` says something else. Raises ScriptError for what can't be played.
        """
        if self._seat is not None:
            raise ScriptError("a script is played already", remedy="One provider plays one script: put it all there.")
        if turns and agents:
            raise ScriptError("turns stand both alone and under an agent's name", remedy="Give each list a name.")
        parts = {agent: _turns(agent, of) for agent, of in ({ONLY: turns} if turns else agents).items()}
        self.play_book(Playbook(parts, by or "sole", marks or {}, tuple(side_calls)))

    def play_book(self, playbook: Playbook) -> None:
        """Play a script that is a value already."""
        for place, wrong in _faults(playbook):
            raise ScriptError(wrong, where=place)
        self._playbook, self._proxy = playbook, detour(HOST)
        self._seat = self._listener.open(script(playbook), *FORMATS, at=self._path)

    def release(self, gate: str) -> None:
        """Open a gate of the script: what stands there, or will, goes on."""
        if self._seat is None or gate not in self._playbook.gates:
            known = ", ".join(map(repr, self._playbook.gates)) or "none"
            raise ScriptError(f"the script has no gate {gate!r}", remedy=f"Its gates: {known}.")
        self._seat.release(gate)

    # ---- what came of it

    @property
    def requests(self) -> tuple[Asked, ...]:
        """Every model request so far, in order of arrival."""
        return tuple(map(Asked.of, self._exchanges()))

    def verify(self) -> None:
        """Raise ScriptViolation unless everything so far went by the script, and all of it was used."""
        found = self._violations()
        if found:
            self._told = told(found)
            raise ScriptViolation(self._told)

    def close(self) -> str:
        """End the script; return what was wrong with it as one message, "" if nothing was or if it was told before."""
        if self._seat is not None:
            self._seat.close()
        self._listener.leave(self._path)
        found = self._violations()
        message = told(found) if found else ""
        return "" if message == self._told else message

    def _violations(self) -> tuple[str, ...]:
        seat = self._seat
        astray = tuple(path.replace(self._path, "") for path in self._listener.missed[self._missed_before :])
        here = seat.missed if seat else ()
        broken = [f"nobody: {harmless(wrong)}" for wrong in self._listener.broken.get(self._path, ())]
        found = violations(self._playbook, self._exchanges(), seat.left if seat else {}, (*here, *astray), self._proxy)
        return (*broken, *found)

    def _exchanges(self) -> tuple[Exchange, ...]:
        return self._seat.exchanges() if self._seat is not None else ()


def too_late(listener: Provider) -> None:
    """Raise ScriptViolation if anything was asked of a test that was over by then; no test is there to be told."""
    __tracebackhide__ = True
    if listener.late:
        raise ScriptViolation(told(tuple(map(harmless, listener.late))))


@contextmanager
def running() -> Iterator[ScriptedProvider]:
    """Run a provider outside pytest; at the end of the block it is verified, unless the block raised an error."""
    with Provider() as listener:
        provider = ScriptedProvider(listener)
        yield provider
        message = provider.close()
        if message:
            raise ScriptViolation(message)


def environment(url: str) -> dict[str, str]:
    """Return the variables that point the providers' own clients at a URL, with keys that open nothing."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": _KEY,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": _KEY,
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": _KEY,
        **past_proxies(HOST, os.environ),
    }


def _faults(playbook: Playbook) -> Iterator[tuple[str, str]]:
    yield from loose_attribution(playbook)
    for place, wrong in (*early_repeats(playbook.agents), *loose_turns(playbook.agents)):
        yield f"/agents{place}", wrong


def _turns(agent: str, turns: Sequence[ScriptedTurn]) -> tuple[ScriptedTurn, ...]:
    for at, turn in enumerate(turns):
        if not isinstance(turn, ScriptedTurn):
            raise ScriptError(
                f"{turn!r} is no turn", where=f"/agents/{agent}/{at}", remedy="Use turn(...) or reply(...)."
            )
    return tuple(turns)
