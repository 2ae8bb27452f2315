"""A file written whole or not at all: no reader ever sees half of it, and a failure leaves what was there."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Put `text` in place of whatever stands at `path`, in one step; raise OSError where that can't be done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
