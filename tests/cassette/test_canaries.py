"""Secrets are planted wherever one can stand: each is gone after scrubbing, or its recording is refused."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote, unquote_to_bytes

import pytest
from backports import zstd

from pytest_agentcontract.cassette.exchange import Headers, Piece, Recorded
from pytest_agentcontract.cassette.scrubbing.residual import leaks
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.wire.formats import FORMATS
from pytest_agentcontract.wire.request import Request, ToolChoice
from pytest_agentcontract.wire.turn import Call, Turn

URL = "https://api.example.com/v1/messages"
JSON_TYPE = ("content-type", "application/json")
SECRETS = {
    "a key by its shape": "sk-" + "ant-api03-Zx81kQ_aLmN0pQrStUvWxYz-AA",
    "a value of the environment": "correct-Horse/battery+staple=9",
    "the key that the exchange carries": "f00dfeedCAFE1234.zz",
}
ENVIRON = {"VAULT_PASSWORD": SECRETS["a value of the environment"], "HOME": "nowhere-special"}
CARRIED = ("X-Api-Key", SECRETS["the key that the exchange carries"])
WORDS = " ".join(str(number**5) for number in range(99))
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq1\nZm9vYmFyYmF6cXV4\n-----END RSA PRIVATE KEY-----\n"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"


def recorded(
    *,
    url: str = URL,
    headers: Headers = (),
    body: bytes = b"{}",
    reason: str = "OK",
    answer_headers: Headers = (("content-type", "application/json"),),
    answer: bytes | tuple[bytes, ...] = b"{}",
    status: int = 200,
) -> Recorded:
    """Build an exchange that carries the usual key."""
    pieces = (answer,) if isinstance(answer, bytes) else answer
    return Recorded(
        "POST",
        url,
        (CARRIED, JSON_TYPE, *headers),
        body,
        status,
        reason,
        answer_headers,
        tuple(Piece(0.0, data) for data in pieces),
    )


def streamed(*texts: str, event: str = "delta") -> bytes:
    """Render an event stream."""
    return b"".join(f"event: {event}\ndata: {json.dumps({'text': text})}\n\n".encode() for text in texts)


def escaped(text: str) -> str:
    """Write each letter as an escape."""
    return "".join(f"\\u{ord(letter):04X}" for letter in text)


def inner(text: str) -> str:
    """Render a document with the text in it."""
    return json.dumps({"note": f'see "{text}"\nthere'})


def on_wire(name: str, turn: Turn, *, cut: bool) -> bytes:
    """Render a turn as a stream of a wire format, its texts cut in two where that is asked for."""
    request = Request(name, "m", "", (), (), ToolChoice(), stream=True, body={})
    turn = Turn(turn.text, turn.thinking, turn.calls, deltas=2) if cut else turn
    return b"".join(event.data for event in FORMATS[name].encode_stream(turn, request, 7))


GONE: dict[str, Callable[[str], Recorded]] = {
    "request header": lambda s: recorded(headers=(("x-custom", s),)),
    "request header that is kept": lambda s: recorded(headers=(("User-Agent", f"tool/1.0 ({s})"),)),
    "header in other cases": lambda s: recorded(headers=(("AUTHORIZATION", f"bEaReR {s}"),)),
    "repeated headers": lambda s: recorded(headers=(("Accept", "a/b"), ("accept", s), ("x-api-key", s))),
    "request cookie": lambda s: recorded(
        headers=(("Cookie", f"a=b; session={s}"),), body=json.dumps({"x": s}).encode()
    ),
    "basic authentication": lambda s: recorded(
        headers=(("authorization", "Basic " + base64.b64encode(f"me:{s}".encode()).decode()),)
    ),
    "answer header": lambda s: recorded(answer_headers=(("x-echo", s),)),
    "answer header that is kept": lambda s: recorded(answer_headers=(("Location", f"https://h.example/{s}"),)),
    "answer cookie": lambda s: recorded(answer_headers=(("Set-Cookie", f"sid={s}; Path=/; HttpOnly"),)),
    "trailing white space": lambda s: recorded(headers=(("api-key", f"{s} \t"),), answer=inner(s).encode()),
    "reason phrase": lambda s: recorded(reason=f"No {s} here", status=401),
    "URL path": lambda s: recorded(url=f"{URL}/{s}/x"),
    "URL path, percent-encoded": lambda s: recorded(url=f"{URL}/{quote(s, safe='')}/x"),
    "URL path, every letter percent-encoded": lambda s: recorded(
        url=URL + "/" + "".join(f"%{b:02x}" for b in s.encode())
    ),
    "URL path, percent-encoded twice": lambda s: recorded(url=URL + "/" + "".join(f"%25{b:02X}" for b in s.encode())),
    "URL in a URL": lambda s: recorded(url=f"{URL}?to={quote(f'https://h.example/?q={quote(s)}', safe='')}"),
    "URL query": lambda s: recorded(url=f"{URL}?key={s}&alt=sse"),
    "URL query under any name": lambda s: recorded(url=f"{URL}?alt=sse&q={s}"),
    "URL query, percent-encoded": lambda s: recorded(url=f"{URL}?access_token={quote(s, safe='')}"),
    "URL fragment": lambda s: recorded(url=f"{URL}#access_token={s}"),
    "userinfo of the URL": lambda s: recorded(url=f"https://me:{quote(s, safe='')}@api.example.com/v1"),
    "JSON value": lambda s: recorded(body=json.dumps({"messages": [{"content": f"use {s}, please"}]}).encode()),
    "JSON value after an escape": lambda s: recorded(body=json.dumps({"a": f"one\n{s}\ttwo"}).encode()),
    "JSON key": lambda s: recorded(body=json.dumps({s: 1}).encode()),
    "JSON in a string": lambda s: recorded(body=json.dumps({"arguments": inner(s)}).encode()),
    "JSON in a string in a string": lambda s: recorded(body=json.dumps({"x": json.dumps({"y": inner(s)})}).encode()),
    "escaped letters": lambda s: recorded(body=f'{{"a": "{escaped(s)}"}}'.encode()),
    "escaped letters in a string": lambda s: recorded(body=json.dumps({"x": f'{{"a": "{escaped(s)}"}}'}).encode()),
    "tool result": lambda s: recorded(
        body=json.dumps({"messages": [{"content": [{"type": "tool_result", "content": f"KEY={s}\n"}]}]}).encode()
    ),
    "error body": lambda s: recorded(status=401, answer=json.dumps({"error": {"message": f"bad key {s}."}}).encode()),
    "plain text": lambda s: recorded(answer_headers=(("content-type", "text/plain"),), answer=f"no {s}\n".encode()),
    "a page": lambda s: recorded(answer=f"<html><b>{s}</b></html>".encode(), status=502),
    "event stream": lambda s: recorded(answer=streamed("a", f"b {s} c", "d")),
    "event stream with CRLF": lambda s: recorded(answer=streamed("a", s).replace(b"\n", b"\r\n")),
    "name of an event": lambda s: recorded(answer=streamed("a", event=s)),
    "comment of a stream": lambda s: recorded(answer=f": {s}\n\n".encode() + streamed("a")),
    "data that is no JSON": lambda s: recorded(answer=f"data: hi {s}\n\n".encode()),
    "stream cut off in the secret's text": lambda s: recorded(answer=streamed(f"x {s}")[:-6]),
    "malformed event": lambda s: recorded(answer=b'data: {"text": "half\n\n' + streamed(s)),
    "two frames": lambda s: recorded(answer=streamed("so " + s[:9], s[9:] + " and")),
    "many frames": lambda s: recorded(answer=streamed(*s)),
    "two pieces": lambda s: recorded(answer=(b'{"a": "' + s[:11].encode(), s[11:].encode() + b'"}')),
    "pieces of a byte each": lambda s: recorded(answer=tuple(bytes([b]) for b in streamed(f"a {s} b"))),
    "pieces and frames": lambda s: recorded(answer=tuple(streamed(s[:13], s[13:]).partition(s[:7].encode()))),
    "form": lambda s: recorded(
        headers=(("content-type", "application/x-www-form-urlencoded"),), body=f"a=1&password={quote(s)}&b=2".encode()
    ),
    "multipart": lambda s: recorded(
        headers=(("content-type", "multipart/form-data; boundary=xx"),),
        body=f'--xx\r\nContent-Disposition: form-data; name="token"\r\n\r\n{s}\r\n--xx--\r\n'.encode(),
    ),
    "body that is no UTF-8": lambda s: recorded(answer=b"\xff\xfe\x80 " + s.encode() + b" \xe2\x28"),
    "JSON that is no UTF-8": lambda s: recorded(answer=b'{"a": "\xff ' + s.encode() + b'"}'),
    "cut inside a character": lambda s: recorded(answer=b'{"a": "' + s.encode() + b" \xe2\x82"),
    "large body": lambda s: recorded(answer=json.dumps({"a": "x " * 50_000 + s + " y" * 50_000}).encode()),
    **{
        f"{what} of {name}": lambda s, name=name, turn=turn, cut=cut: recorded(answer=on_wire(name, turn(s), cut=cut))
        for name in FORMATS
        for what, turn, cut in (
            ("text", lambda s: Turn(f"It is {s} indeed."), False),
            ("thinking", lambda s: Turn("x", f"It is {s} indeed."), False),
            ("cut text", lambda s: Turn(f"{s}{s}"), True),
            ("cut thinking", lambda s: Turn("x", f"Oh {s}."), True),
            ("arguments", lambda s: Turn(calls=(Call("t", {"a": [f'x "{s}"']}),)), False),
            ("cut arguments", lambda s: Turn(calls=(Call("t", {"a": s, "b": "c" * 9}),)), True),
        )
    },
}
"""By the place of the secret: an exchange that has it there, and that is clean after scrubbing."""

REFUSED: dict[str, Callable[[str], Recorded]] = {
    "base64": lambda s: recorded(body=json.dumps({"data": base64.b64encode(f"it is {s}!".encode()).decode()}).encode()),
    "base64url in text": lambda s: recorded(answer=b"see " + base64.urlsafe_b64encode(f"{s} is it".encode())),
    "hexadecimal": lambda s: recorded(answer=json.dumps({"a": s.encode().hex()}).encode()),
    "percent-encoded three times": lambda s: recorded(url=URL + "/" + "".join(f"%2525{b:02X}" for b in s.encode())),
    "letters of a page": lambda s: recorded(answer="".join(f"&#{b};" for b in s.encode()).encode()),
    "letters of a page in hexadecimal": lambda s: recorded(
        body=json.dumps({"a": "".join(f"&#x{b:x};" for b in s.encode())}).encode()
    ),
    "compressed": lambda s: recorded(answer=gzip.compress(f"{WORDS}{s}{WORDS}".encode())),
    "compressed by zstd": lambda s: recorded(answer=zstd.compress(f"{WORDS}{s}{WORDS}".encode())),
    "wide letters": lambda s: recorded(answer=json.dumps({"a": s}).encode("utf-16-le")),
    "host": lambda s: recorded(url=f"https://{s}.example.com/v1"),
    "method": lambda s: Recorded(s, URL, (CARRIED,), b"", 200, "OK", (), ()),
    "two frames that interleave": lambda s: recorded(
        answer=b"".join(
            b"data: " + json.dumps({"index": k, "delta": {"text": part}}).encode() + b"\n\n"
            for k, part in ((0, s[:8]), (1, "other "), (0, s[8:]), (1, "words"))
        )
    ),
}
"""The same, of exchanges that can't be scrubbed of it: the search names the leak."""


