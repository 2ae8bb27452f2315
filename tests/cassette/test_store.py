"""Cassette files: what is written is read back the same, here and by stock vcrpy, and what is unsound is refused."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import aiohttp
import httpx
import pytest
import requests
import vcr
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_agentcontract.cassette.exchange import Cassette, Origin, Piece, Recorded
from pytest_agentcontract.cassette.file import layout, store
from pytest_agentcontract.errors import CassetteError
from tests.cassette.exchanges import URL, exchange

BODIES = {
    "an event stream": 'event: a\ndata: {"text":"häl\u2028 don\'t 😀 日本"}\n\ndata: [DONE]\n\n'.encode(),
    "CR LF": b'data: {"a": 1}\r\n\r\n  data: x\r\n\r\n',
    "JSON on one line": b'{"a": "it\'s", "b": [1, 2]}',
    "no UTF-8": b"data: \xff\x00\xfe\n\n",
    "cut inside a character": "data: häl".encode()[:-2],
    "nothing": b"",
    "blank at the end": b"data: \n\n \n",
    "blank at the begin": b"\n\n  data: x\n",
    "line ends alone": b"\n\n\n",
    "words of YAML": b"no",
    "a document's end": b"---\n...\n# %\n- x: y\n",
}


def cut(body: bytes, at: int) -> tuple[Piece, ...]:
    """Cut a body in two pieces."""
    return Piece(0.25, body[:at]), Piece(0, body[at:])


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("ending", ["whole", "reset", "closed", "hung-up"])
def test_what_is_written_is_read_back(tmp_path, body, ending):
    """Bodies, pieces, gaps, endings and the origin come back as they were."""
    one = exchange(body, ending=ending, pieces=cut(body, 7))
    made = Cassette(
        (one, exchange(request_body=body)), Origin({"openai": "https://x/v1"}, "by hand", ("/input/*/text",))
    )
    store.save(made, tmp_path / "deep" / "c.yaml")
    assert store.load(tmp_path / "deep" / "c.yaml") == made


_TEXTS = st.text(st.sampled_from("\n\r\t\x00\x7f\x85 \u2028\ufeff\ufffe:#-'\"|>%@`&*!?{}[],\\~ab1é日😀\U0010ffff"))
_PLAIN_TEXTS = st.text(st.sampled_from("\n \"':#-|>&*!?[]{},%~1aé😀"))
_VALUES = _TEXTS | _PLAIN_TEXTS | st.text(max_size=8)
_BODIES = st.binary(max_size=8) | _VALUES.map(str.encode)
_HEADERS = st.dictionaries(st.from_regex(r"[a-z!#-]{1,8}", fullmatch=True), _VALUES).map(
    lambda found: tuple(found.items())
)


@st.composite
def _exchanges(draw) -> Recorded:
    gaps = st.integers(0, 10**6).map(lambda tenths: tenths / 10_000)
    return Recorded(
        draw(st.sampled_from(["GET", "no", ""])),
        draw(st.just(URL) | _VALUES.map("https://x/".__add__)),
        draw(_HEADERS),
        draw(_BODIES),
        draw(st.integers(0, 999)),
        draw(_VALUES),
        draw(_HEADERS),
        tuple(draw(st.lists(st.builds(Piece, gaps, _BODIES), max_size=3))),
        draw(st.sampled_from(["whole", "reset", "closed", "hung-up"])),
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(_exchanges(), min_size=1, max_size=2), _VALUES)
def test_any_exchange_is_read_back(tmp_path_factory, exchanges, note):
    """No text, and no bytes, are changed by being kept; and what was read is written the same again."""
    path = tmp_path_factory.getbasetemp() / "fuzzed.yaml"
    made = Cassette(tuple(exchanges), Origin(note=note))
    store.save(made, path)
    written = path.read_bytes()
    assert store.load(path) == made
    store.save(store.load(path), path)
    assert path.read_bytes() == written


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        _BODIES | _VALUES | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(_VALUES, inner)
    )
)
def test_every_reader_of_yaml_reads_the_layout(value):
    """The C reader and the Python reader of PyYAML see what was laid out."""
    text = layout.dumps({"value": value, "after": "it"})
    for loader in (yaml.SafeLoader, yaml.CSafeLoader):
        assert yaml.load(text, Loader=loader) == {"value": value, "after": "it"}  # noqa: S506 - both are safe


def test_a_cassette_can_be_read_by_people(tmp_path):
    """An event stream stands line by line, in its own letters."""
    store.save(Cassette((exchange('data: {"text": "größer 😀"}\n\ndata: [DONE]\n\n'.encode()),)), tmp_path / "c.yaml")
    lines = [line.strip() for line in (tmp_path / "c.yaml").read_text("utf-8").splitlines()]
    assert 'data: {"text": "größer 😀"}' in lines
    assert "data: [DONE]" in lines


def test_headers_of_the_transfer_are_left_out(tmp_path):
    """No client is told of an encoding or a length that the kept body does not have; lines of a name come together."""
    headers = (("Content-Encoding", "gzip"), ("Set-X", "1"), ("content-length", "9"), ("a", "b"), ("set-x", "2"))
    store.save(
        Cassette((exchange(headers=headers, request_headers=(("Accept", "a"), ("accept", "b"))),)), tmp_path / "c"
    )
    (read,) = store.load(tmp_path / "c").exchanges
    assert read.headers == (("Set-X", "1"), ("Set-X", "2"), ("a", "b"))
    assert read.request_headers == (("Accept", "a, b"),)


class TestStockVcrpy:
    """Our files under vcrpy's own patching, by the clients that people use; nothing can go out."""

    @pytest.fixture
    def played(self, tmp_path):
        """Keep every body as an answer of its own, and let vcrpy play it."""
        exchanges = [
            exchange(
                body,
                method="POST",
                url=f"https://api.example.com/{at}",
                pieces=cut(body, 5),
                headers=(("content-type", "text/plain"), ("x-n", str(at))),
            )
            for at, body in enumerate(BODIES.values())
        ]
        store.save(Cassette(tuple(exchanges), Origin(note="ours")), tmp_path / "c.yaml")
        before = (tmp_path / "c.yaml").read_bytes()
        with vcr.use_cassette(
            str(tmp_path / "c.yaml"), record_mode="none", match_on=["method", "uri", "body"]
        ) as played:
            yield exchanges
            assert played.all_played
        assert (tmp_path / "c.yaml").read_bytes() == before

    def test_requests(self, played):
        """`requests` gets every status, header and body."""
        for each in played:
            answer = requests.post(each.url, data=each.request_body, timeout=5)
            assert (answer.status_code, answer.headers["x-n"], answer.content) == (
                200,
                each.url.rpartition("/")[2],
                each.body,
            )

    def test_httpx(self, played):
        """`httpx` gets the same."""
        with httpx.Client() as client:
            for each in played:
                answer = client.post(each.url, content=each.request_body)
                assert (answer.status_code, answer.reason_phrase, answer.content) == (200, "OK", each.body)

    def test_aiohttp(self, played):
        """`aiohttp` gets the same."""

        async def ask() -> None:
            async with aiohttp.ClientSession() as session:
                for each in played:
                    async with session.post(each.url, data=each.request_body) as answer:
                        assert (answer.status, answer.headers["content-type"], await answer.read()) == (
                            200,
                            "text/plain",
                            each.body,
                        )

        asyncio.run(ask())


