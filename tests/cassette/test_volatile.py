"""What clients send anew at every run: each row of the table, in the words of the client that it is about."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from pytest_agentcontract.cassette.matching.volatile import VOLATILE, Volatile, settled
from pytest_agentcontract.wire.formats import FORMATS

ONE, OTHER = "01a22e0f-f1bf-7853-95ed-951e05a3e2d4", "c5f4b972-991f-5c16-be98-3f2b81e1eedd"


def _claude_code(uuid: str, folder: str, date: str, said: str = "Hi") -> dict[str, Any]:
    reminder = f"<system-reminder>\n# currentDate\nToday's date is {date}.\n</system-reminder>\n"
    system = (
        f"You have a persistent file-based memory at `{folder}/memory/`. This directory already exists.\n"
        f"# Environment\n - Primary working directory: {folder}\n - Platform: linux\n - OS Version: {uuid}\n"
    )
    return {
        "system": [{"type": "text", "text": system}],
        "messages": [{"role": "user", "content": [{"text": reminder}, {"text": said}]}],
        "metadata": {"user_id": f'{{"session_id":"{uuid}"}}'},
    }


def _codex(uuid: str, folder: str, date: str, said: str = "Hi") -> dict[str, Any]:
    context = (
        f"<environment_context>\n  <cwd>{folder}</cwd>\n  <current_date>{date}</current_date>\n</environment_context>"
    )
    ran = f"Chunk ID: {uuid[:6]}\nWall time: 0.{ord(uuid[0])} seconds\nProcess exited with code 0\nOutput:\n{said}"
    noted = f'{{"chunk_id":"{uuid[:6]}","wall_time_seconds":0.{ord(uuid[0])},"exit_code":0}}'
    script = f"Script completed\nWall time 0.{ord(uuid[0])} seconds\nOutput:\n"
    return {
        "input": [
            {"id": f"msg_{uuid}", "content": [{"text": f"### Skill roots\n- `r0` = `{folder}/skills`\n### Available"}]},
            {"id": f"msg_{uuid}", "content": [{"text": context}]},
            {"id": f"fco_{uuid}", "output": ran},
            {"id": f"ctco_{uuid}", "output": [{"text": script}, {"text": noted}]},
            {"type": "message", "content": said},
        ],
        "prompt_cache_key": uuid,
        "client_metadata": {"session_id": uuid, "x-codex-window-id": f"{uuid}:0"},
    }


def _gemini_cli(uuid: str, folder: str, date: str, said: str = "Hi") -> dict[str, Any]:
    context = (
        "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n"
        f"Today's date is {date} (formatted according to the user's locale).\n{folder}/\n</session_context>\n"
    )
    ran = f"Output: {said}\nProcess Group PGID: {ord(uuid[0])}"
    system = (
        f"  - **Private Project Memory** (`{folder}/memory/MEMORY.md`): Personal\n# Environment Context\n"
        f"- **Workspace Directories:**\n  - {folder}\n- **Directory Structure:**\n{uuid}\nImportant Rules:\n* One"
    )
    return {
        "contents": [
            {"parts": [{"text": context}, {"text": said}]},
            {"parts": [{"functionResponse": {"response": {"output": ran}}}]},
        ],
        "systemInstruction": {"parts": [{"text": system}]},
    }


def _application(uuid: str, _folder: str, _date: str, said: str = "Hi") -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": said}],
        "user": uuid,
        "safety_identifier": uuid,
        "prompt_cache_key": uuid,
    }


CLIENTS = {
    "anthropic-messages": _claude_code,
    "openai-chat": _application,
    "openai-responses": lambda *run: _codex(*run) | _application(*run[:3]),
    "gemini-generate": _gemini_cli,
}
RUNS = (ONE, "/one/folder", "2026-11-30"), (OTHER, "/quite/another", "2027-01-02")


@pytest.mark.parametrize("wire", FORMATS)
def test_two_runs_of_a_client_ask_the_same(wire: str) -> None:
    """Ids, folders and dates fall away; what the user says stays."""
    one, other = (settled(CLIENTS[wire](*run), wire) for run in RUNS)
    assert one == other
    assert settled(CLIENTS[wire](*RUNS[0], "Hello"), wire) != one


@pytest.mark.parametrize(
    ("wire", "row"),
    [(wire, row) for wire, rows in VOLATILE.items() for row in rows],
    ids=lambda value: value.place if isinstance(value, Volatile) else value,
)
def test_every_row_is_needed(wire: str, row: Volatile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any one of them, two runs differ."""
    monkeypatch.setitem(VOLATILE, wire, tuple(other for other in VOLATILE[wire] if other is not row))
    one, other = (settled(CLIENTS[wire](*run), wire) for run in RUNS)
    assert one != other


@pytest.mark.parametrize("wire", FORMATS)
def test_the_request_itself_is_left_alone(wire: str) -> None:
    """A new value is returned."""
    body = CLIENTS[wire](*RUNS[0])
    kept = copy.deepcopy(body)
    settled(body, wire)
    assert body == kept


def test_texts_of_others_are_compared() -> None:
    """A date, a folder or an id that somebody asks about tells two requests apart: only a client's own words go."""
    texts = (
        "Today's date is 2026-11-30.",
        "Say what <environment_context><cwd>/one</cwd></environment_context> means.",
        "Wall time: 0.5 seconds",
        "session_context: This is the Gemini CLI.",
    )
    for wire in FORMATS:
        body = {"messages": list(texts), "input": [{"content": text, "id": "msg_1"} for text in texts]}
        body["contents"] = [{"parts": [{"text": text} for text in texts]}]
        body["messages"] = [{"content": text} for text in texts]
        assert settled(body, wire) == body


def test_every_wire_format_has_its_rows() -> None:
    """And no row is of another one; each has a reason."""
    assert set(VOLATILE) == set(FORMATS)
    assert all(row.reason and row.place for rows in VOLATILE.values() for row in rows)
    assert settled({"user": "u"}, "") == {"user": "u"}
