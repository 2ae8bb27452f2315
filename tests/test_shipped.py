"""What is shipped: the wheel holds the package and its data and nothing else, and works where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pytest_agentcontract.wire.formats import FORMATS

ROOT = Path(__file__).parent.parent
SHIPPED = {
    "cassettes": "pytest_agentcontract/cassettes",
    "fixtures": "pytest_agentcontract/fixtures",
    "pytest_agentcontract": "pytest_agentcontract",
}
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
STRANGER = "pytest-agentcontract"


def _run(*command: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    unset = {"PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONPATH", "CI"}
    inherited = {key: value for key, value in os.environ.items() if key not in unset}
    return subprocess.run(command, cwd=cwd, env=inherited | env, capture_output=True, text=True, check=False)


def _files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if not any(part.startswith((".", "__pycache__")) for part in path.parts)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, once, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    built = _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=ROOT)
    assert built.returncode == 0, built.stdout + built.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel into a folder: on PYTHONPATH, that is an installation, entry points and all."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_the_wheel_holds_the_package_and_its_data(wheel: Path) -> None:
    """Every file of the package, of fixtures/ and of cassettes/ is in the wheel, and nothing that is not theirs."""
    names = zipfile.ZipFile(wheel).namelist()
    metadata = {name.partition(".dist-info/")[2] for name in names if ".dist-info/" in name}
    expected = {f"{target}/{name}" for source, target in SHIPPED.items() for name in _files(ROOT / source)}
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert metadata == METADATA


def test_the_installed_suite_runs_beside_the_users_own_tests(installed: Path, tmp_path: Path) -> None:
    """From the wheel alone, the suite finds its cases, judges one, and leaves the user's test in the same run alone."""
    (tmp_path / "test_mine.py").write_text("def test_mine(): pass\n")
    run = _run(
        sys.executable, "-m", "pytest", "--agent-contract", "-q", "-p", "no:randomly", "test_mine.py",
        "-k", "mine or nudged-then-replies", cwd=tmp_path, PYTHONPATH=str(installed),
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{len(FORMATS) + 1} passed" in run.stdout


@pytest.mark.network
def test_it_lives_beside_the_plugin_of_a_similar_name(installed: Path, tmp_path: Path) -> None:
    """With the unrelated `pytest-agentcontract` installed too, both plugins are active and neither breaks the other."""
    fetched = _run(
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", tmp_path / "site", STRANGER,
        cwd=tmp_path,
    )  # fmt: skip
    if fetched.returncode:
        pytest.skip(f"{STRANGER} is not installable here: {fetched.stderr.strip().splitlines()[-1]}")
    (tmp_path / "test_both.py").write_text(
        "def test_both(pytestconfig):\n"
        "    plugins = pytestconfig.pluginmanager\n"
        "    assert plugins.has_plugin('agent_contract') and plugins.has_plugin('agentcontract')\n"
    )
    run = _run(
        sys.executable, "-m", "pytest", "--agent-contract", "-q", "-p", "no:randomly", "test_both.py",
        "-k", "both or nudged-then-replies", cwd=tmp_path, PYTHONPATH=f"{installed}{os.pathsep}{tmp_path / 'site'}",
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
