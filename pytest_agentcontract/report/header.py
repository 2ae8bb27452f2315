"""The header of a report: exactly what judged, exactly what was judged, and on what."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest_agentcontract
from pytest_agentcontract import resources
from pytest_agentcontract.conformance import kill_matrix
from pytest_agentcontract.conformance.requirements import CURRENT, load
from pytest_agentcontract.jsonvalue import JSONObject
from pytest_agentcontract.reference import mutants, rules
from pytest_agentcontract.reference.mutants import MUTANTS
from pytest_agentcontract.scenario.profile import Profile


def header(
    runtimes: Sequence[tuple[Profile, str, bool]], requirements: str, own: Path | None = None, *, strict: bool = False
) -> JSONObject:
    """Return the header for runtimes, each with its version and whether it is the suite's own.

    `own` is the folder of the user's own cases, if there are any.
    """
    package = Path(pytest_agentcontract.__file__).parent
    return {
        "suite": {"version": pytest_agentcontract.__version__, "digest": digest(package, package.rglob("*.py"))},
        "requirements": {
            "set": requirements or CURRENT,
            "digest": measured_by(),
            "own": digest(own, own.rglob("*.json")) if own else "",
        },
        "release": release(),
        "strict": strict,
        "runtimes": [_runtime(*runtime) for runtime in runtimes],
    }


def release() -> JSONObject:
    """Return how well this release of the suite bites: MUSTs shown to fail a mutant, and what null runtimes earn."""
    matrix, ledger = kill_matrix.load(), load()
    musts = {row.id for row in ledger.values() if row.level == "MUST" and not row.excluded}
    killed = matrix.killed({name: mutant.target for name, mutant in MUTANTS.items()})
    return {
        "musts": len(musts),
        "musts_with_a_killed_mutant": len(musts & killed),
        "mutants": len(matrix.mutants),
        "null_floor": matrix.null_floor,
    }


def measured_on() -> dict[str, str]:
    """Return the digests of what a kill matrix is measured on, as it is now: cases, requirements, vectors, mutants."""
    fixtures, reference = resources.fixtures(), Path(rules.__file__).parent
    parts = {name: (fixtures, (fixtures / name).rglob("*.json")) for name in ("cases", "requirements", "vectors")}
    wrong = [*Path(mutants.__file__).parent.glob("*.py"), *reference.glob("*rules.py")]
    return {name: digest(root, files) for name, (root, files) in {**parts, "mutants": (reference, wrong)}.items()}


def digest(root: Path, files: Iterable[Path]) -> str:
    """Return one digest over files: their places below `root` and their bytes."""
    total = hashlib.sha256()
    for path in sorted(files):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return f"sha256:{total.hexdigest()}"


def measured_by() -> str:
    """Return the digest of all that is judged by: requirements, cases and vectors, as they are installed."""
    root = resources.fixtures()
    return digest(
        root, [path for part in ("requirements", "cases", "vectors") for path in (root / part).rglob("*.json")]
    )


def _runtime(profile: Profile, version: str, embedded: bool) -> JSONObject:  # noqa: FBT001 - a row of a table
    return {
        "name": profile.name,
        "version": version,
        "digest": f"sha256:{profile.digest}" if profile.digest else "",
        "driver": profile.driver,
        "wires": [*profile.wires],
        "capabilities": [*sorted(profile.capabilities)],
        "embedded": embedded,
        "platform": {
            "system": platform.system(),
            "machine": platform.machine(),
            "python": platform.python_version(),
        },
    }
