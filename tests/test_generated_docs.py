"""The pages of docs/generated say what the tables of the code say."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_generated_pages_are_up_to_date() -> None:
    """Whoever changes a table writes the pages anew: python docs/generate.py."""
    pages = runpy.run_path(str(DOCS / "generate.py"))["pages"]()
    kept = {path.name: path.read_text("utf-8") for path in (DOCS / "generated").iterdir()}
    assert kept == pages
