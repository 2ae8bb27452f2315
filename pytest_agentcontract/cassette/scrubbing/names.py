"""What is secret by its name: headers, fields of JSON and of forms, parameters of a URL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote_to_bytes

from pytest_agentcontract.cassette.scrubbing.shape import Found

KEPT_HEADERS: Final = frozenset(
    {
        *("accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta", "user-agent", "x-agent"),
        *("allow", "location", "retry-after", "retry-after-ms", "x-should-retry"),
    }
)
"""The headers that a recording keeps, of a request and of an answer: nothing plays or is matched without these."""

HEADERS: Final = {
    "cookie": "cookie",
    "set-cookie": "cookie",
    "openai-organization": "organization",
    "anthropic-organization-id": "organization",
    "openai-project": "project",
    "request-id": "request",
    "x-request-id": "request",
    "chatgpt-account-id": "account",
}
_CREDENTIAL_HEADER: Final = re.compile(r"key|token|secret|auth|credential|password")

_CREDENTIALS: Final = (
    "access_token api_key auth_token authorization authorization_token aws_secret_access_key bearer_token "
    "client_secret cookie id_token passphrase passwd password private_key proxy_authorization refresh_token secret "
    "secret_access_key secret_key security_token session_token set_cookie x_api_key x_goog_api_key"
)
_IDENTIFIERS: Final = {
    "organization": "organization organization_id organization_uuid org_id",
    "project": "consumer project_id",
    "account": "account_id account_uuid",
    "user": "end_user_id safety_identifier user user_id",
    "request": "request_id x_request_id",
}
_PARAMETER_NAMES: Final = (
    "key sig signature token x_amz_credential x_amz_security_token x_amz_signature x_goog_credential x_goog_signature"
)

_FIELD: Final = re.compile(
    rb'"([A-Za-z][A-Za-z0-9_-]{1,60})"\s{0,200}+:\s{0,200}+(?:"([^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+)|(-?[0-9][0-9.eE+-]*+))'
)
_PARAMETER: Final = re.compile(rb"(?:\A|(?<=[?&#]))([^=&?#]{1,60})=([^&#]+)")


def plain(name: str) -> str:
    """Return a name as it is looked up: neither its case nor what joins its words counts."""
    return re.sub(r"[_.-]", "", name).lower()


CREDENTIALS: Final = {plain(name): "credential" for name in _CREDENTIALS.split()}
IDENTIFIERS: Final = {plain(name): kind for kind, names in _IDENTIFIERS.items() for name in names.split()}
_PARAMETERS: Final = {plain(name): "credential" for name in _PARAMETER_NAMES.split()}


def fields(data: bytes, kinds: Mapping[str, str]) -> Iterator[Found]:
    """Yield the values, strings and numbers, of the JSON fields whose plain names have one of these kinds."""
    for match in _FIELD.finditer(data):
        kind = kinds.get(plain(match[1].decode()))
        if kind is not None:
            start, end = match.span(2) if match[2] is not None else match.span(3)
            if start < end:
                yield Found(kind, start, end)


def parameters(data: bytes, fields: Mapping[str, str]) -> Iterator[Found]:
    """Yield the values of the secret parameters of a URL or of a form."""
    kinds = {**_PARAMETERS, **fields}
    for match in _PARAMETER.finditer(data):
        kind = kinds.get(plain(unquote_to_bytes(match[1]).decode("utf-8", "replace")))
        if kind is not None:
            yield Found(kind, *match.span(2))


def header_kind(name: str) -> str | None:
    """Return what a header carries by its name, or None for one that carries no secret."""
    lowered = name.lower()
    return HEADERS.get(lowered) or ("credential" if _CREDENTIAL_HEADER.search(lowered) else None)
