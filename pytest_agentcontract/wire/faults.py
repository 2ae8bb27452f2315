"""Faults as data: what goes wrong with one delivery of a scripted answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Ending: TypeAlias = Literal["fin", "rst"]


@dataclass(frozen=True, slots=True)
class StatusFault:
    """Answer with an error status and the wire format's native error body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "scripted fault"


@dataclass(frozen=True, slots=True)
class CutFault:
    """Break the connection off after `after_deltas` content deltas; 0 is before the first byte of the response.

    A response that is not streamed has no deltas: with any number above 0 it is cut in the middle of its body.
    """

    after_deltas: int
    ending: Ending = "fin"


Fault: TypeAlias = StatusFault | CutFault