_ENTRY = """\
- request:
    method: GET
    uri: https://x/
    body: null
    headers: {a: [b]}
  response:
    status: {code: 200, message: OK}
    headers: {}
    body: {string: ab}
"""
_HEAD = "version: 1\ninteractions:\n"
_BOMB = "bomb:\n- &a [x]\n" + "".join(f"- &{b} [{', '.join([f'*{a}'] * 30)}]\n" for a, b in pairwise("abcdefghi"))
_BAD = {  # what is changed in a sound file, and the line and the words that the error must have
    "empty": (lambda _: "", 1, "nothing stands here"),
    "only a comment": (lambda _: "# x\n", 1, "nothing stands here"),
    "truncated in a bracket": (lambda text: text[: text.index("200,")], 9, "the text ends here"),
    "truncated in an entry": (lambda text: text[: text.index("  response:")], 3, "entry 0: `response` is missing"),
    "merge conflict": (lambda text: text.replace("    uri", "<<<<<<< HEAD\n    uri"), 5, "merge conflict"),
    "end of a merge conflict": (lambda text: f"{text}>>>>>>> theirs\n", 12, "merge conflict"),
    "python object": (lambda text: text.replace("null", "!!python/object/apply:os.system [id]"), 6, "constructor"),
    "python name": (lambda text: text.replace("ab", '!!python/name:os.system ""'), 11, "constructor"),
    "unknown tag": (lambda text: text.replace("ab", "!secret ab"), 11, "constructor"),
    "no version": (lambda text: text.replace("version: 1\n", ""), 1, "says no `version`"),
    "version of tomorrow": (lambda text: text.replace("version: 1", "version: 2"), 1, "version 2 is not known, only 1"),
    "version as a text": (lambda text: text.replace("version: 1", "version: '1'"), 1, "version '1' is not known"),
    "version as true": (lambda text: text.replace("version: 1", "version: true"), 1, "version True is not known"),
    "format before 1.0": (lambda text: text.removeprefix(_HEAD), 1, "older than vcrpy 1.0"),
    "no list": (lambda _: "version: 1\ninteractions: {}\n", 1, "`interactions` is no list"),
    "no interactions": (lambda _: "version: 1\n", 1, "`interactions` is no list"),
    "another kind of YAML": (lambda _: "just words\n", 1, "says no `version`"),
    "metadata is a text": (lambda text: text + "metadata: x\n", 1, "`metadata` is no mapping"),
    "our metadata is a text": (lambda text: text + "metadata: {agent_contract: x}\n", 1, "agent_contract"),
    "an upstream is a number": (lambda text: text + "metadata: {agent_contract: {upstreams: {a: 1}}}\n", 1, "no text"),
    "key twice": (lambda text: text.replace("    uri:", "    method: POST\n    uri:"), 5, "'method' stands twice"),
    "two documents": (lambda text: f"{text}---\n{text}", 12, "document"),
    "no request body": (lambda text: text.replace("    body: null\n", ""), 3, "entry 0: `request/body` is missing"),
    "no answer body": (lambda text: text.replace("    body: {string: ab}\n", ""), 3, "`response/body` is missing"),
    "another body": (lambda text: text.replace("string: ab", "strnig: ab"), 3, "`response/body/string` is missing"),
    "body is a number": (lambda text: text.replace("string: ab", "string: 12"), 3, "neither text nor bytes"),
    "request body is a number": (lambda text: text.replace("null", "12"), 3, "a body is int"),
    "half a character": (lambda text: text.replace("null", '"\\uD83D"'), 6, "Unicode"),
    "no status": (lambda text: text.replace("code: 200, ", ""), 3, "`response/status/code` is missing"),
    "status is a text": (lambda text: text.replace("200", "ok"), 3, "`response/status/code` is no whole number"),
    "status is true": (lambda text: text.replace("200", "true"), 3, "`response/status/code` is no whole number"),
    "entry is a text": (lambda text: text + "- x\n", 12, "entry 1: `request` is missing"),
    "request is a list": (lambda _: f"{_HEAD}- request: [1]\n  response: 2\n", 3, "`request` is no mapping"),
    "headers are a list": (lambda text: text.replace("{a: [b]}", "[a]"), 3, "`request/headers` is no mapping"),
    "header is a number": (lambda text: text.replace("{a: [b]}", "{a: [1]}"), 3, "`request/headers/a`"),
    "header without a value": (lambda text: text.replace("{a: [b]}", "{a: []}"), 3, "`request/headers/a`"),
    "no URL": (lambda text: text.replace("https://x/", "'https://[x'"), 3, "`request/uri` is no URL"),
    "strange key": (lambda text: text.replace("    uri", "    url: x\n    uri"), 3, "`request` knows no 'url'"),
    "ending": (lambda text: text + "    x_agentcontract: {ending: maybe}\n", 3, "ending` is none of whole, reset"),
    "pieces of a changed body": (
        lambda text: text + "    x_agentcontract: {pieces: '[[0, 1]]'}\n",
        3,
        "add up to 1 bytes",
    ),
    "gap is below nothing": (
        lambda text: text + "    x_agentcontract: {pieces: '[[-1, 2]]'}\n",
        3,
        "pieces` lists no pairs",
    ),
    "gap is no number": (
        lambda text: text + "    x_agentcontract: {pieces: '[[NaN, 2]]'}\n",
        3,
        "pieces` lists no pairs",
    ),
    "length is a fraction": (
        lambda text: text + "    x_agentcontract: {pieces: '[[0, 2.0]]'}\n",
        3,
        "pieces` lists no pairs",
    ),
    "pieces are no text": (
        lambda text: text + "    x_agentcontract: {pieces: [[0, 2]]}\n",
        3,
        "pieces` lists no pairs",
    ),
    "pieces are no pairs": (
        lambda text: text + "    x_agentcontract: {pieces: '[0, 2]'}\n",
        3,
        "pieces` lists no pairs",
    ),
    "pieces are no list": (lambda text: text + "    x_agentcontract: {pieces: '{}'}\n", 3, "pieces` lists no pairs"),
    "our key is a list": (
        lambda text: text + "    x_agentcontract: []\n",
        3,
        "`response/x_agentcontract` is no mapping",
    ),
    "tag on what it can't be": (lambda text: text.replace("ab", "!!int ab"), 1, "not what its tag says"),
    "no date": (lambda text: text.replace("ab", "2001-13-41"), 1, "not what its tag says"),
    "control character": (lambda text: text.replace("ab", "a\x00b"), 11, "no text of YAML"),
    "deep": (lambda text: text.replace("ab", "[" * 9000), 11, "depth"),
    "aliases that explode": (lambda text: _BOMB + text.replace("null", "*i"), 2, "aliases unfold"),
    "an alias of itself": (lambda text: text.replace("null", "&a {a: *a}"), 6, "aliases unfold"),
    "an encoding nobody undoes": (
        lambda text: text.replace("headers: {}", "headers: {Content-Encoding: [zap]}"),
        3,
        "the content encoding 'zap' can't be undone",
    ),
    "an event stream of nothing": (
        lambda text: text.replace("headers: {}", "headers: {content-type: [text/event-stream]}").replace("ab", "''"),
        None,
        "the answer to GET https://x/ is an event stream without an event",
    ),
}

