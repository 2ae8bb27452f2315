"""pytest-httpserver, as its documentation shows it: one expected request, answered by a handler."""

from __future__ import annotations

import signal
import sys

from plain_answer import PATH, STREAM, events, whole
from pytest_httpserver import HTTPServer  # type: ignore[import-not-found]  # it is installed for the benchmark alone
from werkzeug import Request, Response  # type: ignore[import-not-found]  # the same


def answer(request: Request) -> Response:
    """Answer with the text, whole or event by event."""
    asked = request.get_json()
    if asked["stream"]:
        return Response(events(asked["model"]), mimetype=STREAM)
    return Response(whole(asked["model"]), mimetype="application/json")


def main() -> None:
    """Serve on the port that the command line names, until told to end."""
    server = HTTPServer(host="127.0.0.1", port=int(sys.argv[1]))
    server.expect_request(PATH, method="POST").respond_with_handler(answer)
    with server:
        signal.sigwait({signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main()
