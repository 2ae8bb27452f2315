"""The official SDKs against one script: whole and streamed, sync and async, faults as their own typed errors."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from importlib import import_module
from typing import Any

import anthropic
import openai
import pytest

from pytest_agentcontract.scripted import call, content_type, cut, delivered, error, gate, reply, silence, status, turn
from pytest_agentcontract.scripted.provider import ScriptedProvider

USER: Any = [{"role": "user", "content": "Hi"}]
CLAUDE: Any = {"model": "m", "max_tokens": 99, "messages": USER}
GPT: Any = {"model": "m", "messages": USER}
TOOL: Any = {"name": "search", "input_schema": {"type": "object"}}
FUNCTION: Any = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
HTTP_CLIENT = next(base for base in anthropic.DefaultHttpxClient.__mro__ if base.__module__.startswith("httpx"))
BROKEN: type[Exception] = import_module(HTTP_CLIENT.__module__.partition(".")[0]).TransportError
"""What the SDK lets through when a stream breaks: the error of the HTTP client that it is built on."""
LONG = "one two three four five six seven eight"


def test_two_sdks_play_one_script(
    scripted_provider: ScriptedProvider, claude: anthropic.Anthropic, gpt: openai.OpenAI
) -> None:
    """Every wire format is spoken behind the one URL, and the script goes on across them."""
    scripted_provider.play(turn("one", call("search", q="x"), thinking="hm"), turn("two", call("search", q="y")))
    message = claude.messages.create(**CLAUDE, tools=[TOOL])
    completion = gpt.chat.completions.create(**GPT, tools=[FUNCTION])
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert message.stop_reason == "tool_use"
    assert completion.choices[0].message.content == "two"
    assert completion.choices[0].message.tool_calls[0].function.arguments == '{"q": "y"}'
    assert [asked.wire for asked in scripted_provider.requests] == ["anthropic-messages", "openai-chat"]


def test_the_responses_api_and_the_environment(
    scripted_provider: ScriptedProvider, guests: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients that read their settings from the environment need nothing else."""
    for name, value in scripted_provider.env.items():
        monkeypatch.setenv(name, value)
    scripted_provider.play(turn("one"), turn("two"), turn("three"))
    gpt, claude = guests.enter_context(openai.OpenAI()), guests.enter_context(anthropic.Anthropic())
    assert gpt.responses.create(model="m", input="Hi").output_text == "one"
    assert gpt.chat.completions.create(**GPT).choices[0].message.content == "two"
    assert claude.messages.create(**CLAUDE).content[0].text == "three"


def test_googles_client_takes_part(
    scripted_provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch, guests: ExitStack
) -> None:
    """Whole and streamed, with its settings from the environment."""
    genai = pytest.importorskip("google.genai")
    for name, value in scripted_provider.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    scripted_provider.play(turn("one"), turn(LONG))
    gemini = guests.enter_context(genai.Client())
    assert gemini.models.generate_content(model="gemini-pro", contents="Hi").text == "one"
    pieces = [piece.text or "" for piece in gemini.models.generate_content_stream(model="gemini-pro", contents="Hi")]
    assert "".join(pieces) == LONG
    assert [asked.model for asked in scripted_provider.requests] == ["gemini-pro", "gemini-pro"]


def test_streaming_helpers(
    scripted_provider: ScriptedProvider, claude: anthropic.Anthropic, gpt: openai.OpenAI
) -> None:
    """They put the pieces together; `deltas` says how many pieces a text has."""
    scripted_provider.play(turn(LONG, deltas=4), turn(LONG, deltas=2), turn("", call("search", q="x")))
    with claude.messages.stream(**CLAUDE) as stream:
        pieces = list(stream.text_stream)
    assert (len(pieces), "".join(pieces)) == (4, LONG)
    with gpt.chat.completions.stream(**GPT) as events:
        pieces = [event.delta for event in events if event.type == "content.delta" and event.delta]
    assert (len(pieces), "".join(pieces)) == (2, LONG)
    with claude.messages.stream(**CLAUDE, tools=[TOOL]) as stream:
        assert stream.get_final_message().content[-1].input == {"q": "x"}