_DEBRIS = (
    *(
        "",
        " ",
        "\n",
        "\n  ",
        "- ",
        ": ",
        "? ",
        "<<: ",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "|",
        "~",
        "-1",
        ".nan",
        "1e999",
        "no",
    ),
    *("!!binary ", "!!int ", "!!set ", "!!omap ", "!!timestamp ", "!!python/tuple ", "&a ", "*a", "2001-13-41", "\0"),
    *("!!python/object/new:_io.BytesIO ", "!!python/object/apply:builtins.iter ", '"\\ud800"', "9" * 5000),
)


class TestBadCassettes:
    """One clear error, with a place and a next step, and the file as it was."""

    @pytest.mark.parametrize(("change", "line", "words"), _BAD.values(), ids=_BAD)
    def test_is_refused(self, tmp_path, change, line, words):
        """The error names the file, the line or the entry, what is wrong there, and what to do."""
        path = tmp_path / "c.yaml"
        path.write_text(change(_HEAD + _ENTRY), "utf-8")
        before = path.read_bytes()
        with pytest.raises(CassetteError) as told:
            store.load(path)
        assert told.value.where == (f"{path}: entry 0" if line is None else f"{path}:{line}")
        assert words in told.value.what
        assert "\n" not in told.value.what
        assert told.value.remedy
        assert path.read_bytes() == before

    @settings(max_examples=100, deadline=None)
    @given(st.data())
    def test_any_damage(self, tmp_path_factory, data):
        """Wherever something is put in the place of something, what can't be read is a CassetteError of one line."""
        sound = _HEAD + _ENTRY
        at, length = data.draw(st.integers(0, len(sound))), data.draw(st.sampled_from([0, 1, 7, 300]))
        path = tmp_path_factory.getbasetemp() / "damaged.yaml"
        path.write_text(sound[:at] + data.draw(st.sampled_from(_DEBRIS)) + sound[at + length :], "utf-8")
        try:
            store.load(path)
        except CassetteError as error:
            assert "\n" not in error.what  # noqa: PT017 - most damage is refused, some is none

    def test_the_sound_file_is_read(self, tmp_path):
        """What the table changes is sound itself."""
        (tmp_path / "c.yaml").write_text(_HEAD + _ENTRY, "utf-8")
        (read,) = store.load(tmp_path / "c.yaml").exchanges
        assert (read.method, read.url, read.request_headers, read.body) == ("GET", "https://x/", (("a", "b"),), b"ab")

    def test_another_encoding(self, tmp_path):
        """A file in another encoding is named with its line."""
        (tmp_path / "c.yaml").write_bytes(f"{_HEAD}# größe\n".encode("latin-1"))
        with pytest.raises(CassetteError, match=r"c\.yaml:3: no text in UTF-8"):
            store.load(tmp_path / "c.yaml")

    def test_no_file(self, tmp_path):
        """A file that is not there is no empty cassette."""
        with pytest.raises(CassetteError, match="No such file"):
            store.load(tmp_path / "c.yaml")
