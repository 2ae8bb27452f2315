"""Scrubbing takes out secrets and nothing else: framing, boundaries and ordinary transcripts stay as they are."""

from __future__ import annotations

import base64
import itertools
import json
import random
import re
import time
import uuid
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_agentcontract.cassette.exchange import Piece, Recorded
from pytest_agentcontract.cassette.scrubbing.residual import leaks
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber, unnumbered
from pytest_agentcontract.scenario.case import ScriptedTurn
from pytest_agentcontract.scenario.load_case import shipped
from pytest_agentcontract.wire.formats import FORMATS
from pytest_agentcontract.wire.request import Request, ToolChoice
from pytest_agentcontract.wire.sse import Reader
from pytest_agentcontract.wire.turn import Call, Turn

KEY = "sk-" + "ant-api03-Zx81kQ_aLmN0pQrStUvWxYz"
KEYS = [KEY + str(number) for number in range(4)]
AWKWARD = 'pa"ss\\word\n7'
ENVIRON = {"MY_PASSWORD": AWKWARD, "PIN_TOKEN": "1234567890", "A_SECRET": "äöü-ß😀-secret", "WORD_KEY": "organization"}
LARGE = 100_000
LONGEST = 300


def recorded(answer: bytes = b"", body: bytes = b"", url: str = "https://h.example/v1") -> Recorded:
    """Build an exchange."""
    kind = (("content-type", "application/json"),)
    return Recorded("POST", url, kind, body, 200, "OK", kind, (Piece(0.5, answer),))


def scrubbed(data: bytes, scrubber: Scrubber | None = None) -> bytes:
    """Scrub an answer's body."""
    return (scrubber or Scrubber(ENVIRON)).scrub(recorded(data)).body


def untouched(data: bytes) -> bool:
    """Tell whether nothing is taken out of a body, and nothing said to leak."""
    exchange, scrubber = recorded(data), Scrubber({"API_KEY": KEY})
    return scrubber.scrub(exchange) == exchange and leaks(exchange, scrubber.secrets(exchange)) == ()


# -- what must stay ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_the_transcripts_of_the_suite_stay(name):
    """Every turn of every shipped case, streamed and whole, on every wire format."""
    wire, request = FORMATS[name], Request(name, "m", "", (), (), ToolChoice(), stream=True, body={})
    for case in shipped():
        turns = [_turn(scripted) for agent in case.script.values() for scripted in agent]
        events = (event.data for turn in turns for event in wire.encode_stream(turn, request, 12345678))
        assert untouched(b"".join(events))
        assert untouched(json.dumps([wire.encode_whole(turn, request, 12345678) for turn in turns]).encode())


def _turn(scripted: ScriptedTurn) -> Turn:
    calls = tuple(Call(call.tool.strip("$"), {"value": repr(call)[:LONGEST]}) for call in scripted.calls)
    text = scripted.text and scripted.text[:LONGEST]
    return Turn(text, text, calls, deltas=2)


def _random(seed: int, length: int) -> bytes:
    return random.Random(seed).randbytes(length)  # noqa: S311 - it stands for noise, not for a secret


ORDINARY = {
    "hashes": " ".join(_random(k, size).hex() for k in range(20) for size in (16, 20, 32, 64)),
    "ids": " ".join(str(uuid.UUID(bytes=_random(k, 16))) for k in range(200)),
    "call ids": " ".join(
        f"{kind}{base64.b64encode(_random(k, 24), b'aZ').decode()}"
        for k in range(50)
        for kind in ("call_", "toolu_01", "msg_", "resp_", "chatcmpl-", "fc_", "rs_")
    ),
    "prose": "Basic understanding of the authorization: required for all. The bearer of this-and-that-long-thing asks. "
    "task-manager-1234567890123456789012, risk-averse0123456789, sk-learn-compatible-estimators, tokens=1000000000000, "
    "cookie: chocolate, key=value, max_tokens=100000, organization of user data, password must have 8 characters",
    "code": "for key in sorted(items, key=lambda item: item.token): api_key=os.environ['API_KEY']; KEY = 'abc'; "
    "https://example.com/a?page=2&sort=key#top; git@github.com:a/b.git; user:pass; SECRET_NAMES=frozenset()",
    "certificate": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n-----BEGIN PUBLIC KEY-----\nMIIB\n",
}


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY)
def test_what_only_resembles_a_secret_stays(text):
    """In JSON, in an event stream and plainly."""
    assert untouched(json.dumps({"text": text, "tools": [{"input": {"x": text}}]}).encode())
    assert untouched(f"data: {json.dumps({'text': text})}\n\n".encode())
    assert untouched(text.encode())


@pytest.mark.parametrize("seed", range(20))
def test_random_data_stays(seed):
    """Encrypted reasoning, the signature of thinking, an image: replay needs each as it is."""
    blob = _random(seed, 60_000)
    standard, safe = base64.b64encode(blob).decode(), base64.urlsafe_b64encode(blob).decode()
    body = {"encrypted_content": f"gAAAAAB{safe}", "signature": standard, "thoughtSignature": safe, "data": standard}
    assert untouched(json.dumps(body).encode())
    assert untouched(b"".join(f"data: {json.dumps({key: text})}\n\n".encode() for key, text in body.items()))


