"""Whose agent-contract.toml is it: pytest's rootdir decides, and what moved the rootdir may be a slip.

When pytest chooses its rootdir it doesn't know our options yet, and takes a value after a space for a path.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.plugin.runtimes import CONFIG


def check(config: pytest.Config) -> None:
    """Raise UsageError where another agent-contract.toml would be read than the one that the user stands before."""
    named = config.option.rootdir is not None
    given = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
    paths = [*given, *filter(None, [config.option.inifilename])]
    hold(
        _real(config.rootpath),
        _real(config.invocation_params.dir),
        named=named,
        paths=[argument.partition("::")[0] for argument in paths],
        words=[os.fspath(word) for word in config.invocation_params.args],
    )


def hold(root: Path, folder: Path, *, named: bool, paths: Sequence[str], words: Sequence[str]) -> None:
    """Hold the rootdir against the folder that pytest was started in.

    `named` tells whether --rootdir is given; `paths` are the user's, `words` all of the command line.
    """
    near = next((place for place in (folder, *folder.parents) if (place / CONFIG).is_file()), None)
    unread = not (root / CONFIG).is_file()
    if near is not None and near != root and (not named or (unread and near.is_relative_to(root))):
        raise UsageError(
            f"is not at pytest's rootdir, {root}, so its runtimes would not be judged",
            where=str(near / CONFIG),
            remedy=_cause(folder, words) or f"Move it to {root}, or give --rootdir={near}.",
        )
    if near is None and not (named or unread or _led_to(root, folder, paths)):
        raise UsageError(
            f"would be read, for {root} is pytest's rootdir, though you are in {folder}",
            where=str(root / CONFIG),
            remedy=_cause(folder, words)
            or f"Give --rootdir={folder} or --rootdir={root}; write options as --option=VALUE, without a space.",
        )


def options(config: pytest.Config) -> tuple[str, ...]:
    """Return the option that a repeated run needs to read the same agent-contract.toml; often none."""
    folder = _real(config.invocation_params.dir)
    moved = _real(config.rootpath) not in (folder, *folder.parents)
    return (f"--rootdir={config.rootpath}",) if moved or config.option.rootdir is not None else ()


def _led_to(root: Path, folder: Path, paths: Sequence[str]) -> bool:
    places = [folder, *(_real(folder / path) for path in paths)]
    return any(place.is_relative_to(root) for place in places)


def _cause(folder: Path, words: Sequence[str]) -> str:
    for option, value in pairwise(words):
        if option.startswith("--agent-contract-") and "=" not in option and os.path.lexists(folder / value):
            return f"pytest took {value}, after {option} and a space, for a path. Write {option}={value}."
    return ""


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
