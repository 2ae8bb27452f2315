"""Whatever a script says, its file is read back the same, by the reader that `serve` has."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import equal
from pytest_agentcontract.recorded.writing import text_of, write_new
from pytest_agentcontract.scripted import load

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["yes", "1", "null", "2026-01-01", "a: b", "# x", "a\nb", " a\n\n b\n", "\t"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(document=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_a_document_comes_back(tmp_path: Path, document) -> None:
    """As YAML and as JSON."""
    for name in ("s.yaml", "s.json"):
        path = tmp_path / name
        path.unlink(missing_ok=True)
        write_new(path, text_of(document, path))
        read, broken = load.read(path)
        assert broken == ()
        assert equal(read.value, document)


def test_yaml_is_for_people() -> None:
    """Texts of several lines stand as they are, and nothing is folded."""
    document = {"turns": [{"text": "One line,\nand another.", "calls": [{"tool": "yes", "arguments": {"n": 1}}]}]}
    assert text_of(document, Path("s.yaml")) == (
        "turns:\n- text: |-\n    One line,\n    and another.\n  calls:\n  - tool: 'yes'\n    arguments:\n      n: 1\n"
    )
    assert text_of(document, Path("s.json")).startswith('{\n  "turns"')


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that is there stays as it is; one that can't be written is told."""
    path = tmp_path / "s.yaml"
    path.write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        write_new(path, "other")
    assert path.read_text() == "mine"
    with pytest.raises(UsageError, match="can't be written: No such file"):
        write_new(tmp_path / "none" / "s.yaml", "other")
