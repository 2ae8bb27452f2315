"""Cassettes that others recorded say by their URLs alone who was asked."""

from __future__ import annotations

import pytest

from pytest_agentcontract.cassette.exchange import Cassette, Origin, Recorded
from pytest_agentcontract.cassette.served import upstreams_of, wire_of_url
from pytest_agentcontract.cassette.upstreams import UPSTREAMS, upstream_url


def recorded(*urls: str, method: str = "POST") -> Cassette:
    """Return a cassette without an origin, in which these URLs were asked."""
    return Cassette(tuple(Recorded(method, url, (), b"{}", 200, "OK", (), ()) for url in urls))


@pytest.mark.parametrize(
    ("url", "wire"),
    [
        ("https://api.anthropic.com/v1/messages?beta=true", "anthropic-messages"),
        ("http://127.0.0.1:8000/a/b/v1/messages", "anthropic-messages"),
        ("https://openrouter.example/api/v1/chat/completions", "openai-chat"),
        ("https://api.openai.com/v1/responses", "openai-responses"),
        ("https://g.example/v1beta/models/gemini-pro:streamGenerateContent?alt=sse", "gemini-generate"),
        ("https://g.example/v1/projects/p/publishers/google/models/m:generateContent", "gemini-generate"),
        ("https://api.anthropic.com/v1/messages/count_tokens", ""),
        ("https://api.openai.com/v1/models", ""),
        ("https://api.openai.com", ""),
    ],
)
def test_the_wire_format_of_a_url(url: str, wire: str) -> None:
    """Whatever stands before the path that the format owns."""
    assert wire_of_url("POST", url) == wire
    assert wire_of_url("GET", url) == ""


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://api.anthropic.com/v1/messages", "/anthropic/v1/messages"),
        ("https://gateway.example/claude/v1/messages", "/anthropic/v1/messages"),
        ("https://api.openai.com/v1/chat/completions", "/openai/v1/chat/completions"),
        ("http://127.0.0.1:9/api/v2/chat/completions", "/openai/v1/chat/completions"),
        ("https://gateway.example/v1/responses", "/openai/v1/responses"),
        ("https://gateway.example/g/v1beta/models/m:generateContent", "/gemini/v1beta/models/m:generateContent"),
    ],
)
def test_a_client_reaches_what_was_recorded(url: str, path: str) -> None:
    """The path that it asks stands for the recorded URL; the other providers are where they always are."""
    upstreams = upstreams_of(recorded(url))
    assert upstream_url(upstreams, path) == url
    assert upstreams.keys() == UPSTREAMS.keys()


def test_an_origin_is_believed() -> None:
    """Nothing is derived where it stands."""
    origin = Origin(upstreams={"openai": "https://gateway.example"})
    asked = recorded("https://api.anthropic.com/v1/messages")
    assert upstreams_of(Cassette(asked.exchanges, origin)) == origin.upstreams


def test_one_provider_at_two_servers() -> None:
    """Its own server keeps the name, else the first; the others go by their hosts."""
    own, other = "https://api.openai.com/v1/responses", "https://gateway.example/api/v1/chat/completions"
    upstreams = upstreams_of(recorded(other, own, other))
    assert upstream_url(upstreams, "/openai/v1/responses") == own
    assert upstream_url(upstreams, "/gateway.example/chat/completions") == other
    upstreams = upstreams_of(recorded(other, "http://h:8/v1/responses"))
    assert upstream_url(upstreams, "/openai/v1/chat/completions") == other
    assert upstream_url(upstreams, "/h:8/responses") == "http://h:8/v1/responses"


def test_other_requests_say_nothing() -> None:
    """The providers are where they always are."""
    assert upstreams_of(recorded("https://example.org/v1/files", "https://example.org/")) == UPSTREAMS
    assert upstreams_of(recorded("https://o.example/v1/messages", method="GET")) == UPSTREAMS
