"""Client paths and upstream URLs."""

from __future__ import annotations

import pytest

from pytest_agentcontract.cassette.upstreams import (
    UPSTREAMS,
    client_path,
    environment,
    upstream_url,
    upstreams,
    wire_of,
)
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.wire.formats import FORMATS

GATEWAY = {
    "anthropic": "http://127.0.0.1:1/a",
    "openai": "https://gateway.example/api/v2",
    "other": "https://o.example",
}


@pytest.mark.parametrize(
    ("path", "query", "url"),
    [
        ("/anthropic/v1/messages", "", "https://api.anthropic.com/v1/messages"),
        ("/anthropic/v1/messages", "beta=true", "https://api.anthropic.com/v1/messages?beta=true"),
        ("/anthropic", "", "https://api.anthropic.com"),
        ("/anthropic/", "", "https://api.anthropic.com/"),
        ("/openai/v1/chat/completions", "", "https://api.openai.com/v1/chat/completions"),
        ("/openai/v1", "", "https://api.openai.com/v1"),
        ("/openai/v1beta/x", "", None),
        ("/openai/responses", "", None),
        ("/openai", "", None),
        ("/gemini/v1beta/models/m%2Fx:generateContent", "alt=sse", None),
        ("/nobody/v1", "", None),
        ("/", "", None),
        ("/anthropics/v1", "", None),
    ],
)
def test_a_path_stands_for_a_url_of_the_upstream(path: str, query: str, url: str | None) -> None:
    """The upstream's own path takes the place of what the client holds for a part of the address."""
    only = {name: UPSTREAMS[name] for name in ("anthropic", "openai")}
    assert upstream_url(only, path, query) == url


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/anthropic/v1/messages", "http://127.0.0.1:1/a/v1/messages"),
        ("/openai/v1/responses", "https://gateway.example/api/v2/responses"),
        ("/other/v1/models", "https://o.example/v1/models"),
    ],
)
def test_an_upstream_of_ones_own_has_its_own_path(path: str, url: str) -> None:
    """Gateways stand where the user says."""
    assert upstream_url(GATEWAY, path) == url


def test_escapes_and_the_query_go_on_as_they_came() -> None:
    """Nothing is decoded on the way."""
    url = upstream_url(UPSTREAMS, "/gemini/v1beta/models/m%2Fx:generateContent", "alt=sse&a=%20")
    assert url == "https://generativelanguage.googleapis.com/v1beta/models/m%2Fx:generateContent?alt=sse&a=%20"


def test_clients_are_pointed_below_the_base() -> None:
    """What each client is told leads back to its own upstream."""
    base = "http://127.0.0.1:9/case/1-x"
    told = environment(base)
    assert told == {
        "ANTHROPIC_BASE_URL": f"{base}/anthropic",
        "OPENAI_BASE_URL": f"{base}/openai/v1",
        "GOOGLE_GEMINI_BASE_URL": f"{base}/gemini",
    }
    found = [upstream_url(UPSTREAMS, url.removeprefix(base)) for url in told.values()]
    assert found == list(UPSTREAMS.values())


def test_what_is_given_goes_before_the_environment_and_that_before_the_default() -> None:
    """An empty variable says nothing; a slash at the end is not doubled, and the scheme is in lower case."""
    environ = {"OPENAI_BASE_URL": "HTTP://a.example/v1/", "ANTHROPIC_BASE_URL": "http://b.example", "X": "y"}
    environ["GOOGLE_GEMINI_BASE_URL"] = ""
    assert upstreams(environ, {"anthropic": "http://c.example", "mine": "http://d.example:81"}) == {
        "anthropic": "http://c.example",
        "openai": "http://a.example/v1",
        "gemini": UPSTREAMS["gemini"],
        "mine": "http://d.example:81",
    }


@pytest.mark.parametrize(
    "url",
    ["api.example", "ftp://a.example", "http://", "http://a.example:x", "http://a.example:0", "http://a.example?k=1",
     "http://[::1", "http://a.example#x", ""],
)  # fmt: skip
def test_what_is_no_base_url_is_refused(url: str) -> None:
    """The message names the provider."""
    with pytest.raises(UsageError, match="no base URL of a provider 'openai'"):
        upstreams({}, {"openai": url})


@pytest.mark.parametrize("name", ["", "a/b"])
def test_a_provider_needs_a_name_that_fits_into_a_path(name: str) -> None:
    """Without one its path could not be told."""
    with pytest.raises(UsageError, match="name without slash"):
        upstreams({}, {name: "http://a.example"})


def test_credentials_in_a_base_url_are_refused_and_not_repeated() -> None:
    """They would stand in every stored URL."""
    with pytest.raises(UsageError, match="holds a name or a password") as refused:
        upstreams({}, {"openai": "https://me:s3cret@a.example"})
    assert "s3cret" not in str(refused.value)


def test_errors_are_told_in_a_wire_format_that_the_client_reads() -> None:
    """Each name is one of a wire format, also for providers that are not known."""
    told = [wire_of(path) for path in ("/anthropic/v1", "/openai/v1", "/gemini", "/other/x", "/")]
    assert told == ["anthropic-messages", "openai-chat", "gemini-generate", "openai-chat", "openai-chat"]
    assert set(told) <= set(FORMATS)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://gateway.example/api/v2/files/1?a=b", "/openai/v1/files/1?a=b"),
        ("https://gateway.example/api/v2?a=b", "/openai/v1?a=b"),
        ("http://127.0.0.1:1/a", "/anthropic"),
        ("https://o.example/x", "/other/x"),
        ("https://o.example.org/x", None),
        ("https://gateway.example/api/v20", None),
        ("/relative", None),
    ],
)
def test_a_url_of_an_upstream_has_a_path(url: str, path: str | None) -> None:
    """It is the one that stands for it; what is nobody's has none."""
    assert client_path(GATEWAY, url) == path
    if path:
        assert upstream_url(GATEWAY, *path.split("?")) == url
