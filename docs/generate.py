"""The pages of docs/generated, made from the tables that the code decides by.

python docs/generate.py      write them anew
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_agentcontract.cassette.matching.volatile import VOLATILE
from pytest_agentcontract.cassette.scrubbing.names import KEPT_HEADERS
from pytest_agentcontract.conformance import kill_matrix
from pytest_agentcontract.contract.returning import TABLE, Move, State
from pytest_agentcontract.contract.routing import PRECEDENCE
from pytest_agentcontract.reference.mutants import MUTANTS
from pytest_agentcontract.wire.projection import LOSSES

FOLDER = Path(__file__).parent / "generated"
_STATE, _EVENT = 10, 12
_NOTE = "<!-- Made by docs/generate.py from the tables of the code: change those. -->"


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    made = {
        "state-machine.md": _state_machine(),
        "precedence.md": _precedence(),
        "losses.md": _losses(),
        "kill-matrix.md": _kill_matrix(),
        "volatile.md": _volatile(),
        "kept-headers.md": _kept_headers(),
    }
    return {name: "\n".join((_NOTE, "", *lines)) + "\n" for name, lines in made.items()}


def _state_machine() -> Iterator[str]:
    """Draw every state with the moves out of it."""
    yield "```text"
    for state, moves in TABLE.items():
        for event, move in moves.items():
            name = state if event is next(iter(moves)) else ""
            yield f"{name:>{_STATE}} --{event:-<{_EVENT}}--> {move.to:<{_STATE}}  {_burden(move)}".rstrip()
        yield "" if moves else f"{state:>{_STATE}} ends the agent"
    yield "```"


def _burden(move: Move) -> str:
    if move.draws:
        return f"draws a nudge; with none left: {State.FAILED} as {move.reason}"
    return f"as {move.reason}" if move.reason else ""


def _precedence() -> Iterator[str]:
    """Draw the rules of routing in their order: the first one that has an answer decides."""
    wide = max(len(rule.__name__) for rule in PRECEDENCE)
    yield "```text"
    for number, rule in enumerate(PRECEDENCE, 1):
        does = (rule.__doc__ or "").strip().splitlines()[0]
        yield f"{number}  {rule.__name__:<{wide}}  --has an answer-->  {does}"
        if rule is not PRECEDENCE[-1]:
            yield "   | has nothing to say"
    yield "```"


def _losses() -> Iterator[str]:
    """List what a wire format has no place for."""
    yield "| wire format | what it can't carry | what arrives instead | answers |"
    yield "|---|---|---|---|"
    for wire, losses in LOSSES.items():
        for loss in losses:
            sent = {None: "all", True: "streamed", False: "whole"}[loss.streamed]
            yield f"| `{wire}` | {loss.what} | {loss.instead} | {sent} |"


def _volatile() -> Iterator[str]:
    """List what of a request is set aside when a recorded one is looked for."""
    yield "| wire format | place in the request | what stands there |"
    yield "|---|---|---|"
    for wire, rows in VOLATILE.items():
        for row in rows:
            place = f"`{row.place}`{', in part' if row.pattern else ''}"
            yield f"| `{wire}` | {place} | {row.reason} |"


def _kept_headers() -> Iterator[str]:
    """List the headers that a recording keeps."""
    yield ", ".join(f"`{name}`" for name in sorted(KEPT_HEADERS))


def _kill_matrix() -> Iterator[str]:
    """List what each mutant breaks over its whole suite, as it was measured."""
    matrix = kill_matrix.load()
    yield f"Null runtimes and the MUSTs they earned: {', '.join(f'{name} {n}' for name, n in matrix.nulls.items())}."
    yield ""
    yield "| mutant | what is wrong with it | made to break | fails as well | leaves unverified |"
    yield "|---|---|---|---|---|"
    for name, row in matrix.mutants.items():
        mutant = MUTANTS[name]
        others, unverified = sorted(row.fails - {mutant.target}), sorted(row.unverified)
        yield f"| `{name}` | {mutant.breaks} | {mutant.target} | {', '.join(others)} | {', '.join(unverified)} |"
    yield ""
    yield "Measured on these inputs:"
    yield ""
    yield from (f"- {name}: `{digest}`" for name, digest in matrix.inputs.items())


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