def test_async_clients(scripted_provider: ScriptedProvider) -> None:
    """The provider has a thread of its own: an event loop of the test's is not in its way."""
    scripted_provider.play(turn("one"), turn(LONG), reply({"done": True}))

    async def talk() -> tuple[str | None, str, Any]:
        async with (
            openai.AsyncOpenAI(base_url=scripted_provider.openai_url, api_key="k") as gpt,
            anthropic.AsyncAnthropic(base_url=scripted_provider.url, api_key="k") as claude,
        ):
            first = (await gpt.chat.completions.create(**GPT)).choices[0].message.content
            async with claude.messages.stream(**CLAUDE) as stream:
                second = await stream.get_final_text()
            third = await claude.messages.create(**CLAUDE, tools=[{**TOOL, "name": "reply"}])
            return first, second, third.content[0]

    first, second, third = asyncio.run(talk())
    assert (first, second, third.input) == ("one", LONG, {"value": {"done": True}})


@pytest.mark.parametrize(
    ("code", "claudes", "gpts"),
    [
        (400, anthropic.BadRequestError, openai.BadRequestError),
        (401, anthropic.AuthenticationError, openai.AuthenticationError),
        (403, anthropic.PermissionDeniedError, openai.PermissionDeniedError),
        (404, anthropic.NotFoundError, openai.NotFoundError),
        (429, anthropic.RateLimitError, openai.RateLimitError),
        (500, anthropic.InternalServerError, openai.InternalServerError),
        (529, anthropic.InternalServerError, openai.InternalServerError),
    ],
)
def test_an_error_status_is_the_sdks_own_error(
    scripted_provider: ScriptedProvider,
    claude: anthropic.Anthropic,
    gpt: openai.OpenAI,
    code: int,
    claudes: type[Exception],
    gpts: type[Exception],
) -> None:
    """With message and headers as scripted."""
    scripted_provider.play(turn(fault=status(code, "so sorry", retry_after=3)), turn(fault=status(code, "so sorry")))
    with pytest.raises(claudes, match="so sorry") as caught:
        claude.messages.create(**CLAUDE)
    assert caught.value.response.headers["retry-after"] == "3"  # type: ignore[attr-defined] - an APIStatusError
    with pytest.raises(gpts, match="so sorry"):
        gpt.chat.completions.create(**GPT)


def test_an_overloaded_provider_is_asked_again_and_answers(scripted_provider: ScriptedProvider) -> None:
    """The SDK's own retry gets the turn; the script goes on after it."""
    scripted_provider.play(turn("one", fault=status(529, retry_after=0.01)), turn("two"))
    with anthropic.Anthropic(base_url=scripted_provider.url, api_key="k", max_retries=1) as claude:
        assert [claude.messages.create(**CLAUDE).content[0].text for _ in range(2)] == ["one", "two"]
    assert [asked.kind for asked in scripted_provider.requests] == ["fault", "turn", "turn"]


@pytest.mark.parametrize("ending", ["fin", "rst"])
def test_a_retry_after_a_cut_gets_the_same_turn(scripted_provider: ScriptedProvider, ending: Any) -> None:
    """Neither is a turn lost to the retry, nor is the retry a violation."""
    scripted_provider.play(turn("one", fault=cut(ending=ending)), turn("two"))
    with openai.OpenAI(base_url=scripted_provider.openai_url, api_key="k", max_retries=1) as gpt:
        assert [gpt.chat.completions.create(**GPT).choices[0].message.content for _ in range(2)] == ["one", "two"]


def test_a_broken_stream_is_a_connection_error(scripted_provider: ScriptedProvider, gpt: openai.OpenAI) -> None:
    """OpenAI's client says so itself; `final` says that nobody is to ask again."""
    scripted_provider.play(turn(LONG, fault=cut(3, "rst"), final=True))
    with pytest.raises(openai.APIConnectionError), gpt.chat.completions.stream(**GPT) as events:
        list(events)


def test_a_stream_that_is_cut_is_asked_for_again(
    scripted_provider: ScriptedProvider, claude: anthropic.Anthropic
) -> None:
    """The SDK leaves a broken stream to its caller; who asks again gets the same turn, and the rest after it."""
    scripted_provider.play(turn(LONG, fault=cut(3, "rst")), turn("two"))
    got: list[str] = []
    with pytest.raises(BROKEN), claude.messages.stream(**CLAUDE) as stream:
        got.extend(stream.text_stream)
    assert LONG.startswith("".join(got))
    assert 0 < len(got) < 8
    for whole in (LONG, "two"):
        with claude.messages.stream(**CLAUDE) as stream:
            assert stream.get_final_text() == whole


