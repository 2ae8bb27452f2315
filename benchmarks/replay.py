"""What a replayed request costs with 1,000 entries in the cassette, beside one with 10; and what vcrpy's matchers cost.

CPU of this process alone: the index by itself, as our server asks it, and vcrpy's cassette, asked for method, URI and
body as its users do who have parallel agents. Ratios are taken inside a round. Needs nothing but this machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Final, TypeAlias

from figures import paired, report

from pytest_agentcontract.cassette.exchange import Cassette, Piece, Recorded
from pytest_agentcontract.cassette.matching.index import Index
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber

FEW, MANY = 10, 1_000
LIMIT: Final = 1.2
URL: Final = "https://api.anthropic.com/v1/messages"
HEADERS: Final = (("content-type", "application/json"), ("x-api-key", "sk-ant-" + "a1B2" * 10))
_ASKED: Final = 200
_ASKED_OF_VCRPY: Final = 3
_WORDS: Final = "the quick brown fox jumps over the lazy dog and asks what it is for "

Seconds: TypeAlias = float


def exchange(number: int) -> Recorded:
    """Make an exchange of a conversation with about 10 KB of text, which no other one of the cassette asks."""
    said = [{"role": ("user", "assistant")[at % 2], "content": f"{number}: {_WORDS * 6}"} for at in range(23)]
    body = json.dumps({"model": "m", "max_tokens": 99, "messages": said}).encode()
    return Recorded("POST", URL, HEADERS, body, 200, "OK", HEADERS[:1], (Piece(0.0, b"{}"),))


def ours(entries: tuple[Recorded, ...]) -> Seconds:
    """Return the CPU time of one request: every entry is asked for once, by indexes enough for the count."""
    scrub, spent, asked = Scrubber({}).scrub, 0.0, 0
    while asked < _ASKED:
        index = Index(Cassette(entries), scrub)
        turn = entries[:: max(1, len(entries) // _ASKED)]
        begun = time.process_time()
        for each in turn:
            if index.take(each.method, each.url, each.request_headers, each.request_body) is not each:
                sys.exit("the index plays something else")
        spent += time.process_time() - begun
        asked += len(turn)
    return spent / asked


def theirs(entries: tuple[Recorded, ...]) -> Seconds:
    """Return the CPU time of one request that vcrpy's cassette is asked, as its patches ask it."""
    from vcr.cassette import Cassette as Stock  # type: ignore[import-untyped] # noqa: PLC0415 - it loads every client
    from vcr.matchers import body, method, uri  # type: ignore[import-untyped] # noqa: PLC0415 - as above
    from vcr.request import Request  # type: ignore[import-untyped] # noqa: PLC0415 - as above

    stock = Stock("unused", match_on=(method, uri, body), record_mode="none")
    answer = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": b"{}"}}
    requests = [Request(each.method, each.url, each.request_body, dict(each.request_headers)) for each in entries]
    for request in requests:
        stock.append(request, answer)
    stock.rewound = True  # as after loading: only then it plays
    begun = time.process_time()
    for at in range(_ASKED_OF_VCRPY):
        request = requests[at * len(requests) // _ASKED_OF_VCRPY]
        if not stock.can_play_response_for(request):
            sys.exit("vcrpy does not play what was recorded")
        stock.play_response(request)
    return (time.process_time() - begun) / _ASKED_OF_VCRPY


def measure(cost: Callable[[tuple[Recorded, ...]], Seconds], rounds: int, name: str) -> float:
    """Print what a request costs with few and with many entries, and return the ratio of the two."""
    cassettes = [tuple(map(exchange, range(count))) for count in (FEW, MANY)]
    few, many = zip(*([cost(entries) for entries in cassettes] for _ in range(rounds)), strict=True)
    for count, costs in ((FEW, few), (MANY, many)):
        report(f"{name}: CPU of one request, {count:,} entries", statistics.median(costs) * 1000, " ms")
    return paired(many, few)


def main() -> int:
    """Measure, and fail if the cost of a request grows with the cassette."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    rounds = options.parse_args().rounds
    ratio = measure(ours, rounds, "the index")
    holds = report(f"the index: {MANY:,} entries beside {FEW}", ratio, "x", LIMIT)
    report(f"vcrpy's matchers: {MANY:,} entries beside {FEW}", measure(theirs, 1, "vcrpy's matchers"), "x")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
