"""The exit statuses of a run that pytest knows no word for, and what the runs of several shards come to together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

NOTHING_VERIFIED: Final = 20
"""Exit status of a run that pytest would call a success, but nothing was earned: no case applied and passed."""

BASELINE_OUTDATED: Final = 21
"""Exit status of a run that pytest would call a success, but the baseline lists failures that did not happen."""

WIRES_DISAGREE: Final = 22
"""Exit status of a strict run that pytest would call a success, but a case comes out differently by wire format."""

SILENT: Final = 23
"""Exit status of a run that pytest would call a success, but a check has not spoken: a fault of the suite."""

OTHER_SUITE: Final = 24
"""Exit status of `agent-contract verify` for a certificate without a fault that another version of the suite made."""

_NO_TESTS, _SUCCESS, _FAILED = 5, 0, 1
_RANKS: Final = (_NO_TESTS, NOTHING_VERIFIED, _SUCCESS, WIRES_DISAGREE, BASELINE_OUTDATED, SILENT)


def together(statuses: Iterable[int]) -> int:
    """Return the status of one run for those of its shards: one that earned something makes up for an idle one."""
    return max(statuses, key=_rank)


def _rank(status: int) -> tuple[int, int]:
    """Rank a status; one of somebody else's plugin stands above ours, and a failed test above everything."""
    if status in _RANKS:
        return _RANKS.index(status), status
    return len(_RANKS) + (status == _FAILED), status
