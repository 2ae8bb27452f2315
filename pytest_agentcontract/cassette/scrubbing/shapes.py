"""What a secret looks like: the known shapes of keys, tokens and provider ids, as a table of bytes patterns.

A shape is found by its `hints`, plain bytes that stand in every match: looking for those costs next to nothing. Its
pattern is tried there alone. None backtracks over what it has read, and where a shape begins as random text might, it
must stand apart from what is before it: signatures, encrypted reasoning and images are long runs of random letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_agentcontract.cassette.scrubbing.issued import ISSUED
from pytest_agentcontract.cassette.scrubbing.shape import APART, BEHIND, SAYS, Found, Shape, shape


def find(data: bytes) -> Iterator[Found]:
    """Yield everything that has a known shape; the same bytes may have several."""
    for one in SHAPES:
        yield from one.find(data)


_DIGIT = rb"(?=[A-Za-z._~+/=-]*+[0-9])"
_PARAMETER = rb"(?:(?<=[?&#])|(?<=&amp;)|(?<=&#38;)|(?<![\s\S]))"
_IN_URL = rb"(?:[A-Za-z0-9/+=._~@-]|%(?!(?:25){0,3}2[236]))"
_NAME = rb"(?i:[a-z_-]{2,20}+(?:(?<=key)|(?<=token)|(?<=secret)|(?<=password)|(?<=passwd)))"
_VALUE = (  # which is no call, no path, and no attribute of something
    rb"(?![A-Za-z_]++[.(\[])(?=[A-Za-z+=_~-][A-Za-z+/=_~-]*+[0-9]|[0-9][0-9+/=_~.-]*+[A-Za-z])"
    rb"([A-Za-z0-9+/=_~.-]{16,}+)(?![(\[])"
)
_PEM = (
    rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rb"(?:[A-Za-z0-9+/=\s\\,:.()]|-(?!----))*+"
    rb"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)


SHAPES: Final[tuple[Shape, ...]] = (
    *ISSUED,
    shape(
        "AWS secret key",
        "key",
        rb"(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey|secretAccessKey)"
        rb"[\s\"'\\:=]{1,12}+([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        b"aws_secret_access_key",
        b"AWS_SECRET_ACCESS_KEY",
        b"SecretAccessKey",
        b"secretAccessKey",
    ),
    shape(
        "JSON web token", "token", BEHIND + rb"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{4,}+\.[A-Za-z0-9_-]*+", b"eyJ"
    ),
    shape(
        "bearer token",
        "token",
        rb"(?i:bearer)[ \t]{1,4}+" + _DIGIT + rb"([A-Za-z0-9._~+/=-]{16,}+)",
        b"Bearer ",
        b"bearer ",
        b"BEARER ",
    ),
    shape(
        "basic credentials",
        "token",
        rb"(?i:basic)[ \t]{1,4}+(?=[A-Za-z+/]*+[0-9=])([A-Za-z0-9+/]{12,}+={0,2}+)",
        b"Basic ",
        b"basic ",
        b"BASIC ",
    ),
    shape(
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
    shape(
        "cookie line",
        "cookie",
        rb"(?i:(?:set-)?cookie):[ \t]?([A-Za-z0-9_.-]{1,100}+=[^\0\s\"\\,]{8,}+[^\0\r\n\"\\]*+)",
        b"Cookie:",
        b"cookie:",
        b"COOKIE:",
        b"Set-Cookie:",
        b"set-cookie:",
    ),
    shape("private key", "key", _PEM, b"-----BEGIN "),
    shape(
        "user and password of a URL", "credential", rb"://([^\0\s/@:\"'\\<>]{1,256}+:[^\0\s/@\"'\\<>]{1,256}+)@", b"://"
    ),
    shape(
        "parameter",
        "credential",
        _PARAMETER + rb"[A-Za-z_-]{1,40}+=([^\0&\s\"'\\#<>]{8,}+)",
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
    shape(
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
    shape(
        "form field",
        "credential",
        rb"name=\"(?i:(?:\w{0,20}_)?(?:api[_-]?key|token|secret|password|passwd|authorization|cookie))\"[^\r\n]{0,200}+\r?\n"
        rb"(?:[^\r\n]{1,200}+\r?\n){0,8}+\r?\n([^\0\r\n]{1,10000}+)",
        b'name="',
    ),
    shape(
        "presigned URL",
        "credential",
        rb"(?i:x-(?:amz|goog|oss)-(?:signature|credential|security-token))" + SAYS + rb"(" + _IN_URL + rb"{8,}+)",
        b"X-Amz-",
        b"x-amz-",
        b"X-AMZ-",
        b"X-Goog-",
        b"x-goog-",
        b"X-GOOG-",
        b"x-oss-",
    ),
    shape(
        "signature of a URL",
        "credential",
        rb"(?:(?<=[?&;, ])|(?<=%26))Signature=(" + _IN_URL + rb"{20,}+)",
        b"Signature=",
    ),
    shape(
        "Azure key",
        "key",
        rb"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}+={0,2}+)",
        b"AccountKey=",
        b"SharedAccessKey=",
    ),
    shape(
        "Azure OpenAI key",
        "key",
        BEHIND + rb"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}(?![A-Za-z0-9])",
        b"JQQJ99",
        before=52,
    ),
    shape("Azure client secret", "key", APART + rb"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", b"Q~", before=4),
    shape(
        "Slack webhook",
        "credential",
        rb"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9_/]{20,}+)",
        b"hooks.slack.com/",
    ),
    shape("Discord webhook", "credential", rb"/api/webhooks/([0-9]{15,}+/[A-Za-z0-9_-]{40,}+)", b"/api/webhooks/"),
    shape(
        "named value",
        "credential",
        _NAME + SAYS + _VALUE,
        b"API_KEY",
        b"APIKEY",
        b"ApiKey",
        b"apiKey",
        b"api_key",
        b"apikey",
        b"api-key",
        b"ACCESS_KEY",
        b"SECRET_KEY",
        b"SecretKey",
        b"secretKey",
        b"secret_key",
        b"TOKEN",
        b"access_token",
        b"accessToken",
        b"auth_token",
        b"authToken",
        b"auth-token",
        b"Auth-Token",
        b"refresh_token",
        b"refreshToken",
        b"session_token",
        b"sessionToken",
        b"Private-Token",
        b"PRIVATE-TOKEN",
        b"private-token",
        b"SECRET",
        b"client_secret",
        b"clientSecret",
        b"PASSWORD",
        b"PASSWD",
        b"password",
        b"passwd",
        b"Subscription-Key",
        b"subscription-key",
    ),
    shape(
        "option",
        "credential",
        rb"--(?:api[_-]?key|auth-token|access-token|token|password|secret)[ =][\"']?" + _VALUE,
        b"--api",
        b"--auth-token",
        b"--access-token",
        b"--token",
        b"--password",
        b"--secret",
    ),
)
