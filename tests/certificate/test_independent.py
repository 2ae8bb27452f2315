"""A good certificate in the hands of others: openssl, securesystemslib, base64 and gunzip know nothing of us."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import shutil
import subprocess
from base64 import b64decode

import pytest
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from pytest_agentcontract.certificate.envelope import opened


@pytest.fixture
def envelopes(good):
    """Return both envelopes as any reader of JSON lines sees them."""
    return [json.loads(line) for line in good.splitlines()]


@pytest.fixture
def public(key):
    """Return the signer's key as securesystemslib knows it."""
    return SSlibKey("unused", "ed25519", "ed25519", {"public": key.public.raw.hex()})


def test_securesystemslib_verifies_both_envelopes(envelopes, public, key):
    """Each line is a DSSE envelope, and one whose payload was changed is refused."""
    public.keyid = key.public.keyid
    for one in envelopes:
        Envelope.from_dict(copy.deepcopy(one)).verify([public], 1)
        changed = Envelope.from_dict(copy.deepcopy(one))
        changed.payload = changed.payload.replace(b"RET-301", b"RET-302", 1)
        with pytest.raises(VerificationError):
            changed.verify([public], 1)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_verifies_both_envelopes(good, key, tmp_path):
    """The signature is a plain ed25519 one over DSSE's encoding of type and payload."""
    (tmp_path / "key.pub").write_text(key.public.pem, "utf-8")
    for line in good.splitlines():
        one = opened(line)
        (tmp_path / "signature").write_bytes(one.signature)
        assert _openssl(tmp_path, one.message) == 0
        assert _openssl(tmp_path, one.message.replace(b"RET-301", b"RET-302", 1)) != 0


def test_the_statements_are_in_toto_statements(envelopes, report):
    """Type, subject and predicate stand where in-toto has them; the subject is the report that gunzip brings back."""
    ours, result = (json.loads(b64decode(one["payload"])) for one in envelopes)
    content = gzip.decompress(b64decode(ours["predicate"]["report"]["content"]))
    assert content == report
    for one in (ours, result):
        assert one["_type"] == "https://in-toto.io/Statement/v1"
        assert [subject["digest"] for subject in one["subject"]] == [{"sha256": hashlib.sha256(report).hexdigest()}]
    assert result["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"


def test_the_test_result_says_in_its_own_words_what_was_found(envelopes):
    """A broken MUST fails, what is excused or not verified warns; what is not applicable has no place there."""
    ours, result = (json.loads(b64decode(one["payload"]))["predicate"] for one in envelopes)
    assert result["result"] == "FAILED"
    assert result["failedTests"] == ["RET-303"]
    assert sorted(result["warnedTests"]) == ["RET-304", "RET-306"]
    assert not set(ours["verdicts"]["MUST"]["notApplicable"]) & {*result["passedTests"], *result["warnedTests"]}
    assert all(part["digest"]["sha256"] for part in result["configuration"])


def _openssl(folder, message):
    (folder / "message").write_bytes(message)
    key = ["-pubin", "-inkey", "key.pub", "-sigfile", "signature", "-in", "message"]
    command = [shutil.which("openssl"), "pkeyutl", "-verify", "-rawin", *key]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode
