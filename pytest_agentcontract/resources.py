"""Where the shipped fixtures lie: inside the package in a wheel, beside it in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


@cache
def fixtures() -> Path:
    """Return the folder that holds `cases/`, `requirements/`, `schemas/` and `vectors/`."""
    return _shipped("fixtures")


def cases() -> Path:
    """Return the folder of the shipped case files; a path below it is a case id."""
    return fixtures() / "cases"


def outcomes() -> Path:
    """Return the folder of the reference's outcomes, one snapshot per case id."""
    return fixtures() / "outcomes"


def cassettes() -> Path:
    """Return the folder of the shipped recordings: `WIRE/CLIENT.yaml`."""
    return _shipped("cassettes")


def schema(name: str) -> Path:
    """Return the JSON Schema called `name`, for example `case`."""
    return fixtures() / "schemas" / f"{name}.schema.json"


def profiles() -> Path:
    """Return the folder of the shipped profiles."""
    return _PACKAGE / "profiles"


def _shipped(folder: str) -> Path:
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder
