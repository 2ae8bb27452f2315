"""An upstream that streams: `?events=N&gap=MS` says how many server-sent events, and how far apart they are written."""

from __future__ import annotations

import asyncio
import re
from itertools import count
from urllib.parse import parse_qs, urlsplit

from monologue import events

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer what comes over one connection."""
    for _ in count():
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            break
        length = re.search(r"(?i)content-length: (\d+)", head)
        mark = (await reader.readexactly(int(length[1]) if length else 0)).decode()
        asked = parse_qs(urlsplit(head.split(" ", 2)[1]).query)
        gap = int(asked["gap"][0]) / 1000
        data = HEAD
        for event in events(mark, int(asked["events"][0])):
            writer.write(data + b"%x\r\n%b\r\n" % (len(event), event))
            data = b""
            if gap:
                await asyncio.sleep(gap)
        writer.write(b"0\r\n\r\n")
    writer.close()


async def main() -> None:
    """Serve, say where, and go on until the process is ended."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=256)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
