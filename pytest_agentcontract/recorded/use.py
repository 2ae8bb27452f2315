"""How one cassette is used, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_agentcontract.cassette.modes import RecordMode
from pytest_agentcontract.provider.replayer import Pace


@dataclass(frozen=True, slots=True)
class Use:
    """A record mode, and what refines it.

    `pace` is that of replayed answers; `allow_unplayed` lets entries be left that nobody asked for. What is recorded
    comes from `upstreams` (base URLs by provider, in place of the usual ones), carries a `note`, and has the texts at
    the JSON pointers `elide` taken out of its requests.
    """

    mode: RecordMode = RecordMode.NONE
    pace: Pace = "zero"
    allow_unplayed: bool = False
    upstreams: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    elide: tuple[str, ...] = ()
