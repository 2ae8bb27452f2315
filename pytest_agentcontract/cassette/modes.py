"""Record modes, by vcrpy's names, and `rewrite`: what is played, what is recorded, what becomes of what was there."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from pytest_agentcontract.cassette.exchange import Recorded

Old: TypeAlias = Literal["stay", "stay unless recorded anew", "go"]
Key: TypeAlias = Callable[[Recorded], Hashable]


class RecordMode(StrEnum):
    """When to play, and when to record."""

    NONE = "none"
    ONCE = "once"
    NEW_EPISODES = "new_episodes"
    ALL = "all"
    REWRITE = "rewrite"


@dataclass(frozen=True, slots=True)
class Conduct:
    """What a mode does: play the cassette, record what is not played; and what becomes of its entries then."""

    plays: bool
    records: bool
    old: Old = "stay"


_PLAY: Final = Conduct(plays=True, records=False)

WITH_A_CASSETTE: Final[Mapping[RecordMode, Conduct]] = {
    RecordMode.NONE: _PLAY,
    RecordMode.ONCE: _PLAY,
    RecordMode.NEW_EPISODES: Conduct(plays=True, records=True),
    RecordMode.ALL: Conduct(plays=False, records=True, old="stay unless recorded anew"),
    RecordMode.REWRITE: Conduct(plays=False, records=True, old="go"),
}
WITHOUT_ONE: Final[Mapping[RecordMode, Conduct]] = {
    **WITH_A_CASSETTE,
    RecordMode.ONCE: Conduct(plays=False, records=True, old="stay unless recorded anew"),
}
"""Here the old entries are those that an interrupted recording left in its journal."""


def conduct(mode: RecordMode, *, exists: bool) -> Conduct:
    """Return what a mode does, with a cassette or where there is none yet."""
    return (WITH_A_CASSETTE if exists else WITHOUT_ONE)[mode]


def compiled(old: Sequence[Recorded], new: Sequence[Recorded], fate: Old, key: Key) -> tuple[Recorded, ...]:
    """Return the entries after a recording: the old ones that stay, then the new ones.

    Entries of the same key ask the same.
    """
    if fate == "go":
        return tuple(new)
    anew = {key(exchange) for exchange in new} if fate == "stay unless recorded anew" else set()
    return (*(exchange for exchange in old if not anew or key(exchange) not in anew), *new)
