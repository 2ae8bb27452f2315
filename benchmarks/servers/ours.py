"""The scripted provider with everything on: sixty-four agents, each known by its model's name, and a log of it all."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from question import AGENTS, PIECES, TEXT, model

from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario.binding import Nonces
from pytest_agentcontract.scenario.case import Case, Expect, Given, ScriptedTurn
from pytest_agentcontract.scenario.profile import Profile, ResultRule
from pytest_agentcontract.scenario.script import Script
from pytest_agentcontract.wire.formats import FORMATS
from pytest_agentcontract.wire.turn import Usage


def script(turns: int) -> Script:
    """Build a script in which every agent says the same for ever, or has so many turns that are all different."""
    agents = {model(agent): model(agent) for agent in range(AGENTS)}
    new = tuple(ScriptedTurn(TEXT, deltas=PIECES, usage=Usage(number, 5)) for number in range(turns))
    said = new or (ScriptedTurn(TEXT, repeat=True, deltas=PIECES),)
    case = Case("benchmark/provider", "t", "w", (), Given("json", "Go."), dict.fromkeys(agents, said), Expect())
    profile = Profile("p", "command", {}, ResultRule(), frozenset(), attribution="model", agents=agents)
    return Script(case, profile, Nonces("n", "s"), Path("runs"), strict=True)


def main() -> None:
    """Serve, say where, and go on until told to end."""
    with Provider() as provider:
        print(provider.open(script(int(sys.argv[1])), *FORMATS).base_url, flush=True)
        signal.sigwait({signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main()