def seen(exchange: Recorded) -> Iterator[bytes]:
    """Read an exchange as somebody would who looks for the secret with simple means."""
    heads = [*exchange.request_headers, *exchange.headers]
    texts = [exchange.method, exchange.url, exchange.reason, *(text for head in heads for text in head)]
    for data in (*(text.encode() for text in texts), exchange.request_body, exchange.body):
        yield data
        yield unquote_to_bytes(data)
        for _ in range(4):
            data = re.sub(rb"\\u00([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), data)  # noqa: PLW2901
            data = re.sub(rb'\\(["\\/])', rb"\1", data)  # noqa: PLW2901
            yield data
        strings = re.findall(
            rb'"(?:text|thinking|delta|partial_json|arguments|content|reasoning_content)": ?"([^"]*)"', data
        )
        yield b"".join(strings)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("place", GONE)
def test_a_planted_secret_is_gone(place, secret):
    """After scrubbing nobody finds it, the search has nothing to say, and scrubbing again changes nothing."""
    exchange, scrubber = GONE[place](secret), Scrubber(ENVIRON)
    scrubbed = scrubber.scrub(exchange)
    assert not any(secret.encode() in data for data in seen(scrubbed))
    assert leaks(scrubbed, scrubber.secrets(exchange)) == ()
    assert scrubber.scrub(scrubbed) == scrubbed


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("place", GONE)
def test_a_planted_secret_is_seen(place, secret):
    """Before scrubbing the search names it: no canary is planted in vain."""
    exchange = GONE[place](secret)
    assert leaks(exchange, Scrubber(ENVIRON).secrets(exchange))


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("place", REFUSED)
def test_a_hidden_secret_is_named(place, secret):
    """What scrubbing does not reach is named by its kind and place, and never by its value."""
    exchange, scrubber = REFUSED[place](secret), Scrubber(ENVIRON)
    scrubbed, secrets = scrubber.scrub(exchange), scrubber.secrets(exchange)
    found = leaks(scrubbed, secrets)
    assert found or not any(secret.encode() in data for data in seen(scrubbed))
    assert found
    assert secret not in f"{found} {[str(leak) for leak in found]} {secrets!r} {scrubber!r}"


SHAPED = {
    "private key": PEM,
    "private key that is cut": PEM[:80],
    "JSON web token": JWT,
    "AWS key id": "AKIA" + "IOSFODNN7EXAMPLE",
    "Google key": "AIza" + "SyA1234567890abcdefghijklmnopqrstuvw",
    "GitHub token": "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "Slack token": "xoxb-" + "123456789012-abcdefGHIJKL",
    "OpenAI project key": "sk-" + "proj-abcDEF123_-abcDEF123_-abcDEF123",
    "old OpenAI key": "sk-" + "abcdefghijklmnopqrstT3BlbkFJabcdefghijklmnop",
    "Hugging Face token": "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "organization": "org-" + "abc123DEF456ghi789JKL012",
    "request id": "req_" + "011CabcDEF123456789xyzABC",
}


@pytest.mark.parametrize("secret", SHAPED.values(), ids=SHAPED)
@pytest.mark.parametrize(
    "place",
    [
        "JSON value",
        "JSON in a string",
        "plain text",
        "event stream",
        "two frames",
        "many frames",
        "text of gemini-generate",
    ],
)
def test_what_looks_like_a_secret_is_gone(place, secret):
    """Known shapes need no environment and no header."""
    exchange, scrubber = GONE[place](secret), Scrubber({})
    scrubbed = scrubber.scrub(exchange)
    told = "".join(secret.split("\n")[1:2]) or secret
    assert not any(told.encode() in data for data in seen(scrubbed))
    assert leaks(scrubbed, scrubber.secrets(exchange)) == ()
    assert scrubber.scrub(scrubbed) == scrubbed


FIELDS = {
    "api_key": "credential",
    "apiKey": "credential",
    "PASSWORD": "credential",
    "client_secret": "credential",
    "organization_id": "organization",
    "org_id": "organization",
    "request_id": "request",
    "user_id": "user",
    "account_uuid": "account",
    "authorization_token": "credential",
}


@pytest.mark.parametrize(("field", "kind"), FIELDS.items())
def test_a_field_is_secret_by_its_name(field, kind):
    """Whatever stands there, a text is replaced, a number is made 0, and other types stay."""
    body = {"metadata": {field: 'a\\b"c', "n": {field: 17}, "m": [{field: None}, {field: True}, {field: {"x": "y"}}]}}
    scrubbed = json.loads(Scrubber({}).scrub(recorded(body=json.dumps(body).encode())).request_body)
    placeholder = f"SCRUBBED-{kind}-1"
    assert scrubbed == {"metadata": {field: placeholder, "n": {field: 0}, "m": body["metadata"]["m"]}}


def test_ids_of_the_application_stay():
    """A tool's arguments may name a user of the application: replaying needs them, and they are nobody's secret."""
    arguments = {"user_id": "42", "organization": "ACME", "request_id": "7"}
    body = {
        "messages": [{"content": [{"type": "tool_use", "input": arguments}]}],
        "tools": [{"arguments": json.dumps(arguments)}],
    }
    exchange = recorded(body=json.dumps(body).encode())
    assert Scrubber({}).scrub(exchange).request_body == exchange.request_body


def test_a_password_in_arguments_goes():
    """A credential is one wherever it stands, also in JSON that is a string."""
    body = {"input": {"password": "tiny"}, "arguments": json.dumps({"api_key": 'ti"ny', "a": 1})}
    scrubbed = json.loads(Scrubber({}).scrub(recorded(body=json.dumps(body).encode())).request_body)
    assert scrubbed["input"] == {"password": "SCRUBBED-credential-1"}
    assert json.loads(scrubbed["arguments"]) == {"api_key": "SCRUBBED-credential-2", "a": 1}
