"""Cassettes in pytest: which one a test plays, how its outcome counts for a recording, and which ones nobody plays."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, get_args

import pytest

from pytest_agentcontract.cassette import entries
from pytest_agentcontract.cassette.modes import RecordMode
from pytest_agentcontract.errors import AgentContractError, UsageError
from pytest_agentcontract.plugin import CASSETTE, ORPHANS
from pytest_agentcontract.provider.replayer import Pace
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.recorded.session import Session
from pytest_agentcontract.recorded.use import Use

FOLDER: Final = "cassettes"
"""Where cassettes stand, beside the tests that play them."""

_NAME: Final = "agent-contract cassettes"
_BROKEN = pytest.StashKey[bool]()
_UNFIT: Final = re.compile(r"[^\w.+=,@-]+")
_TERMS: Final = {"allow_unplayed": bool, "pace": str, "elide": tuple | list, "note": str}
_REMEDY: Final = "agent_contract_cassette(name, *, allow_unplayed=False, pace='zero' | 'recorded', elide=(), note='')"


def arrange(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Let tests that are marked have the fixture, watch how they end, and look for cassettes that none of them plays.

    `items` are all that were collected and have the mark or the fixture.
    """
    for item in items:
        names: list[str] = getattr(item, "fixturenames", [])
        if CASSETTE not in names:
            names.insert(0, CASSETTE)
    _watch(config).take(items)


def hear(config: pytest.Config, orphans: Iterable[str]) -> None:
    """Take note of what a worker of pytest-xdist tells: cassettes that no test plays."""
    _watch(config).orphans.update(map(Path, orphans))


@contextmanager
def played(item: pytest.Item, listener: Provider, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """Play or record the cassette of a test, the providers' clients pointed at it; fail the test for what is wrong."""
    __tracebackhide__ = True
    try:
        session = Session(listener, place(item), _use(item), test=item.nodeid)
    except AgentContractError as error:
        pytest.fail(str(error), pytrace=False)
    for name, value in session.env.items():
        monkeypatch.setenv(name, value)
    try:
        yield session
    finally:
        message = session.close(failed=item.stash.get(_BROKEN, False))
    if message:
        pytest.fail(message, pytrace=False)


def place(item: pytest.Item) -> Path:
    """Return where the cassette of a test stands: the marked name, else one that is made of the test's own."""
    mark = item.get_closest_marker(CASSETTE)
    folder = item.path.parent / FOLDER
    name = _named(mark)
    if name:
        return folder / f"{name.removesuffix('.yaml')}.yaml"
    own = item.nodeid.partition("::")[2].replace("::", ".")
    return folder / item.path.stem / f"{_UNFIT.sub('-', own).strip('-')}.yaml"


def _named(mark: pytest.Mark | None) -> str:
    """Return the name that a mark gives; raise UsageError for what can't be one."""
    given = mark.args if mark else ()
    name = given[0] if given else ""
    if len(given) > 1 or not isinstance(name, str) or Path(name).is_absolute() or ".." in Path(name).parts:
        remedy = f"A name is a path below {FOLDER}/, as in {CASSETTE}('a/b')."
        raise UsageError(f"{CASSETTE}{given!r} names no cassette", remedy=remedy)
    return name


def _use(item: pytest.Item) -> Use:
    """Return how the test plays its cassette, as mark and option say; raise UsageError for what can't be meant."""
    mark = item.get_closest_marker(CASSETTE)
    terms = dict(mark.kwargs) if mark else {}
    for term, value in terms.items():
        if not isinstance(value, _TERMS.get(term, ())) or (term == "pace" and value not in get_args(Pace)):
            raise UsageError(f"{CASSETTE}: {term}={value!r} can't be meant", remedy=f"Write {_REMEDY}.")
    mode = RecordMode(item.config.getoption("--agent-contract-record"))
    return Use(mode=mode, **{**terms, "elide": tuple(terms.get("elide", ()))})


def _watch(config: pytest.Config) -> _Watch:
    """Return what watches the tests of this process; from the first call on it does."""
    known = config.pluginmanager.get_plugin(_NAME)
    if isinstance(known, _Watch):
        return known
    made = _Watch(config)
    config.pluginmanager.register(made, _NAME)
    return made


class _Watch:
    """A plugin that knows which tests broke, and which cassettes are orphans."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.orphans: set[Path] = set()

    def take(self, items: Iterable[pytest.Item]) -> None:
        """Look for orphans beside tests that play cassettes."""
        used = set[Path]()
        for item in items:
            with suppress(UsageError):  # which its test will tell
                used.add(place(item).resolve())
        folders = {item.path.parent / FOLDER for item in items}
        if _is_whole(self._config):
            self.orphans.update(_orphans(folders, used))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Take note of a test that did not come to its end."""
        if call.excinfo is not None:
            item.stash[_BROKEN] = True
        return (yield)

    def pytest_sessionfinish(self) -> None:
        """Tell the main process of pytest-xdist which cassettes are nobody's."""
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[ORPHANS] = [str(path) for path in sorted(self.orphans)]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell which cassettes are nobody's."""
        if self.orphans:
            terminalreporter.section("cassettes that no test plays")
        for path in sorted(self.orphans):
            terminalreporter.line(str(path))


def _is_whole(config: pytest.Config) -> bool:
    """Tell whether all tests of each module were collected: then a cassette without a test is one for good."""
    return not any("::" in argument for argument in config.args)


def _orphans(folders: Iterable[Path], used: set[Path]) -> Iterator[Path]:
    found = (path for folder in folders for path in folder.rglob("*.yaml"))
    return (path for path in found if path.resolve() not in used and _is_ours(path))


def _is_ours(path: Path) -> bool:
    """Tell whether a file is a recording of this project's, and no failed one: other folders are called so, too."""
    return not path.stem.endswith(".failed") and entries.NAME.encode() in path.read_bytes()