def test_an_error_in_the_stream_is_the_sdks_own_error(
    scripted_provider: ScriptedProvider, claude: anthropic.Anthropic, gpt: openai.OpenAI
) -> None:
    """A `final` fault is all that comes of its turn."""
    scripted_provider.play(
        turn(LONG, fault=error(2, 529, "overloaded"), final=True), turn(LONG, fault=error(2, 500, "broken"), final=True)
    )
    with pytest.raises(anthropic.APIStatusError, match="overloaded"), claude.messages.stream(**CLAUDE) as stream:
        stream.get_final_text()
    with pytest.raises(openai.APIError, match="broken"), gpt.chat.completions.stream(**GPT) as events:
        list(events)


def test_silence_is_the_sdks_timeout(scripted_provider: ScriptedProvider) -> None:
    """The line stays open, and nothing comes."""
    scripted_provider.play(turn(fault=silence()), turn(fault=silence()))
    with (
        anthropic.Anthropic(base_url=scripted_provider.url, api_key="k", max_retries=0, timeout=0.2) as claude,
        pytest.raises(anthropic.APITimeoutError),
    ):
        claude.messages.create(**CLAUDE)
    with (
        openai.OpenAI(base_url=scripted_provider.openai_url, api_key="k", max_retries=0, timeout=0.2) as gpt,
        pytest.raises(openai.APITimeoutError),
    ):
        gpt.chat.completions.create(**GPT)


def test_a_wrong_content_type_is_sent_as_it_is(scripted_provider: ScriptedProvider, gpt: openai.OpenAI) -> None:
    """What a client makes of a page in the place of a document is its own affair."""
    scripted_provider.play(turn("one", fault=content_type("text/html"), final=True))
    raw = gpt.chat.completions.with_raw_response.create(**GPT)
    assert raw.headers["content-type"] == "text/html"


def test_a_gate_opens_when_the_test_says_so(scripted_provider: ScriptedProvider, claude: anthropic.Anthropic) -> None:
    """What came before it can be looked at, as long as it stays shut."""
    scripted_provider.play(turn(LONG, hold=gate("go", after=2)))
    with claude.messages.stream(**CLAUDE) as stream:
        texts = iter(stream.text_stream)
        begun = [next(texts), next(texts)]
        assert not scripted_provider.requests[0].delivered
        scripted_provider.release("go")
        assert "".join([*begun, *texts]) == LONG


def test_a_turn_waits_for_another_agents(scripted_provider: ScriptedProvider, gpt: openai.OpenAI) -> None:
    """The order in which parallel agents are answered can be fixed."""
    scripted_provider.play(root=[turn("late", hold=delivered("helper", 1))], helper=[turn("early")], by="model")
    answers: dict[str, str | None] = {}

    def ask(model: str) -> None:
        answers[model] = gpt.chat.completions.create(model=model, messages=USER).choices[0].message.content

    root = threading.Thread(target=ask, args=("root",))
    root.start()
    while not scripted_provider.requests:
        root.join(0.01)
    assert (scripted_provider.requests[0].delivered, answers) == (False, {})
    ask("helper")
    root.join()
    assert answers == {"root": "late", "helper": "early"}


@pytest.mark.parametrize(
    ("by", "marked"),
    [
        ("model", lambda agent: {"model": agent}),
        ("header", lambda agent: {"extra_headers": {"x-agent": agent}}),
        ("system", lambda agent: {"messages": [{"role": "system", "content": f"You are [[{agent}]]."}, *USER]}),
        ("token", lambda agent: {"messages": [{"role": "user", "content": f"Hi [[{agent}]]"}]}),
    ],
)
def test_agents_are_told_apart(
    scripted_provider: ScriptedProvider, by: Any, marked: Callable[[str], dict[str, Any]]
) -> None:
    """Each gets its own script, whatever the others do meanwhile."""
    scripted_provider.play(
        root=[turn("r1"), turn("r2"), turn("r3")], helper=[turn("h1"), turn("h2"), turn("h3")], by=by
    )

    async def talk() -> list[list[str]]:
        async with openai.AsyncOpenAI(base_url=scripted_provider.openai_url, api_key="k") as gpt:

            async def agent(name: str) -> list[str]:
                answers = [await gpt.chat.completions.create(**{**GPT, **marked(name)}) for _ in range(3)]
                return [answer.choices[0].message.content or "" for answer in answers]

            asked: list[Awaitable[list[str]]] = [agent("root"), agent("helper")]
            return await asyncio.gather(*asked)

    assert asyncio.run(talk()) == [["r1", "r2", "r3"], ["h1", "h2", "h3"]]
