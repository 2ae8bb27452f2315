"""A script's document as a file that people read and change: YAML, texts of several lines as they are, or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps, equal
from pytest_agentcontract.scripted import strict_yaml

_YAML: Final = (".yaml", ".yml")
_WIDTH: Final = 1 << 20


class _Dumper(yaml.SafeDumper):
    """Writes what the strict reader of scripts takes: no anchors, and no folded lines."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002 - as it is declared
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text.strip("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def text_of(document: JSONObject, path: Path) -> str:
    """Return a document as the text of a file of this name: YAML by its suffix, else JSON.

    What YAML can't say so that it is read the same is JSON, which its readers take as well.
    """
    plain = dumps(document, indent=2) + "\n"
    if path.suffix not in _YAML:
        return plain
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return text if _comes_back(text, document) else plain


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet; raise UsageError for one that is, or that can't be written."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(
            "is there already", where=str(path), remedy="Name a file that is not, or remove it."
        ) from error
    except OSError as error:
        raise UsageError(
            f"can't be written: {error.strerror or error}", where=str(path), remedy="Name a file in a folder."
        ) from error


def _comes_back(text: str, document: JSON) -> bool:
    read = strict_yaml.read(text)
    return not read.faults and equal(read.value, document)
