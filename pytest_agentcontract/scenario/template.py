"""A value in whose texts something is put in: where that goes is found once, however often it is filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Change: TypeAlias = Callable[[str], str]
Template: TypeAlias = Callable[[Change], object]


def template(value: object) -> Template | None:
    """Return what makes a value anew with its texts changed, keys too; None for one without `{`, which stays itself.

    A value may be made of tuples, lists, mappings and dataclasses.
    """
    if isinstance(value, str):
        return (lambda change: change(value)) if "{" in value else None
    if value is None or isinstance(value, int | float):
        return None
    if isinstance(value, tuple | list):
        return _series(value)
    if isinstance(value, dict):
        return _mapping(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _parts(value)
    return _mapping(value) if isinstance(value, Mapping) else None


def _series(value: Sequence[object]) -> Template | None:
    items = tuple((item, template(item)) for item in value)
    if not any(inner for _, inner in items):
        return None
    kind = list if isinstance(value, list) else tuple
    return lambda change: kind([inner(change) if inner else item for item, inner in items])


def _mapping(value: Mapping[object, object]) -> Template | None:
    items = tuple((key, template(key), item, template(item)) for key, item in value.items())
    if not any(name or inner for _, name, _, inner in items):
        return None
    return lambda change: {
        (name(change) if name else key): (inner(change) if inner else item) for key, name, item, inner in items
    }


def _parts(value: DataclassInstance) -> Template | None:
    found = {name: template(getattr(value, name)) for name in _names(type(value))}
    parts = {name: inner for name, inner in found.items() if inner}
    if not parts:
        return None
    return lambda change: replace(value, **{name: inner(change) for name, inner in parts.items()})


@cache
def _names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(part.name for part in fields(kind) if part.init)
