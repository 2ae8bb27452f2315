"""The page itself: one file that needs nothing else, not even a script."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Final

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.jsonvalue import JSONObject, dumps
from pytest_agentcontract.report.page import view
from pytest_agentcontract.report.page.details import details
from pytest_agentcontract.report.standing import LESSER, WORDS, rows
from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.report.values import Report

MARK: Final = "<!doctype html><!-- Made by: agent-contract report html -->"
"""The first line of every page: by it a file is known as one that may be written anew."""

_HERE: Final = Path(__file__).parent
_STYLES: Final = ("frame.css", "matrix.css", "detail.css", "narrow.css")
_SCRIPTS: Final = ("making.js", "picture.js", "parts.js", "detail.js", "matrix.js")


def page(report: Report) -> str:
    """Return a report as a page of HTML; the same report makes the same page.

    Raises UsageError where the report's set of requirements is not known here.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - loaded for a page alone

    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["slug"] = _slug
    ledger = requirements.load(report.header.requirements.set)
    found = rows(report, ledger)
    style, script = _joined(_STYLES), f'"use strict";\n(() => {{\n{_joined(_SCRIPTS)}}})();\n'
    return environment.get_template("page.html").render(
        mark=MARK,
        policy=_policy(style, script),
        style=style,
        script=script,
        header=report.header,
        summaries=view.summaries(report, found, ledger),
        groups=view.groups(report, found, ledger),
        rows=found,
        words=[word for word in WORDS if any(word in row.words.values() for row in found)],
        meanings=view.MEANINGS,
        data=_embedded(details(report, found, ledger)),
    )


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((_HERE / name).read_text("utf-8") for name in names)


def _policy(style: str, script: str) -> str:
    """Return what the page allows its browser: its own script and style, known by their digests, and nothing else."""
    ours = f"script-src {_digest(script)}; style-src {_digest(style)}"
    return f"default-src 'none'; {ours}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _embedded(data: JSONObject) -> str:
    """Return data as JSON that can't end the element that it stands in."""
    return dumps(data).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _shown(value: object) -> object:
    """Make every text that the template shows harmless; what is marked as safe is ours."""
    return harmless(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _slug(word: str) -> str:
    """Return a word of the matrix as the name of its style."""
    return word.replace(LESSER, "-should").replace(" ", "-")
