"""No byte of a certificate can be changed unnoticed: each is signed, or can be written in one way only."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_agentcontract.certificate import bundle, keys
from pytest_agentcontract.errors import CertificateError
from pytest_agentcontract.jsonvalue import as_text, point


@pytest.fixture(scope="module")
def content(good):
    """Return the bytes of a good certificate."""
    return good.encode()


def _accepted(content):
    """Tell whether the envelopes alone, whatever they hold, let a certificate through."""
    try:
        read = bundle.parse(content)
        signer = keys.parse_public(as_text(point(read.said, "/predicate/signer/publicKey")))
    except CertificateError:
        return False
    return read.ours.signed_by(signer) and read.result.signed_by(signer)


def test_the_good_one_is_accepted(content):
    """What the other tests refuse differs from this by one byte."""
    assert _accepted(content)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_flipped_byte_is_refused(content, data):
    """Wherever it is, in a payload, a signature, a key's id, a padding or the JSON around them."""
    at = data.draw(st.integers(0, len(content) - 1))
    other = data.draw(st.integers(1, 255))
    assert not _accepted(content[:at] + bytes([content[at] ^ other]) + content[at + 1 :])


def test_any_bit_of_what_is_not_payload_is_refused(content):
    """The JSON, the type, the key's id and the signature with its padding, bit by bit: none of it says nothing."""
    line = content.splitlines(keepends=True)[1]
    start = len(content) - len(line)
    around = [*range(start, start + 14), *range(content.rindex(b'", "payloadType"') - 4, len(content))]
    let_through = [
        (at, bit)
        for at in around
        for bit in range(8)
        if _accepted(content[:at] + bytes([content[at] ^ (1 << bit)]) + content[at + 1 :])
    ]
    assert let_through == []


@pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: c + b"\n", lambda c: c.replace(b"\n", b"\r\n")])
def test_line_ends_count(content, change):
    """A file that was cut by a byte, or whose lines end otherwise, is another file."""
    assert not _accepted(change(content))
