"""What the provider does wrong: passing faults are retried, lasting ones fail the run, no fragment is an answer."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.reference import cli
from pytest_agentcontract.reference.rules import PATIENCE


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_passing_error_status_is_retried(bench, model, status):
    """Twice at most; the run then succeeds."""
    model.status(status)
    model.status(status)
    model.reply("x")
    assert bench.run().document["result"] == "x"
    assert model.requests[0] == model.requests[2]


@pytest.mark.parametrize("end", ["fin", "rst"])
def test_a_lost_connection_is_retried(bench, model, end):
    """Before the first byte and in the middle of a stream alike."""
    model.raw(b"", end=end)
    model.say("FRAGMENT", calls=[("reply", {"value": "FRAGMENT"})], cut=end)
    model.reply("x")
    assert bench.run().document["result"] == "x"


def test_a_stream_that_is_always_cut_fails_the_run(bench, model):
    """The fragment is in no later request and not in the result; what was reported of it is billed."""
    for _ in range(3):
        model.say("FRAGMENT", cut="fin")
    result = bench.run()
    assert (result.document["result"], result.document["reason"], result.exit_code) == ("", "provider_error", 1)
    assert "FRAGMENT" not in str(model.requests)
    assert result.document["usage"] == (
        {"input_tokens": 30, "output_tokens": 0} if model.wire.name == "messages" else None
    )


@pytest.mark.parametrize(
    ("status", "head", "attempts"), [(500, "", 3), (400, "", 1), (401, "", 1), (529, "x-should-retry: false\r\n", 1)]
)
def test_a_lasting_error_fails_the_run(bench, model, status, head, attempts):
    """What can't pass is not retried, nor what the provider asks not to; the detail says what it was."""
    for _ in range(3):
        model.status(status, head=head)
    document = bench.run().document
    assert (document["result"], document["subtype"]) == ("", "error_during_execution")
    assert document["detail"] == f"HTTP {status}: canned"
    assert len(model.requests) == attempts


@pytest.mark.parametrize(
    "response",
    [
        b"HTTP/1.1 200 OK\r\n\r\ndata: {not json\n\n",
        b'HTTP/1.1 200 OK\r\n\r\ndata: {"type": "error", "error": {"message": "no"}}\n\n',
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\ndata: {}\n\n",
        b"SSH-2.0 hello\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
    ],
    ids=["malformed-event", "error-event", "bad-chunk", "short-body", "no-http", "empty-stream"],
)
def test_a_malformed_response_is_a_fault(bench, model, response):
    """It is retried, and if it lasts the run fails; nothing of it is an answer."""
    for _ in range(3):
        model.raw(response)
    assert bench.run().document["reason"] == "provider_error"
    assert len(model.requests) == 3


def test_a_chunked_stream_is_read_whole(bench, model):
    """Chunks may end anywhere, also within an event or a character."""
    model.reply("größe 😀")
    response, _ = model.answers["root"].pop()
    body = response.partition(b"\r\n\r\n")[2]
    chunks = [body[at : at + 7] for at in range(0, len(body), 7)]
    framed = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    model.raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + framed)
    assert bench.run().document["result"] == "größe 😀"


def test_a_provider_that_falls_silent_is_given_up(bench, model):
    """The run fails within the limit that its environment names, and does not begin again."""
    model.say("FRAGMENT", cut="hold")
    start = bench.start()
    document = cli.run(dataclasses.replace(start, env={**start.env, PATIENCE: "0.2"})).document
    assert (document["result"], document["reason"], document["detail"]) == ("", "provider_error", "no answer in time")
    assert len(model.requests) == 1


def test_a_limit_that_is_no_number_is_a_usage_error(bench):
    """Nobody waits for ever because of a typing error."""
    start = bench.start()
    with pytest.raises(UsageError, match=PATIENCE):
        cli.run(dataclasses.replace(start, env={**start.env, PATIENCE: "soon"}))


def test_nobody_listening_is_a_provider_error(bench, model):
    """A refused connection is an honest failure."""
    model.port = 1
    assert bench.run().document["reason"] == "provider_error"


def test_a_start_without_a_provider_is_a_usage_error(bench):
    """The remedy names the variables."""
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        cli.run(dataclasses.replace(bench.start(), env={}))


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"$ref": "https://example.org/schema.json"}])
def test_a_schema_that_is_none_or_lies_elsewhere_is_a_usage_error(bench, schema):
    """It is refused before the model is asked."""
    with pytest.raises(UsageError, match="the requested schema"):
        bench.run(schema=schema)
