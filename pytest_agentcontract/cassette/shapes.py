"""What a secret looks like: the known shapes of keys, tokens and provider ids, as a table of bytes patterns.

A shape is found by its `hints`, plain bytes at which every match begins: looking for those costs next to nothing. Its
pattern is tried there alone. None backtracks over what it has read, and where a shape begins as random text might, it
must stand apart from what is before it: signatures, encrypted reasoning and images are long runs of random letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple


class Found(NamedTuple):
    """A secret in some bytes: what it is, and from where to where it stands."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape. The secret is the pattern's only group, or all of it if it has none."""

    name: str
    kind: str
    hints: tuple[bytes, ...]
    pattern: re.Pattern[bytes]

    def find(self, data: bytes) -> Iterator[Found]:
        """Yield what has this shape."""
        for hint in self.hints:
            at = data.find(hint)
            while at >= 0:
                match = self.pattern.match(data, at)
                if match:
                    yield Found(self.kind, *match.span(self.pattern.groups))
                at = data.find(hint, match.end() if match else at + 1)


def find(data: bytes) -> Iterator[Found]:
    """Yield everything that has a known shape; the same bytes may have several."""
    for shape in SHAPES:
        yield from shape.find(data)


_APART = rb"(?<![A-Za-z0-9_-])"
_ALONE = rb"(?<![A-Za-z0-9_+/=-])"
_DIGIT = rb"(?=[A-Za-z._~+/=-]*+[0-9])"
_PARAMETER = rb"(?:(?<=[?&])|(?<![\s\S]))"
_PEM = (
    rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rb"(?:[A-Za-z0-9+/=\s\\,:.()]|-(?!----))*+"
    rb"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)


def _shape(name: str, kind: str, pattern: bytes, *hints: bytes) -> Shape:
    return Shape(name, kind, hints, re.compile(pattern))


SHAPES: Final[tuple[Shape, ...]] = (
    _shape("Anthropic key", "key", rb"sk-ant-[A-Za-z0-9_-]{8,}+", b"sk-ant-"),
    _shape(
        "OpenAI key",
        "key",
        rb"sk-(?:proj|svcacct|admin|service|None|or|lf)-[A-Za-z0-9_-]{16,}+",
        b"sk-proj-",
        b"sk-svcacct-",
        b"sk-admin-",
        b"sk-service-",
        b"sk-None-",
        b"sk-or-",
        b"sk-lf-",
    ),
    _shape("plain sk- key", "key", _APART + rb"sk-(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{20,}+", b"sk-"),
    _shape("OpenAI session", "key", _APART + rb"sess-[A-Za-z0-9]{32,}+", b"sess-"),
    _shape("Google API key", "key", _APART + rb"AIza[A-Za-z0-9_-]{35,}+", b"AIza"),
    _shape("Google bound key", "key", _APART + rb"AQ\.[A-Za-z0-9_-]{30,}+", b"AQ."),
    _shape("Google access token", "token", _APART + rb"ya29\.[A-Za-z0-9._-]{20,}+", b"ya29."),
    _shape("Google refresh token", "token", rb"(?<![A-Za-z0-9_/:-])1//0[A-Za-z0-9_-]{38,}+", b"1//0"),
    _shape("Google client secret", "key", _APART + rb"GOCSPX-[A-Za-z0-9_-]{20,}+", b"GOCSPX-"),
    _shape(
        "GitHub token",
        "token",
        _APART + rb"gh[pousr]_[A-Za-z0-9]{30,}+",
        b"ghp_",
        b"gho_",
        b"ghu_",
        b"ghs_",
        b"ghr_",
    ),
    _shape("GitHub fine-grained token", "token", rb"github_pat_[A-Za-z0-9_]{22,}+", b"github_pat_"),
    _shape("GitLab token", "token", _APART + rb"glpat-[A-Za-z0-9_-]{20,}+", b"glpat-"),
    _shape("Slack token", "token", _APART + rb"xox[abeoprs]-[A-Za-z0-9-]{10,}+", b"xox"),
    _shape("Slack app token", "token", _APART + rb"xapp-[A-Za-z0-9-]{10,}+", b"xapp-"),
    _shape("AWS key id", "key", _ALONE + rb"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9+/=])", b"AKIA", b"ASIA"),
    _shape(
        "AWS secret key",
        "key",
        rb"(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey|secretAccessKey)"
        rb"[\s\"'\\:=]{1,12}+([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        b"aws_secret_access_key",
        b"AWS_SECRET_ACCESS_KEY",
        b"SecretAccessKey",
        b"secretAccessKey",
    ),
    _shape("Hugging Face token", "token", _APART + rb"hf_[A-Za-z0-9]{30,}+", b"hf_"),
    _shape("Groq key", "key", _APART + rb"gsk_[A-Za-z0-9]{40,}+", b"gsk_"),
    _shape("xAI key", "key", _APART + rb"xai-[A-Za-z0-9]{40,}+", b"xai-"),
    _shape("Perplexity key", "key", _APART + rb"pplx-[A-Za-z0-9]{32,}+", b"pplx-"),
    _shape("Replicate token", "token", _APART + rb"r8_[A-Za-z0-9]{30,}+", b"r8_"),
    _shape("Tavily key", "key", _APART + rb"tvly-[A-Za-z0-9_-]{20,}+", b"tvly-"),
    _shape("LangSmith key", "key", _APART + rb"lsv2_[a-z]{2}_[A-Za-z0-9_]{30,}+", b"lsv2_"),
    _shape(
        "Stripe key",
        "key",
        _APART + rb"[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}+",
        b"sk_live_",
        b"sk_test_",
        b"rk_live_",
        b"rk_test_",
        b"pk_live_",
        b"pk_test_",
    ),
    _shape("npm token", "token", _APART + rb"npm_[A-Za-z0-9]{36,}+", b"npm_"),
    _shape("PyPI token", "token", _APART + rb"pypi-[A-Za-z0-9_-]{50,}+", b"pypi-"),
    _shape("SendGrid key", "key", _APART + rb"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,}+", b"SG."),
    _shape(
        "JSON web token", "token", _APART + rb"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{4,}+\.[A-Za-z0-9_-]*+", b"eyJ"
    ),
    _shape(
        "bearer token",
        "token",
        rb"(?i:bearer)[ \t]{1,4}+" + _DIGIT + rb"([A-Za-z0-9._~+/=-]{16,}+)",
        b"Bearer ",
        b"bearer ",
        b"BEARER ",
    ),
    _shape(
        "basic credentials",
        "token",
        rb"(?i:basic)[ \t]{1,4}+(?=[A-Za-z+/]*+[0-9=])([A-Za-z0-9+/]{12,}+={0,2}+)",
        b"Basic ",
        b"basic ",
        b"BASIC ",
    ),
    _shape(
        "header line",
        "credential",
        rb"(?i:(?:x-)?(?:goog-)?api-key)[\"']?[ \t]?[:=][ \t]?[\"']?([A-Za-z0-9._~+/=-]{8,}+)",
        b"x-api-key",
        b"X-Api-Key",
        b"X-API-Key",
        b"X-API-KEY",
        b"x-goog-api-key",
        b"X-Goog-Api-Key",
        b"api-key",
    ),
    _shape(
        "cookie line",
        "cookie",
        rb"(?i:(?:set-)?cookie):[ \t]?([A-Za-z0-9_.-]{1,100}+=[^\s\"\\,]{8,}+[^\r\n\"\\]*+)",
        b"Cookie:",
        b"cookie:",
        b"COOKIE:",
        b"Set-Cookie:",
        b"set-cookie:",
    ),
    _shape("private key", "key", _PEM, b"-----BEGIN "),
    _shape(
        "user and password of a URL", "credential", rb"://([^\s/@:\"'\\<>]{1,256}+:[^\s/@\"'\\<>]{1,256}+)@", b"://"
    ),
    _shape(
        "parameter",
        "credential",
        _PARAMETER + rb"[A-Za-z_-]{1,40}+=([^&\s\"'\\#<>]{8,}+)",
        b"key=",
        b"api_key=",
        b"apikey=",
        b"api-key=",
        b"access_token=",
        b"refresh_token=",
        b"id_token=",
        b"token=",
        b"auth_token=",
        b"client_secret=",
        b"secret=",
        b"password=",
        b"passwd=",
        b"sig=",
        b"signature=",
    ),
    _shape(
        "assignment",
        "credential",
        rb"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)[A-Z0-9_]{0,20}+=[\"']?"
        rb"(?=[0-9+/=_.~-]*+[A-Za-z])" + _DIGIT + rb"([A-Za-z0-9+/=_.~-]{12,}+)",
        b"KEY",
        b"TOKEN",
        b"SECRET",
        b"PASSWORD",
        b"PASSWD",
        b"CREDENTIAL",
    ),
    _shape(
        "form field",
        "credential",
        rb"name=\"(?i:(?:\w{0,20}_)?(?:api[_-]?key|token|secret|password|passwd|authorization|cookie))\"[^\r\n]{0,200}+\r?\n"
        rb"(?:[^\r\n]{1,200}+\r?\n){0,8}+\r?\n([^\r\n]{1,10000}+)",
        b'name="',
    ),
    _shape("organization id", "organization", _APART + rb"org-(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{20,}+", b"org-"),
    _shape("project id", "project", _APART + rb"proj_(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{16,}+", b"proj_"),
    _shape("user id", "user", _APART + rb"user-(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{20,}+", b"user-"),
    _shape("request id", "request", _APART + rb"req_(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{16,}+", b"req_"),
)
