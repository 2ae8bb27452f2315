"""Where a runtime's own environment stands: beside those of all other runtimes, outside any project.

A profile's `install` table alone decides the place: profiles of one runtime share an environment, and another version
has another.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Final

from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.scenario.profile import Install, Profile

READY: Final = "ready"
"""The file by which a whole environment is told from one whose making was interrupted."""

_PROGRAMS = ("bin", "node_modules/.bin")
_NAME = re.compile(r"@?([A-Za-z0-9_./-]+)")
_RUNS_OTHERS = ("node@",)


def folder(profile: Profile) -> Path:
    """Return where the runtime's environment is, or would be: `NAME-DIGEST`, in the user's cache."""
    return cache() / f"{_called(profile.install)}-{_digest(profile.install)}"


def cache() -> Path:
    """Return the folder of all environments."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "agent-contract" / "runtimes"


def is_ready(profile: Profile) -> bool:
    """Tell whether the runtime's environment is there, whole."""
    return bool(profile.install) and (folder(profile) / READY).is_file()


def programs(profile: Profile) -> tuple[str, ...]:
    """Return the folders with the programs of the runtime's environment; none where it isn't there."""
    if not is_ready(profile):
        return ()
    return tuple(str(place) for name in _PROGRAMS if (place := folder(profile) / name).is_dir())


def interpreter(profile: Profile) -> str:
    """Return the Python that runs a framework's recipe: the profile's own, else that of its environment."""
    return profile.python or str(folder(profile) / "bin" / "python")


def _called(install: Install) -> str:
    named = [item for item in (*install.python, *install.npm) if not item.startswith(_RUNS_OTHERS)]
    found = _NAME.match(named[0]) if named else None
    return found[1].replace("/", "-") if found else "runtime"


def _digest(install: Install) -> str:
    return hashlib.sha256(dumps([[*install.python], [*install.npm]]).encode()).hexdigest()[:8]
