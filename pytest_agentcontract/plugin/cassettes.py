"""Cassettes in pytest: which one a test plays, how its outcome counts for a recording, and which ones nobody plays."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, get_args

import pytest

from pytest_agentcontract.cassette.file import entries
from pytest_agentcontract.cassette.modes import RecordMode, conduct
from pytest_agentcontract.errors import AgentContractError, UsageError
from pytest_agentcontract.plugin import CASSETTE, ORPHANS
from pytest_agentcontract.provider.replayer import Pace
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.recorded.session import Session
from pytest_agentcontract.recorded.use import Use

FOLDER: Final = "cassettes"
"""Where cassettes stand, beside the tests that play them."""

_NAME: Final = "agent-contract cassettes"
_PASSED = pytest.StashKey[bool]()
_LONGEST: Final = 120
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
    session, message = _begun(item, listener)
    if session is None:
        pytest.fail(message, pytrace=False)
    for name, value in session.env.items():
        monkeypatch.setenv(name, value)
    try:
        yield session
    finally:
        message = _ended(session, failed=not item.stash.get(_PASSED, False))
    if message:
        pytest.fail(message, pytrace=False)


def _begun(item: pytest.Item, listener: Provider) -> tuple[Session | None, str]:
    try:
        path, use = place(item), _use(item)
        if _replaces(use.mode, path) and (others := _watch(item.config).shared.get(path.resolve())):
            remedy = f"Give each its own, or record with one of them alone: {', '.join(sorted(others))}."
            raise UsageError("several tests would record this cassette", where=str(path), remedy=remedy)
        return Session(listener, path, use, test=item.nodeid), ""
    except AgentContractError as error:
        return None, str(error)


def _ended(session: Session, *, failed: bool) -> str:
    try:
        return session.close(failed=failed)
    except AgentContractError as error:
        return str(error)


def _replaces(mode: RecordMode, path: Path) -> bool:
    """Tell whether a test that records drops what another one has recorded there."""
    doing = conduct(mode, exists=path.exists())
    return doing.records and doing.old != "stay"


def place(item: pytest.Item) -> Path:
    """Return where the cassette of a test stands: the marked name, else one that is made of the test's own."""
    mark = item.get_closest_marker(CASSETTE)
    folder = item.path.parent / FOLDER
    name = _named(mark)
    if name:
        return folder / f"{name.removesuffix('.yaml')}.yaml"
    return folder / item.path.stem / f"{_name_of(item.nodeid.partition('::')[2])}.yaml"


def _name_of(test: str) -> str:
    """Return a file name for a test: its own where a file can be called so, else a short one that is nobody else's."""
    own = test.replace("::", ".").replace("[", "-", 1).removesuffix("]")
    name = _UNFIT.sub("-", own)[:_LONGEST]
    return name if name == own else f"{name}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"


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
    """A plugin that knows which tests have passed, which share a cassette, and which cassettes are orphans."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.orphans: set[Path] = set()
        self.shared: dict[Path, set[str]] = {}

    def take(self, items: Iterable[pytest.Item]) -> None:
        """Look for orphans beside tests that play cassettes."""
        used = set[Path]()
        for item in items:
            with suppress(UsageError):  # which its test will tell
                used.add(place(item).resolve())
        folders = {item.path.parent / FOLDER for item in items}
        if _is_whole(self._config):
            self.orphans.update(_orphans(folders, used))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Find the cassettes that several of the selected tests name."""
        found = defaultdict[Path, set[str]](set)
        for item in session.items:
            if CASSETTE in getattr(item, "fixturenames", ()):
                with suppress(UsageError):  # as above
                    found[place(item).resolve()].add(item.nodeid)
        self.shared = {path: tests for path, tests in found.items() if len(tests) > 1}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Take note of a test that has passed; one that was interrupted has no report."""
        report = yield
        item.stash[_PASSED] = report.when == "call" and report.passed
        return report

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
    """Tell whether all tests of each folder were collected: then a cassette without a test is one for good."""
    return not config.getoption("lf", default=False) and all(Path(argument).is_dir() for argument in config.args)


def _orphans(folders: Iterable[Path], used: set[Path]) -> Iterator[Path]:
    found = (path for folder in folders for path in folder.rglob("*.yaml"))
    return (path for path in found if path.resolve() not in used and _is_ours(path))


def _is_ours(path: Path) -> bool:
    """Tell whether a file is a recording of this project's, and no failed one: other folders are called so, too."""
    return not path.stem.endswith(".failed") and entries.NAME.encode() in path.read_bytes()
