"""The rules of the house that no linter knows."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pytest_agentcontract"
TEXTS = {".py", ".md", ".toml", ".json", ".cfg", ".yaml", ".yml", ""}
MACHINE_PATH = re.compile(r"(?<![\w.$}\"'])/(?:tmp/|work/|home/|root/(?!copy\b))\w")
"""`/root/copy` is no path: so Codex calls the agent `copy` that its agent `/root` has started, in its recording."""
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|NotImplementedError)\b|pragma: no cover")
LONGEST_MODULE = 300
_IMPORTED_AS = {"pyyaml": "yaml", "vcrpy": "vcr"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _texts() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607 - git is found, not placed
    if listed.returncode:
        pytest.skip("not a git checkout: there is no list of the project's own files")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.suffix in TEXTS and path.is_file() and path != Path(__file__)]


def test_imports_go_downwards_only() -> None:
    """The import-linter contracts of pyproject.toml are kept."""
    lint = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_a_module_is_one_idea(module: Path) -> None:
    """No module of the package is longer than 300 lines."""
    assert len(module.read_text("utf-8").splitlines()) <= LONGEST_MODULE


def test_modules_are_named_for_what_they_do() -> None:
    """No module is a drawer for odds and ends."""
    drawers = {"utils", "util", "helpers", "misc", "common"}
    assert [_name(module) for module in MODULES if module.stem in drawers] == []


@pytest.mark.parametrize("pattern", [MACHINE_PATH, UNFINISHED], ids=["machine paths", "unfinished work"])
def test_the_project_speaks_of_itself_alone(pattern: re.Pattern[str]) -> None:
    """No file names a path of somebody's machine, or leaves something for later."""
    found = [
        f"{_name(path)}:{number}: {line.strip()}"
        for path in _texts()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_every_exemption_has_a_reason() -> None:
    """Each rule that ruff is told to ignore, and each `type: ignore`, stands on a line that says why."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    ruff = tomllib.loads(text)["tool"]["ruff"]["lint"]
    codes = {code for codes in [ruff["ignore"], *ruff["per-file-ignores"].values()] for code in codes}
    bare = [line for line in text.splitlines() if line.strip().strip('",') in codes]
    excuse = re.compile(r"# type: ignore(?!\[[\w-]+\] +[-#] )")
    for module in MODULES:
        bare += [f"{_name(module)}: {line}" for line in module.read_text("utf-8").splitlines() if excuse.search(line)]
    assert bare == []


def test_every_dependency_is_used() -> None:
    """The package imports each distribution that it asks its users to install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {re.split(r"[^\w-]", requirement)[0] for requirement in project["dependencies"]}
    needed = {_IMPORTED_AS.get(name, name) for name in named}
    code = "\n".join(module.read_text("utf-8") for module in MODULES)
    assert {name for name in needed if not re.search(rf"^\s*(?:import|from) {name}\b", code, re.MULTILINE)} == set()
