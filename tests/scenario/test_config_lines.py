"""The lines of an agent-contract.toml."""

from __future__ import annotations

import pytest

from pytest_agentcontract.scenario.config_lines import of_command, of_runtime

TEXT = """\
# [runtimes.mine] in a comment
requirements = "2026.1"
  [ runtimes . mine ]
driver = "command"
modes.json = ["mine"]
[runtimes.mine.env]
A = "1"
[runtimes."an.other"]
driver = "python"
[runtimes.mine-too.modes]
json = ["x"]
"""


@pytest.mark.parametrize(
    ("name", "table", "command"),
    [("mine", 3, 5), ("an.other", 8, 8), ("mine-too", 10, 10), ("min", 0, 0), ("an", 0, 0)],
)
def test_a_runtime_stands_at_its_table(name, table, command):
    """Its command at its own line there, else at the table; a name that is a part of another is none."""
    assert (of_runtime(TEXT, name), of_command(TEXT, name)) == (table, command)
