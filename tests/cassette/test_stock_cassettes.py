"""Cassettes that stock vcrpy recorded by its own patching: read as ours are, and no worse for being written by us."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aiohttp
import brotli
import httpx
import httpx2
import pytest
import requests
import vcr

from pytest_agentcontract.cassette.exchange import Cassette, Origin, Piece
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.errors import CassetteError
from tests.cassette.exchanges import exchange

PLAIN = 'data: {"text": "größer 😀"}\r\n\r\n'.encode() + b"data: \xff\n\n" * 50
TEXT = '{"text": "größer 😀"}'.encode()
ORIGIN = Origin({"openai": "https://x/v1"}, "made here", ("/input/*/text",))
ASKED = '{"q": "wie groß?"}'.encode()
ENCODERS = {"": bytes, "gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}
ANSWERS = [(coding, body) for coding in ENCODERS for body in (PLAIN, TEXT, b"")]


class _Answers(BaseHTTPRequestHandler):
    """Answers number n of the table at the path /n."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        coding, body = ANSWERS[int(self.path[1:])]
        sent = ENCODERS[coding](body)
        self.send_response(200)
        self.send_header("Content-Length", str(len(sent)))
        self.send_header("X-Twice", "1")
        self.send_header("X-Twice", "2")
        if coding:
            self.send_header("Content-Encoding", coding)
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's own name
        """Say nothing."""


@pytest.fixture(scope="module")
def base():
    """Serve the answers; return the server's URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _with_requests(urls: list[str]) -> list[bytes]:
    with requests.Session() as session:
        session.trust_env = False
        return [session.post(url, data=ASKED, timeout=5).content for url in urls]


def _with(library) -> object:
    def ask(urls: list[str]) -> list[bytes]:
        with library.Client(trust_env=False) as client:
            return [client.post(url, content=ASKED).content for url in urls]

    return ask


def _with_aiohttp(urls: list[str]) -> list[bytes]:
    async def ask() -> list[bytes]:
        async with aiohttp.ClientSession() as session:
            return [await (await session.post(url, data=ASKED)).read() for url in urls]

    return asyncio.run(ask())


CLIENTS = {"requests": _with_requests, "httpx": _with(httpx), "httpx2": _with(httpx2), "aiohttp": _with_aiohttp}


@pytest.mark.parametrize("ask", CLIENTS.values(), ids=CLIENTS)
def test_recorded_by_stock_vcrpy(tmp_path, base, ask):
    """Every answer is whole, plain, and one piece; written by us, it is the same to stock vcrpy and its client."""
    path = tmp_path / "c.yaml"
    urls = [f"{base}/{number}" for number in range(len(ANSWERS))]
    with vcr.use_cassette(str(path), record_mode="once"):
        live = ask(urls)
    assert live == [body for _, body in ANSWERS]
    read = store.load(path)
    assert [each.url for each in read.exchanges] == urls
    assert [each.pieces for each in read.exchanges] == [(Piece(0, body),) for _, body in ANSWERS]
    assert {(each.method, each.request_body, each.status, each.reason, each.ending) for each in read.exchanges} == {
        ("POST", ASKED, 200, "OK", "whole")
    }
    told = [[value for name, value in each.headers if name.lower() == "x-twice"] for each in read.exchanges]
    assert told in ([["1", "2"]] * len(urls), [["1, 2"]] * len(urls))
    store.save(read, path)
    assert store.load(path) == read
    with vcr.use_cassette(str(path), record_mode="none", match_on=["method", "uri", "body"]) as played:
        assert ask(urls) == live
        assert played.all_played


def test_carried_on_by_stock_vcrpy(tmp_path, base):
    """Where stock vcrpy adds an entry to a file of ours, nothing is lost of what only we know."""
    path = tmp_path / "c.yaml"
    ours = Cassette((exchange(PLAIN, pieces=(Piece(0.5, PLAIN[:20]), Piece(1, PLAIN[20:])), ending="reset"),), ORIGIN)
    store.save(ours, path)
    with vcr.use_cassette(str(path), record_mode="new_episodes"):
        assert _with_requests([f"{base}/0"]) == [PLAIN]
    both = store.load(path)
    assert (both.exchanges[:1], both.origin) == (ours.exchanges, ours.origin)
    assert [each.body for each in both.exchanges] == [PLAIN, PLAIN]


def test_json_of_aiohttp(tmp_path, base):
    """What aiohttp was asked to send as JSON is the request's body."""

    async def ask() -> None:
        async with aiohttp.ClientSession() as session:
            await (await session.post(f"{base}/1", json={"q": [1, "ä"]})).read()

    with vcr.use_cassette(str(tmp_path / "c.yaml")):
        asyncio.run(ask())
    (read,) = store.load(tmp_path / "c.yaml").exchanges
    assert json.loads(read.request_body) == {"q": [1, "ä"]}


def test_a_file_as_body(tmp_path, base):
    """A body that was read from a file, which vcrpy keeps under a tag of Python's, is read."""
    with vcr.use_cassette(str(tmp_path / "c.yaml")), (tmp_path / "asked").open("w+b") as file:
        file.write(ASKED)
        file.seek(0)
        requests.post(f"{base}/1", data=file, timeout=5)
    assert "!!python/object/new:_io.BytesIO" in (tmp_path / "c.yaml").read_text("utf-8")
    (read,) = store.load(tmp_path / "c.yaml").exchanges
    assert read.request_body == ASKED


def test_an_encoding_that_is_only_told(tmp_path):
    """A header that speaks of an encoding, over a body that has none, is not believed."""
    path = tmp_path / "c.yaml"
    path.write_text(
        "version: 1\ninteractions:\n- request: {method: GET, uri: 'https://x/', body: null, headers: {}}\n"
        "  response:\n    status: {code: 200, message: OK}\n    headers: {content-encoding: gzip}\n"
        "    body: {string: plain}\n",
        "utf-8",
    )
    (read,) = store.load(path).exchanges
    assert (read.body, read.headers) == (b"plain", ())


def test_an_encoding_cut_short(tmp_path):
    """An answer that can't be decoded is no answer: it is told, not played."""
    cut = gzip.compress(TEXT)[:-9]
    path = tmp_path / "c.yaml"
    with vcr.VCR().use_cassette(str(path)) as recording:
        recording.append(
            vcr.request.Request("GET", "https://x/", None, {}),
            {
                "status": {"code": 200, "message": ""},
                "headers": {"Content-Encoding": ["gzip"]},
                "body": {"string": cut},
            },
        )
    with pytest.raises(CassetteError, match="entry 0: the content encoding 'gzip' can't be undone"):
        store.load(path)


def test_no_answer_body(tmp_path):
    """What stock vcrpy writes for an answer that can have no body is read as an empty one."""
    text = "version: 1\ninteractions:\n- request: {method: HEAD, uri: 'https://x/', body: null, headers: {}}\n"
    (tmp_path / "c.yaml").write_text(
        f"{text}  response: {{status: {{code: 204, message: null}}, headers: {{}}, body: {{}}}}\n"
    )
    (read,) = store.load(tmp_path / "c.yaml").exchanges
    assert (read.status, read.reason, read.body) == (204, "", b"")
