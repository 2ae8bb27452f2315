"""The recorder in a process of its own: `recording.py UPSTREAM CASSETTE`; it prints its base URL.

To every line of its input it prints the CPU seconds that it has used; at the end of it, it finishes the cassette.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pytest_agentcontract.cassette.exchange import Origin
from pytest_agentcontract.cassette.modes import RecordMode
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.cassette.tape import Tape
from pytest_agentcontract.provider.recorder import Recorder
from pytest_agentcontract.provider.server import Provider


def main() -> None:
    """Record until the input ends."""
    upstreams = {"anthropic": sys.argv[1]}
    tape = Tape(Path(sys.argv[2]), RecordMode.REWRITE, Origin(upstreams), Scrubber())
    recorder = Recorder(upstreams, tape.take, {})
    with Provider() as provider:
        place = provider.place()
        provider.admit(recorder, place)
        print(f"{provider.url(place)}/anthropic", flush=True)
        for _ in sys.stdin:
            print(time.process_time(), flush=True)
        provider.dismiss(recorder, place)
        recorder.close()
    tape.finish(failed=False)
    print(time.process_time(), flush=True)


if __name__ == "__main__":
    main()
