"""The report page in Chromium, as a reader sees it; `make page` installs what that needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.page.made import write

MODULES, CHROMIUM = os.environ.get("AGENT_CONTRACT_BROWSER", ""), os.environ.get("CHROMIUM", "")
CHECKS = Path(__file__).with_name("checks.mjs")
NAMES = re.findall(r'^await check\("(.+?)"', CHECKS.read_text("utf-8"), re.MULTILINE)
TIME_LIMIT = 240.0

pytestmark = pytest.mark.skipif(not (MODULES and CHROMIUM), reason="no browser: `make page` installs one")


@pytest.fixture(scope="session")
def found(tmp_path_factory):
    """Return what each check has to say, None where all is well."""
    folder = tmp_path_factory.mktemp("pages")
    write(folder)
    run = subprocess.run(
        ["node", CHECKS, folder, MODULES, CHROMIUM],  # noqa: S607 - node is found, not placed
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
        env={**os.environ, "HOME": str(folder)},
    )
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    for line in lines:
        if figures := line.get("figures"):
            print(f"30 runtimes by 200 cases, ms: {figures}")  # noqa: T201 - shown by -rA
    return {line["name"]: line["wrong"] for line in lines if "name" in line}


@pytest.mark.parametrize("name", NAMES)
def test_page(found, name):
    """Each check of the browser's."""
    assert found[name] is None, found[name]
