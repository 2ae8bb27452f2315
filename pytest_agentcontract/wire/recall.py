"""What is said again is read once: every request of a conversation repeats all that came before it."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar, cast

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.node import Node

T = TypeVar("T")

_MOST_KEPT: Final = 1_024
_LONGEST_KEPT: Final = 8 * 1024
_WITHOUT_REFERENCES: Final = 2
"""The version of marshal's format in which equal values are written alike."""


def recalled(read: Callable[[Node], T]) -> Callable[[Node], T]:
    """Let a reader recall what it has read. It must return frozen values that depend on nothing but the node's value.

    Something must stand at the node.
    """

    @lru_cache(_MOST_KEPT)
    def known(written: bytes) -> T:
        return read(Node(marshal.loads(written)))  # noqa: S302 - written below

    @wraps(read)
    def recalling(node: Node) -> T:
        written = marshal.dumps(cast("JSON", node.value), _WITHOUT_REFERENCES)
        if len(written) > _LONGEST_KEPT:
            return read(node)
        try:
            return known(written)
        except WireError:
            return read(node)  # which knows the place

    return recalling
