"""The measure of all others: an aiohttp handler as anybody would write it in a minute."""

from __future__ import annotations

import sys

from aiohttp import web
from plain_answer import PATH, STREAM, events, whole


async def answer(request: web.Request) -> web.StreamResponse:
    """Answer with the text, whole or with one write per event."""
    asked = await request.json()
    if not asked["stream"]:
        return web.Response(text=whole(asked["model"]), content_type="application/json")
    response = web.StreamResponse(headers={"content-type": STREAM})
    await response.prepare(request)
    for event in events(asked["model"]):
        await response.write(event)
    return response


def main() -> None:
    """Serve on the port that the command line names."""
    app = web.Application()
    app.router.add_post(PATH, answer)
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)


if __name__ == "__main__":
    main()
