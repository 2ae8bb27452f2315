"""The pytest entry point: options, marker, hooks, the fixture. Imported in every run, so it imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_agentcontract import hookspecs
from pytest_agentcontract.plugin import CASSETTE, ORPHANS, is_own

if TYPE_CHECKING:
    from pytest_agentcontract.provider.server import Provider
    from pytest_agentcontract.recorded.session import Session
    from pytest_agentcontract.scripted.provider import ScriptedProvider

_VALUES: Final = (
    ("runtime", "append", "NAME", "a runtime to judge: a name of agent-contract.toml, reference, or module:function"),
    ("wire", "append", "NAME", "judge on this wire format only, for example anthropic-messages"),
    ("timeout", "store", "SECONDS", "time limit of one case, in place of the profile's"),
    ("report", "store", "FILE", "write the verdicts to FILE as JSON lines"),
    ("artifacts", "store", "DIR", "keep output, wire log and working folder of failed cases below DIR"),
    ("baseline", "store", "FILE", "known failures, with reasons: xfailed, and an error once they pass"),
    ("write-baseline", "store", "FILE", "write the failures of this run to FILE, to be given reasons"),
)

_MODES: Final = ("none", "once", "new_episodes", "all", "rewrite")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--agent-contract` and what refines it."""
    group = parser.getgroup("agent-contract", "judging an agent runtime")
    group.addoption(
        "--agent-contract",
        action="store_true",
        help="judge an agent runtime: alone, run only the suite; with paths, run both",
    )
    group.addoption("--agent-contract-strict", action="store_true", help="a failing SHOULD fails its case, too")
    group.addoption(
        "--agent-contract-record",
        choices=_MODES,
        default=_MODES[0],
        metavar="MODE",
        help=f"what tests do with cassettes of model traffic: {', '.join(_MODES)}; the first if nothing is said",
    )
    for name, action, metavar, text in _VALUES:
        group.addoption(f"--agent-contract-{name}", action=action, metavar=metavar, help=text)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the hooks, whether or not the suite runs."""
    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Load the suite if it is asked for: by the flag, or by a node id of it."""
    config.addinivalue_line("markers", "agent_contract(case): a case of the agent contract (set by the suite itself)")
    config.addinivalue_line("markers", "agent_contract_smoke: the few cases for a first look at a slow runtime")
    config.addinivalue_line(
        "markers",
        f"{CASSETTE}(name, *, allow_unplayed=False, pace='zero', elide=(), note=''): "
        "play this cassette of model traffic, or record it (--agent-contract-record)",
    )
    asked = config.getoption("--agent-contract") or any(map(is_own, config.args))
    if asked and not config.option.help:
        from pytest_agentcontract.plugin import suite  # noqa: PLC0415 - the rest of the package is loaded only now

        suite.register(config)
    elif unused := _refinements(config):
        raise pytest.UsageError(
            f"{unused[0]} without --agent-contract: nothing would be judged\n  Add --agent-contract."
        )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Arrange for the tests that play a cassette, before some of the tests are deselected."""
    asking = [
        item for item in items if CASSETTE in getattr(item, "fixturenames", ()) or item.get_closest_marker(CASSETTE)
    ]
    if asking:
        from pytest_agentcontract.plugin import cassettes  # noqa: PLC0415 - for the tests that ask for it

        cassettes.arrange(config, asking)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:  # noqa: ANN401 - its class is pytest-xdist's
    """Hear of a worker of pytest-xdist, which has collected the tests, which cassettes none of them plays."""
    if orphans := getattr(node, "workeroutput", {}).get(ORPHANS):
        from pytest_agentcontract.plugin import cassettes  # noqa: PLC0415 - the same

        cassettes.hear(node.config, orphans)


@pytest.fixture(scope="session")
def _scripted_listener() -> Iterator[Provider]:
    """Listen on one port for all tests of this process that script a model; tell at the end what came too late."""
    from pytest_agentcontract.provider.server import Provider  # noqa: PLC0415 - for the tests that ask for it
    from pytest_agentcontract.scripted.provider import too_late  # noqa: PLC0415 - the same

    with Provider() as listener:
        yield listener
    too_late(listener)


@pytest.fixture
def scripted_provider(request: pytest.FixtureRequest, _scripted_listener: Provider) -> Iterator[ScriptedProvider]:
    """Play the model after a script of this test's own; whatever does not go by the script fails the test."""
    from pytest_agentcontract.scripted.provider import ScriptedProvider  # noqa: PLC0415 - the same

    provider = ScriptedProvider(_scripted_listener, request.node.nodeid)
    yield provider
    message = provider.close()
    if message:
        pytest.fail(message, pytrace=False)


@pytest.fixture
def agent_contract_cassette(
    request: pytest.FixtureRequest, _scripted_listener: Provider, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Session]:
    """Play this test's cassette to the clients of model providers, or record it: their base URLs are set meanwhile."""
    from pytest_agentcontract.plugin import cassettes  # noqa: PLC0415 - the same

    with cassettes.played(request.node, _scripted_listener, monkeypatch) as session:
        yield session


def _refinements(config: pytest.Config) -> list[str]:
    names = ["strict", *(name for name, *_ in _VALUES)]
    return [f"--agent-contract-{name}" for name in names if config.getoption(f"--agent-contract-{name}")]
