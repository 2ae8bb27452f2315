"""The page `protocol` can be worked from: its examples keep to the schemas, and its smallest adapter is one."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_agentcontract.drivers import messages
from pytest_agentcontract.drivers.adapter_check import check
from pytest_agentcontract.reference.adapter import answer
from pytest_agentcontract.scenario.schemas import complaints

PAGE = (Path(__file__).parent.parent / "docs" / "protocol.md").read_text("utf-8")


def _examples() -> Iterator[tuple[str, dict]]:
    """Yield (arrow, message) for every example of the page, also those that are broken into lines."""
    for block in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL):
        for example in re.split(r"\n(?=[→←])", block.strip()):
            yield example[0], json.loads(example[1:])


EXAMPLES = [*_examples()]
ASKED = {message["seq"]: message for arrow, message in EXAMPLES if arrow == "→"}


def test_the_page_shows_both_directions_of_every_request() -> None:
    """Each request has an example, and each that is answered its answer."""
    assert {message["cmd"] for message in ASKED.values()} | {"run"} == {
        "start",
        *messages.OPERATIONS,
        "run",
        "say",
        "stop",
    }
    assert {arrow for arrow, _ in EXAMPLES} == {"→", "←"}


@pytest.mark.parametrize(("arrow", "message"), EXAMPLES)
def test_an_example_keeps_to_the_schema(arrow, message) -> None:
    """What the page shows is what the suite sends and accepts."""
    if arrow == "→":
        assert [*complaints(messages.REQUEST, message)] == []
        return
    cmd = "run" if message["seq"] == 9 else ASKED[message["seq"]]["cmd"]
    assert messages.decode(json.dumps(message).encode(), cmd, message["seq"]) == message


@pytest.mark.parametrize(
    "seq", [seq for seq, message in ASKED.items() if message["cmd"] in {"parse", "render", "route", "notice"}]
)
def test_an_example_of_an_answer_is_right(seq) -> None:
    """The reference answers as the page says."""
    output = next(message["output"] for arrow, message in EXAMPLES if arrow == "←" and message["seq"] == seq)
    assert answer(ASKED[seq]["cmd"], ASKED[seq]["input"]) == output


def test_the_smallest_adapter_passes_the_check(tmp_path) -> None:
    """The program at the head of the page is well-formed in every answer."""
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "it.py").write_text(code[1])
    findings = [*check((sys.executable, "it.py"), tmp_path)]
    assert [str(finding) for finding in findings if finding.verdict == "FAIL"] == []
