"""The scripted provider with everything on: sixty-four agents, each known by its model's name, and a log of it all."""

from __future__ import annotations

import signal
from pathlib import Path

from question import AGENTS, PIECES, TEXT, model

from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario.binding import Nonces
from pytest_agentcontract.scenario.case import Case, Expect, Given, ScriptedTurn
from pytest_agentcontract.scenario.profile import Profile, ResultRule
from pytest_agentcontract.scenario.script import Script
from pytest_agentcontract.wire.formats import FORMATS


def script() -> Script:
    """Build a script in which every agent says the same, for ever."""
    agents = {model(agent): model(agent) for agent in range(AGENTS)}
    turn = ScriptedTurn(TEXT, repeat=True, deltas=PIECES)
    case = Case("benchmark/provider", "t", "w", (), Given("json", "Go."), dict.fromkeys(agents, (turn,)), Expect())
    profile = Profile("p", "command", {}, ResultRule(), frozenset(), attribution="model", agents=agents)
    return Script(case, profile, Nonces("n", "s"), Path("runs"), strict=True)


def main() -> None:
    """Serve, say where, and go on until told to end."""
    with Provider() as provider:
        print(provider.open(script(), *FORMATS).base_url, flush=True)
        signal.sigwait({signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main()