def test_schemas_and_log_probabilities_stay():
    """Names that are a field's elsewhere: of a schema's properties, of a token that a model chose."""
    schema = {"type": "object", "properties": {"password": {"type": "string"}, "user": {"type": "string"}}}
    body = {"tools": [{"input_schema": schema}], "logprobs": {"content": [{"token": "Hello", "logprob": -0.1}]}}
    assert untouched(json.dumps(body | {"role": "user", "required": ["password", "api_key"]}).encode())


# -- placeholders -----------------------------------------------------------------------------------------------------


def test_equal_values_have_equal_numbers():
    """In one exchange and in the next, whatever stands between, and however a value is escaped."""
    scrubber = Scrubber({})
    assert scrubbed(f"{KEYS[0]} {KEYS[1]} {KEYS[0]}".encode(), scrubber) == (
        b"SCRUBBED-key-1 SCRUBBED-key-2 SCRUBBED-key-1"
    )
    assert scrubbed(f'{{"a": "{KEYS[2]} \\u0073{KEYS[1][1:]}"}}'.encode(), scrubber) == (
        b'{"a": "SCRUBBED-key-3 SCRUBBED-key-2"}'
    )


def test_numbers_go_on_after_those_that_stand_there():
    """What another scrubber left keeps its number to itself."""
    assert scrubbed(b"SCRUBBED-key-7 " + KEY.encode()) == b"SCRUBBED-key-7 SCRUBBED-key-8"


def test_unnumbered_makes_equal_what_differs_in_numbers():
    """Kinds still differ, and other numbers stay."""
    assert unnumbered(b"1 SCRUBBED-key-12, SCRUBBED-user-3.") == b"1 SCRUBBED-key-0, SCRUBBED-user-0."


def test_a_secret_that_is_part_of_a_placeholder_changes_none():
    """A variable may hold a word that a placeholder is made of."""
    once = scrubbed(b'{"a": "organization", "organization": "x"}')
    assert once == b'{"a": "SCRUBBED-environment-1", "SCRUBBED-environment-1": "SCRUBBED-organization-1"}'
    assert scrubbed(b"SCRUBBED-organization-1") == b"SCRUBBED-organization-1"


def test_placeholders_beside_each_other_are_no_secret():
    """Behind a name whose value would go as a whole: each is somebody's, and stays."""
    once = b'{"a": "?key=SCRUBBED-environment-1SCRUBBED-key-1 Cookie: a=SCRUBBED-key-1SCRUBBED-key-2"}'
    assert scrubbed(once) == once


def test_more_headers_and_fields_on_request():
    """A header that is asked for is kept, one that carries a secret as a placeholder; a field's value goes."""
    exchange = recorded(b'{"session": "abc"}')
    exchange = Recorded(
        "GET",
        exchange.url,
        (("X-Trace", "1"), ("Authorization", "Bearer abcdefgh-1"), ("Other", "2")),
        b"",
        200,
        "OK",
        (("X-TRACE", "3"), ("x-request-id", "r-1")),
        exchange.pieces,
    )
    after = Scrubber({}, ("x-trace", "authorization"), ("Session",)).scrub(exchange)
    assert after.request_headers == (("X-Trace", "1"), ("Authorization", "SCRUBBED-credential-1"))
    assert after.headers == (("X-TRACE", "3"),)
    assert after.body == b'{"session": "SCRUBBED-credential-2"}'


def test_a_basic_password_is_looked_for_by_itself():
    """What a header encodes is secret as well."""
    header = ("Authorization", "Basic " + base64.b64encode(b"somebody:open-sesame").decode())
    exchange = Recorded("GET", "https://h.example/", (header,), b"", 200, "OK", (), (Piece(0, b"no: open-sesame"),))
    assert b"sesame" not in Scrubber({}).scrub(exchange).body


# -- boundaries -------------------------------------------------------------------------------------------------------


def test_boundaries_stay_where_they_were():
    """One inside of what is replaced moves to its end; no piece is lost, and gaps stay."""
    parts = (b"ab", b"c " + KEY[:9].encode(), KEY[9:20].encode(), KEY[20:].encode() + b" d", b"", b"e")
    exchange = Recorded(
        "GET", "https://h.example/", (), b"", 200, "OK", (), tuple(Piece(k / 8, data) for k, data in enumerate(parts))
    )
    assert Scrubber({}).scrub(exchange).pieces == (
        Piece(0.0, b"ab"), Piece(0.125, b"c SCRUBBED-key-1"), Piece(0.25, b""), Piece(0.375, b" d"),
        Piece(0.5, b""), Piece(0.625, b"e"),
    )  # fmt: skip


