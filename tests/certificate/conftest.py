"""A certificate of a middling runtime, the keys, and what a forger needs."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import dataclass, replace

import pytest

from pytest_agentcontract.certificate import envelope, issue, keys
from pytest_agentcontract.certificate.here import Here
from pytest_agentcontract.certificate.packing import packed, unpacked
from pytest_agentcontract.certificate.predicate import Issue
from pytest_agentcontract.certificate.statement import statements
from pytest_agentcontract.certificate.subject import Driven, Subject, read
from pytest_agentcontract.certificate.verify import verify
from tests.certificate import made_up

MIDDLING = {"RET-303": ("fail", ""), "RET-304": ("not-verified", ""), "RET-306": ("fail", "issue 12")}
"""One rule broken, one not verified, one broken as a baseline says; all others kept."""


@pytest.fixture(scope="session")
def key(tmp_path_factory):
    """Return the key of whoever certifies."""
    return _key(tmp_path_factory.mktemp("key"))


@pytest.fixture(scope="session")
def other_key(tmp_path_factory):
    """Return the forger's key."""
    return _key(tmp_path_factory.mktemp("other"))


@pytest.fixture(scope="session")
def profile(tmp_path_factory):
    """Return the profile of the runtime that is certified."""
    return made_up.profile(tmp_path_factory.mktemp("mine"))


@pytest.fixture(scope="session")
def report(profile):
    """Return the report of a middling runtime."""
    return made_up.report(profile, MIDDLING, exit=1)


@pytest.fixture(scope="session")
def good(report, profile, key):
    """Return its certificate."""
    text, _ = issue.certificate(report, "r.jsonl", profile, key)
    return text


@pytest.fixture
def verified(profile):
    """Return a function that verifies a certificate where the runtime's profile is known."""
    return lambda text, expected=None: verify(
        text.encode() if isinstance(text, str) else text, expected, {"mine": profile}.get
    )


@dataclass(frozen=True)
class Forger:
    """Somebody who changes a certificate and signs it anew with a key of his own."""

    text: str
    key: keys.SigningKey
    profile: object

    @property
    def envelopes(self):
        """The two envelopes as objects."""
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def said(self):
        """The two statements."""
        return [json.loads(b64decode(one["payload"])) for one in self.envelopes]

    @property
    def report(self):
        """The bytes of the embedded report."""
        return unpacked(self.said[0]["predicate"]["report"]["content"])

    def signing(self, change):
        """Return the certificate with its statements changed, the signer's name set right, and both signed."""
        said = self.said
        said[0]["predicate"]["signer"] = {"keyid": self.key.public.keyid, "publicKey": self.key.public.pem}
        change(*said)
        return self.sealed(*(json.dumps(one) for one in said))

    def sealed(self, *payloads):
        """Return a certificate of two texts."""
        return "".join(envelope.seal(one.encode(), self.key).line() + "\n" for one in payloads)

    def holding(self, content):
        """Return the certificate with another report in it, and nothing else changed."""
        return self.signing(lambda ours, _: ours["predicate"]["report"].update(content=packed(content)))

    def deriving(self, content, left_out=None):
        """Return the certificate that follows from another report, or that hides what was left out."""
        of = Subject(read(content, "r"), content, Driven.of(self.profile))
        missing = Here.installed().left_out(of) if left_out is None else left_out
        derived = statements(of, Issue(self.key.public, "2026-12-01T00:00:00Z", packed(content), missing))
        return self.sealed(json.dumps(derived.ours), json.dumps(derived.result))

    def changing(self, change):
        """Return the certificate that follows from the report with its lines changed and counted anew."""
        return self.deriving(made_up.changed(self.report, change))

    def honest(self, key):
        """Return the same with another key."""
        return replace(self, key=key)


@pytest.fixture
def forger(good, other_key, profile):
    """Return somebody with a good certificate and a key of his own."""
    return Forger(good, other_key, profile)


def _key(folder):
    keys.generate(folder / "key")
    return keys.load_signing(folder / "key")
