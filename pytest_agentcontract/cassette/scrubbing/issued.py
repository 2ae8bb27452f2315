"""The keys and tokens that begin as their issuer says: a table of prefixes, and of what follows them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pytest_agentcontract.cassette.scrubbing.shape import APART, BEHIND, Shape, shape


class _Issued(NamedTuple):
    name: str
    kind: str
    border: bytes
    prefixes: str
    body: bytes


_ANY: Final = b""
_NUMBERED: Final = rb"(?=[A-Za-z_-]*+[0-9])"
_TABLE: Final = (
    _Issued("Anthropic key", "key", _ANY, "sk-ant-", rb"[A-Za-z0-9_-]{8,}+"),
    _Issued(
        "OpenAI key",
        "key",
        _ANY,
        "sk-proj- sk-svcacct- sk-admin- sk-service- sk-None- sk-or- sk-lf-",
        rb"[A-Za-z0-9_-]{16,}+",
    ),
    _Issued("plain sk- key", "key", APART, "sk-", rb"(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{20,}+"),
    _Issued("OpenAI session", "key", APART, "sess-", rb"[A-Za-z0-9]{32,}+"),
    _Issued("Google API key", "key", BEHIND, "AIza", rb"[A-Za-z0-9_-]{35,}+"),
    _Issued("Google bound key", "key", APART, "AQ.", rb"[A-Za-z0-9_-]{30,}+"),
    _Issued("Google access token", "token", BEHIND, "ya29.", rb"[A-Za-z0-9._-]{20,}+"),
    _Issued("Google refresh token", "token", rb"(?<![A-Za-z0-9_/:-])", "1//0", rb"[A-Za-z0-9_-]{38,}+"),
    _Issued("Google client secret", "key", _ANY, "GOCSPX-", rb"[A-Za-z0-9_-]{20,}+"),
    _Issued("GitHub token", "token", BEHIND, "ghp_ gho_ ghu_ ghs_ ghr_", rb"[A-Za-z0-9]{30,}+"),
    _Issued("GitHub fine-grained token", "token", _ANY, "github_pat_", rb"[A-Za-z0-9_]{22,}+"),
    _Issued(
        "GitLab token",
        "token",
        BEHIND,
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent- gloas-",
        rb"[A-Za-z0-9_-]{20,}+",
    ),
    _Issued(
        "Slack token",
        "token",
        BEHIND,
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs-",
        rb"[A-Za-z0-9-]{10,}+",
    ),
    _Issued("Slack app token", "token", APART, "xapp-", rb"[A-Za-z0-9-]{10,}+"),
    _Issued("AWS key id", "key", BEHIND, "AKIA ASIA", rb"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _Issued("Hugging Face token", "token", APART, "hf_", rb"[A-Za-z0-9]{30,}+"),
    _Issued("Groq key", "key", BEHIND, "gsk_", rb"[A-Za-z0-9]{40,}+"),
    _Issued("xAI key", "key", BEHIND, "xai-", rb"[A-Za-z0-9]{40,}+"),
    _Issued("Perplexity key", "key", BEHIND, "pplx-", rb"[A-Za-z0-9]{32,}+"),
    _Issued("Replicate token", "token", APART, "r8_", rb"[A-Za-z0-9]{30,}+"),
    _Issued("Tavily key", "key", APART, "tvly-", rb"[A-Za-z0-9_-]{20,}+"),
    _Issued("LangSmith key", "key", BEHIND, "lsv2_pt_ lsv2_sk_", rb"[A-Za-z0-9_]{30,}+"),
    _Issued("NVIDIA key", "key", BEHIND, "nvapi-", rb"[A-Za-z0-9_-]{40,}+"),
    _Issued("Fireworks key", "key", APART, "fw_", _NUMBERED + rb"[A-Za-z0-9]{22,}+"),
    _Issued("Together key", "key", BEHIND, "tgp_v1_", rb"[A-Za-z0-9_-]{40,}+"),
    _Issued("Cerebras key", "key", APART, "csk-", rb"[A-Za-z0-9]{40,}+"),
    _Issued("Pinecone key", "key", BEHIND, "pcsk_", rb"[A-Za-z0-9_]{40,}+"),
    _Issued("Jina key", "key", BEHIND, "jina_", rb"[A-Za-z0-9_-]{50,}+"),
    _Issued("E2B key", "key", BEHIND, "e2b_", rb"[0-9a-f]{40}"),
    _Issued(
        "Stripe key",
        "key",
        BEHIND,
        "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_",
        rb"[A-Za-z0-9]{16,}+",
    ),
    _Issued("signing secret of a webhook", "key", BEHIND, "whsec_", _NUMBERED + rb"[A-Za-z0-9+/=]{24,}+"),
    _Issued("npm token", "token", BEHIND, "npm_", rb"[A-Za-z0-9]{36,}+"),
    _Issued("PyPI token", "token", BEHIND, "pypi-Ag", rb"[A-Za-z0-9_-]{50,}+"),
    _Issued("SendGrid key", "key", APART, "SG.", rb"[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,}+"),
    _Issued("Twilio key", "key", BEHIND, "SK", rb"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _Issued("Twilio account", "account", BEHIND, "AC", rb"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _Issued("DigitalOcean token", "token", BEHIND, "dop_v1_ doo_v1_ dor_v1_", rb"[0-9a-f]{64}"),
    _Issued("Databricks token", "token", BEHIND, "dapi", rb"[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
    _Issued("Vault token", "token", APART, "hvs. hvb.", _NUMBERED + rb"[A-Za-z0-9_-]{24,}+"),
    _Issued("Shopify token", "token", BEHIND, "shpat_ shpca_ shppa_ shpss_", rb"[0-9a-fA-F]{32}"),
    _Issued("Docker token", "token", BEHIND, "dckr_pat_ dckr_oat_", rb"[A-Za-z0-9_-]{20,}+"),
    _Issued("Atlassian token", "token", BEHIND, "ATATT3x", rb"[A-Za-z0-9_=-]{50,}+"),
    _Issued("Linear key", "key", BEHIND, "lin_api_", rb"[A-Za-z0-9]{32,}+"),
    _Issued("Notion token", "token", BEHIND, "ntn_", rb"[A-Za-z0-9]{40,}+"),
    _Issued("Supabase token", "token", BEHIND, "sbp_", rb"[0-9a-f]{40}"),
    _Issued("organization id", "organization", APART, "org-", rb"(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{20,}+"),
    _Issued("project id", "project", APART, "proj_", rb"(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{16,}+"),
    _Issued("user id", "user", APART, "user-", rb"(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{20,}+"),
    _Issued("request id", "request", APART, "req_", rb"(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{16,}+"),
)


def _shape(row: _Issued) -> Shape:
    prefixes = [prefix.encode() for prefix in row.prefixes.split()]
    pattern = row.border + b"(?:%b)" % b"|".join(map(re.escape, prefixes)) + row.body
    return shape(row.name, row.kind, pattern, *prefixes)


ISSUED: Final = tuple(map(_shape, _TABLE))