TEXTS = st.lists(
    st.one_of(
        st.sampled_from(
            [*KEYS, *ENVIRON.values(), "SCRUBBED-key-1", "\\", '"', "\n", "é", "😀", "%", "Bearer ", "?key="]
        ),
        st.text(max_size=12),
    ),
    max_size=8,
).map("".join)
FIELDS = st.sampled_from(["text", "delta", "password", "user_id", "input", "arguments", "a"])
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS,
              st.just(1234567890), st.just(12345678901)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(FIELDS, TEXTS), inner, max_size=4),
        inner.map(json.dumps),
    ),
    max_leaves=8,
)  # fmt: skip


@st.composite
def _cut(draw: st.DrawFn, data: bytes) -> tuple[Piece, ...]:
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=6)))
    bounds = [0, *places, len(data)]
    return tuple(Piece(0.0, data[start:end]) for start, end in itertools.pairwise(bounds))


def _shape(value: object) -> object:
    """Return a value's types and sizes, without its texts and numbers."""
    if isinstance(value, dict):
        return [_shape(inner) for inner in value.values()]
    if isinstance(value, list):
        return [_shape(inner) for inner in value]
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from (key, *_texts(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value


def _frames(data: bytes) -> list[tuple[str, str]]:
    return [(frame.name, frame.data) for frame in Reader().feed(data)]


@settings(max_examples=200, deadline=None)
@given(value=VALUES, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]), data=st.data())
def test_json_stays_json(value, ascii_only, indent, data):
    """Of the same shape, without the secrets, in as many pieces; scrubbing again changes nothing."""
    body = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    exchange = Recorded("POST", "https://h.example/", (), body, 200, "OK", (), data.draw(_cut(body)))
    scrubber = Scrubber(ENVIRON)
    after = scrubber.scrub(exchange)
    assert _shape(json.loads(after.body)) == _shape(value)
    assert after.request_body == after.body
    assert [piece.gap for piece in after.pieces] == [piece.gap for piece in exchange.pieces]
    assert not any(secret in text for text in _texts(json.loads(after.body)) for secret in (KEY, AWKWARD, "äöü-ß😀-s"))
    assert scrubber.scrub(after) == after


@settings(max_examples=200, deadline=None)
@given(values=st.lists(VALUES, max_size=6), line=st.sampled_from(["\n", "\r\n", "\r"]), data=st.data())
def test_an_event_stream_stays_one(values, line, data):
    """With as many events of the same names, and each that was JSON still is."""
    events = (f"event: e{k}{line}data: {json.dumps(value)}{line}{line}" for k, value in enumerate(values))
    body = "".join(events).encode()
    exchange = Recorded("POST", "https://h.example/", (), b"", 200, "OK", (), data.draw(_cut(body)))
    scrubber = Scrubber(ENVIRON)
    after = scrubber.scrub(exchange)
    before, frames = _frames(body), _frames(after.body)
    assert [name for name, _ in frames] == [name for name, _ in before]
    assert [_shape(json.loads(told)) for _, told in frames] == [_shape(json.loads(told)) for _, told in before]
    assert len(after.pieces) == len(exchange.pieces)
    assert scrubber.scrub(after) == after


@settings(max_examples=200, deadline=None)
@given(
    body=st.one_of(st.binary(max_size=200), TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass"))), url=TEXTS
)
def test_anything_can_be_scrubbed(body, url):
    """No bytes are too strange, and what has been scrubbed stays."""
    address = "https://h.example/" + re.sub(r"[^!-~]", "", url)
    exchange, scrubber = recorded(body, body, address), Scrubber(ENVIRON)
    after = scrubber.scrub(exchange)
    assert scrubber.scrub(after) == after
    assert isinstance(leaks(after, scrubber.secrets(exchange)), tuple)
    assert KEY.encode() not in after.body


# -- time -------------------------------------------------------------------------------------------------------------


def _repeated(part: bytes) -> bytes:
    return part * (LARGE // len(part))


ADVERSARIAL = {
    **{
        part: part.encode()
        for part in ('"', '"\\"', "\\", "{", '"password":"', "sk-ant-", "eyJ", "eyJ.eyJ.", "%41", "\\u0041")
    },
    **{
        part: part.encode() for part in ("?key=", "Bearer aaaa", "data: ", "data:\n", "://a:", "KEY", "Cookie: a=", "a")
    },
    **{part: part.encode() for part in ('"input"  ', "12345678901,", '{"input":[', '"a":"b\\",', 'name="token"\r\n')},
    "keys": KEY.encode() + b" ",
    "frames": b'data: {"text":"sk-ant-"}\n\n',
    "begun keys": b"-----BEGIN PRIVATE KEY-----",
}


@pytest.mark.parametrize("part", ADVERSARIAL.values(), ids=ADVERSARIAL)
@pytest.mark.parametrize("head", [b"[", b"data: x\n\n"], ids=["as JSON", "as a stream"])
def test_nothing_takes_long(head, part):
    """What is of the worst kind costs a few seconds, where anything quadratic would cost hours."""
    body = head + _repeated(part)
    exchange, scrubber = recorded(body), Scrubber(ENVIRON)
    begun = time.process_time()
    after = scrubber.scrub(exchange)
    leaks(after, scrubber.secrets(exchange))
    assert time.process_time() - begun < 30
