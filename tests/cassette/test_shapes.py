"""The shapes of secrets: keys by their issuers' prefixes, what signs a URL, values by the names before them."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from pytest_agentcontract.cassette.exchange import Recorded
from pytest_agentcontract.cassette.scrubbing.residual import leaks
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from tests.cassette.test_canaries import JSON_TYPE, URL, recorded, seen, streamed

HEX = "3f9a" * 16
MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ" * 4
ISSUED = {
    "OpenAI project key": "sk-" + "proj-" + MIXED,
    "OpenAI service key": "sk-" + "svcacct-" + MIXED,
    "OpenAI admin key": "sk-" + "admin-" + MIXED,
    "Anthropic key": "sk-" + "ant-api03-" + MIXED,
    "Anthropic access token": "sk-" + "ant-oat01-" + MIXED,
    "Anthropic admin key": "sk-" + "ant-admin01-" + MIXED,
    "OpenRouter key": "sk-" + "or-v1-" + HEX,
    "Google API key": "AIza" + "Sy" + MIXED[:33],
    "Google access token": "ya29" + ".a0" + MIXED,
    "Google client secret": "GOCSPX" + "-" + MIXED[:28],
    "xAI key": "xai" + "-" + MIXED[:80],
    "Groq key": "gsk" + "_" + MIXED[:52],
    "Perplexity key": "pplx" + "-" + MIXED[:48],
    "NVIDIA key": "nvapi" + "-" + MIXED[:64],
    "Together key": "tgp" + "_v1_" + MIXED[:43],
    "LangSmith key": "lsv2" + "_pt_" + HEX[:32] + "_" + HEX[:10],
    "GitHub token": "ghp" + "_" + MIXED[:36],
    "GitHub fine-grained token": "github" + "_pat_" + MIXED[:82],
    "GitLab token": "glpat" + "-" + MIXED[:20],
    "GitLab runner token": "glrt" + "-" + MIXED[:20],
    "Slack token": "xoxb" + "-123456789012-" + MIXED[:24],
    "Slack browser token": "xoxc" + "-123456789012-" + MIXED[:24],
    "Stripe key": "sk" + "_live_" + MIXED[:24],
    "Stripe restricted key": "rk" + "_live_" + MIXED[:24],
    "signing secret of a webhook": "whsec" + "_" + MIXED[:32],
    "npm token": "npm" + "_" + MIXED[:36],
    "PyPI token": "pypi" + "-AgEIcHlwaS5vcmc" + MIXED,
    "Twilio key": "SK" + HEX[:32],
    "DigitalOcean token": "dop" + "_v1_" + HEX,
    "Databricks token": "dapi" + HEX[:32],
    "AWS key id": "AKIA" + "Q3EGRIT7WXYZ2345",
    "AWS key id of a session": "ASIA" + "Q3EGRIT7WXYZ2345",
}
SHORT = {
    "Hugging Face token": "hf" + "_" + MIXED[:34],
    "Replicate token": "r8" + "_" + MIXED[:37],
    "SendGrid key": "SG" + "." + MIXED[:22] + "." + MIXED[:43],
    "Fireworks key": "fw" + "_" + MIXED[:24],
    "Cerebras key": "csk" + "-" + MIXED[:48],
    "Vault token": "hvs" + "." + MIXED[:90],
    "Azure OpenAI key": MIXED[:52] + "JQQJ99" + MIXED[:26],
    "Azure client secret": "aB3" + "8Q~" + MIXED[:34],
}
"""Keys that begin as random letters may: of these, none is seen behind `_` or `-`."""
BORDERS = {
    "a space": "use {} now",
    "an equals sign": "x={}",
    "a slash": "/{}/2026/x",
    "a plus sign": "a+{}",
    "a colon": "k:{}",
    "a backtick": "`{}`",
    "an entity": "&amp;{}",
    "a colour": "\x1b[32m{}\x1b[0m",
    "an encoded equals sign": "q%3D{}%26",
    "an equals sign encoded twice": "q%253D{}%2526",
    "the equals sign of a mail": "q=3D{}",
}
DASHES = {"an underscore": "a_{}", "a dash": "a-{}"}


PLANTED = {
    f"{name} behind {border}": text.format(secret)
    for keys, borders in ((ISSUED, BORDERS | DASHES), (SHORT, BORDERS))
    for name, secret in keys.items()
    for border, text in borders.items()
}


@pytest.mark.parametrize(("name", "text"), PLANTED.items(), ids=PLANTED)
def test_a_key_is_known_whatever_stands_before_it(name, text):
    """In a prompt, in JSON that is a string, in plain text: it is gone, and was named before."""
    secret = {**ISSUED, **SHORT}[name.partition(" behind ")[0]]
    for body in (json.dumps({"content": text}), json.dumps({"x": json.dumps({"content": text})}), text):
        assert_gone(recorded(body=body.encode()), secret[-20:])


S3 = "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="
SIGNED = {
    "X-Amz-Credential": (S3 + "{}%2F20260101%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Expires=60", ISSUED["AWS key id"]),
    "X-Amz-Security-Token": (S3 + "x&X-Amz-Security-Token={}%2F%2B%3D&a=b", "IQoJb3JpZ2luX2VjE" + MIXED),
    "X-Amz-Signature": (S3 + "x&X-Amz-Signature={}", HEX),
    "X-Goog-Credential": ("https://h.example/k?X-Goog-Credential={}%2F2026&a=b", "robot7%40p.iam.gserviceaccount.com"),
    "X-Goog-Signature": ("https://h.example/k?a=b&X-Goog-Signature={}", HEX),
    "sig": ("https://h.example/k?sv=2024-01-01&sp=r&sig={}%3D&a=b", MIXED[:43]),
    "Signature": ("https://h.example/k?Expires=1&Signature={}&Key-Pair-Id=K1", MIXED[:43]),
}
STANDING = {
    "plainly": lambda url: url,
    "in a link": lambda url: f"see [it]({url}).",
    "in a page": lambda url: url.replace("&", "&amp;"),
    "escaped": lambda url: json.dumps(url).replace("&", "\\u0026"),
    "in a URL": lambda url: f"https://h.example/?to={quote(url, safe='')}",
    "in a URL in a URL": lambda url: f"https://h.example/?to={quote(quote(url, safe=''), safe='')}",
}


@pytest.mark.parametrize("standing", STANDING.values(), ids=STANDING)
@pytest.mark.parametrize("name", SIGNED)
def test_what_signs_a_url_is_gone(name, standing):
    """In the exchange's own URL, in a prompt and in a stream; what stands beside it stays."""
    url, secret = SIGNED[name]
    text = standing(url.format(secret))
    told = secret.partition("%")[0]
    for body in (json.dumps({"content": text}), json.dumps({"x": json.dumps({"content": text})}), text):
        assert_gone(recorded(body=body.encode()), told)
    assert_gone(recorded(answer=streamed(text)), told)
    assert_gone(recorded(url=url.format(secret)), told)
    assert "h.example" in text or b"amazonaws" in Scrubber({}).scrub(recorded(body=text.encode())).request_body


@pytest.mark.parametrize(
    "text",
    [
        "MISTRAL_API_KEY={}",
        'export MISTRAL_API_KEY="{}"',
        "MISTRAL_API_KEY: {}",
        'MISTRAL_API_KEY = "{}"',
        '{{"MISTRAL_API_KEY": "{}"}}',
        '{{"mistralApiKey":"{}"}}',
        'Mistral(api_key="{}")',
        "api_key: {}",
        "client --api-key {} --verbose",
        "X-Auth-Token: {}",
        "x-amz-security-token: {}",
        "AccountKey={}JK9mN1pQ3s==;Endpoint",
        "https://hooks.slack.com/services/T0123ABCD/B0123ABCD/{}",
        "AWS4-HMAC-SHA256 Credential=x/2026, SignedHeaders=h, Signature={}",
    ],
)
def test_a_key_without_a_prefix_is_known_by_the_name_before_it(text):
    """As it stands in files of settings, in code, on command lines and in headers."""
    text = text.format(MIXED[:32])
    for body in (json.dumps({"content": text}), json.dumps({"x": json.dumps({"content": text})}), text):
        assert_gone(recorded(body=body.encode()), MIXED[:30])


@pytest.mark.parametrize(
    "text",
    [
        "see api_key=os.environ['API_KEY_1234567890']",
        "API_KEY = settings.providers.mistral_v1_key",
        "TOKEN = create_token_v2_for_user(name)",
        'password: must have at least 16 characters, and {"password": {"type": "string"}}',
        "secret: /run/secrets/api_key_1234567890",
        "max_tokens: 1234567890123456, token_count=12345678901234567",
        "SKU0123456789, ACCOUNT, AKIAN, dapi_client_for_databricks_1, the hf_hub_download_v2_of_everything_",
        "task_live_1234567890123456 and disk_test_1234567890123456",
        "Signature=none, signature=unknown&x=1, X-Amz-Date=20260101T000000Z, X-Amz-Algorithm=AWS4-HMAC-SHA256",
        "for (;;key=nextKeyOf(node)) {};token=getTokenOf(node);",
    ],
)
def test_what_is_named_like_a_key_and_is_none_stays(text):
    """Calls, paths, attributes, counts and words."""
    for body in (json.dumps({"content": text}).encode(), text.encode()):
        exchange = Recorded("POST", URL, (JSON_TYPE,), body, 200, "OK", (), ())
        assert Scrubber({}).scrub(exchange) == exchange
        assert leaks(exchange, Scrubber({}).secrets(exchange)) == ()


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("DB_PASSWORD", "hunt3r", True),
        ("DB_PASSWD", "pa$$wd", True),
        ("MY_SECRET", "s3cr3t", True),
        ("MY_TOKEN", "a1b2c3d", True),
        ("MY_TOKEN", "a1b2c", False),
        ("MY_API_KEY", "a1b2c3d", False),
        ("MY_API_KEY", "a1b2c3d4", True),
        ("DB_PASSWORD", "secret", False),
        ("MAX_OUTPUT_TOKENS", "128000", False),
        ("MY_TOKEN", "128000", False),
        ("TOKENIZER", "gpt-4o", False),
    ],
)
def test_how_short_a_value_of_the_environment_may_be(name, value, found):
    """From 8 characters on; from 6 where the name ends as a password's does, and the value is no word and no number."""
    exchange = recorded(body=json.dumps({"text": f"it is {value}."}).encode())
    assert (value.encode() not in Scrubber({name: value}).scrub(exchange).request_body) == found


def assert_gone(exchange: Recorded, told: str) -> None:
    """Assert that nobody finds a secret after scrubbing, and that it was named before."""
    scrubber = Scrubber({})
    scrubbed, secrets = scrubber.scrub(exchange), scrubber.secrets(exchange)
    assert leaks(exchange, secrets)
    assert not any(told.encode() in data for data in seen(scrubbed))
    assert leaks(scrubbed, secrets) == ()
    assert scrubber.scrub(scrubbed) == scrubbed
