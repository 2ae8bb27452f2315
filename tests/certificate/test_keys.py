"""Keys: written once, for the owner alone, as PEM that openssl knows; what is none is told in one sentence."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from pytest_agentcontract.certificate import keys
from pytest_agentcontract.errors import CertificateError, UsageError


def _pem(key, encryption=None):
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, encryption or serialization.NoEncryption())


def test_a_private_key_is_for_its_owner_alone(tmp_path):
    """Nobody else reads it, and it shows its secret to nobody who prints it."""
    beside, public = keys.generate(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    signing = keys.load_signing(tmp_path / "key")
    assert repr(signing) == f"SigningKey({public.keyid})"
    assert signing.public == public == keys.load_public(beside)


@pytest.mark.parametrize("name", ["key", "key.pub"])
def test_no_file_is_written_over(tmp_path, name):
    """A key that is gone can't be made again, be it the one or the other."""
    (tmp_path / name).write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="is there already"):
        keys.generate(tmp_path / "key")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text("utf-8") == "mine"


def test_not_even_through_a_dangling_link(tmp_path):
    """A link that leads nowhere is something that stands there."""
    (tmp_path / "key").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="is there already"):
        keys.generate(tmp_path / "key")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"nothing", "is no private key in PEM"),
        (_pem(ec.generate_private_key(ec.SECP256R1())), "is no ed25519 key"),
        (_pem(ed25519.Ed25519PrivateKey.generate(), serialization.BestAvailableEncryption(b"x")), "is encrypted"),
    ],
    ids=["no key", "another kind", "encrypted"],
)
def test_what_is_no_signing_key_is_told(tmp_path, content, complaint):
    """In one sentence, with the file."""
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=complaint) as found:
        keys.load_signing(path)
    assert found.value.where == str(path)


def test_the_other_half_is_told_as_that(tmp_path):
    """Who takes the one key for the other learns which one he has."""
    beside, _ = keys.generate(tmp_path / "key")
    with pytest.raises(UsageError, match="is the public half of a pair"):
        keys.load_signing(beside)
    with pytest.raises(UsageError, match="is the private half of a pair"):
        keys.load_public(tmp_path / "key")


def test_what_is_no_public_key_is_told(tmp_path):
    """Some text is none, and neither is another kind of key."""
    (tmp_path / "key").write_text("nothing", "utf-8")
    with pytest.raises(UsageError, match="no ed25519 public key"):
        keys.load_public(tmp_path / "key")
    other = ec.generate_private_key(ec.SECP256R1()).public_key()
    pem = other.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    with pytest.raises(CertificateError, match="no ed25519 key"):
        keys.parse_public(pem.decode())


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_reads_our_keys_and_we_read_its(tmp_path):
    """Both kinds of file are standard PEM."""
    openssl = shutil.which("openssl")
    beside, public = keys.generate(tmp_path / "key")
    made = subprocess.run([openssl, "pkey", "-in", tmp_path / "key", "-pubout"], capture_output=True, check=True)
    assert made.stdout.decode() == beside.read_text("utf-8") == public.pem
    subprocess.run([openssl, "genpkey", "-algorithm", "ed25519", "-out", tmp_path / "theirs"], check=True)
    assert len(keys.load_signing(tmp_path / "theirs").sign(b"message")) == 64


def test_without_cryptography_the_remedy_is_named(tmp_path, monkeypatch):
    """One clear error, whatever was to be done."""
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for call in (keys.generate, keys.load_signing):
        with pytest.raises(UsageError) as found:
            call(tmp_path / "key")
        assert found.value.remedy == 'pip install "pytest-agent-conformance[sign]"'
