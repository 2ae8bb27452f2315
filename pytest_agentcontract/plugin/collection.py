"""The suite as pytest nodes: Root > a Group per contract > a Case per (case, runtime, wire format)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_agentcontract.plugin import ROOT
from pytest_agentcontract.plugin.bench import Bench, Judged
from pytest_agentcontract.plugin.selection import Planned
from pytest_agentcontract.plugin.smoke import MARK, SMOKE


class UnmetError(AssertionError):
    """A case that a runtime doesn't pass; the text is the whole explanation."""


class Root(pytest.Collector):
    """What holds the groups, beside the user's own files."""

    plan: tuple[Planned, ...]

    @classmethod
    def build(cls, session: pytest.Session, plan: tuple[Planned, ...]) -> Root:
        """Make the one root of a session."""
        root: Root = cls.from_parent(session, name=ROOT, nodeid=ROOT)
        root.plan = plan
        return root

    def collect(self) -> Iterator[Group]:
        """Yield a group per contract."""
        for contract, items in groupby(self.plan, key=lambda item: item.contract):
            yield Group.build(self, contract, tuple(items))


class Group(pytest.Module):
    """The cases of one contract.

    A Module, so that module-scoped fixtures of the user's find their node; its path is the rootdir, so that `--lf`
    doesn't skip it as an unknown file and the root conftest's fixtures apply.
    """

    plan: tuple[Planned, ...]

    @classmethod
    def build(cls, parent: Root, contract: str, plan: tuple[Planned, ...]) -> Group:
        """Make the group of one contract."""
        nodeid = f"{parent.nodeid}::{contract}"
        group: Group = cls.from_parent(parent, path=parent.config.rootpath, name=contract, nodeid=nodeid)
        group.plan = plan
        return group

    def _getobj(self) -> ModuleType:
        return sys.modules[__name__]

    def collect(self) -> Iterable[Item]:
        """Yield an item per planned case."""
        return [Item.build(self, planned) for planned in self.plan]


class Item(pytest.Function):
    """One case on one runtime over one wire format."""

    planned: Planned
    judged: Judged | None = None

    @classmethod
    def build(cls, parent: Group, planned: Planned) -> Item:
        """Make the item of a planned case."""
        item: Item = cls.from_parent(parent, name=planned.name, callobj=judge)
        item.planned = planned
        item.add_marker(pytest.mark.agent_contract(planned.case.id))
        if planned.case.id in SMOKE:
            item.add_marker(MARK)
        place = {"case": planned.case.id, "runtime": planned.profile.name, "wire": planned.wire}
        item.user_properties += [(f"agent_contract.{key}", value) for key, value in place.items()]
        return item

    @property
    def id(self) -> Any:  # noqa: ANN401 - pytest doesn't export its type
        """Return the node id as newer pytests keep it: with the brackets apart, else `--lf` wouldn't find it again."""
        return type(super().id).parse(self.nodeid)

    @property
    def case_id(self) -> str:
        """The case's id: where its outcome is kept below a folder of snapshots."""
        return self.planned.case.id

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Name the item in a report; the line has to be a number."""
        return Path(ROOT), 0, self.nodeid.partition("::")[2]

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 - pytest's own
        """Show what is unmet as text: a traceback into the suite would help nobody."""
        del style
        return str(excinfo.value) if excinfo.errisinstance(UnmetError) else super().repr_failure(excinfo)


def judge(request: pytest.FixtureRequest) -> None:
    """Run the case, and raise what pytest is to make of the verdicts."""
    item: Item = request.node
    judged = Bench.of(request.config).judge(item.planned, lambda: request.getfixturevalue("snapshot"))
    item.judged = judged
    record = judged.record
    checks = [(f"agent_contract.{check['requirement']}", check["status"]) for check in record["checks"]]
    item.user_properties += [("agent_contract.verdict", record["status"]), *checks]
    if record["status"] in ("not-applicable", "should-not-met"):
        raise pytest.skip.Exception(record["why"], _use_item_location=True)
    if record["status"] == "known":
        pytest.xfail(record["why"])
    if record["status"] != "pass":
        raise UnmetError(judged.text)
