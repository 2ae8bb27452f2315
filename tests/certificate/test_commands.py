"""The commands: keygen, certify, verify, reproduce."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli
from pytest_agentcontract.certificate.here import Here
from pytest_agentcontract.certificate.reproduce import differences
from pytest_agentcontract.report import reading
from pytest_agentcontract.report.exits import OTHER_SUITE
from tests.certificate import made_up

NODE = "agent-contract::return::no-reply/nudged-then-replies"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


@pytest.fixture
def invoke(folder):
    """Return a function that calls the command line there."""
    return lambda *arguments: CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


@pytest.fixture
def certified(folder, invoke, profile):
    """Return the place of a certificate of the user's runtime, made by command of a report."""
    made_up.profile(folder)
    (folder / "r.jsonl").write_bytes(made_up.report(profile))
    assert invoke("keygen", "-o", "my.key").exit_code == 0
    made = invoke("certify", "--runtime", "mine", "--key", "my.key", "-o", "mine.cert", "--report", "r.jsonl")
    assert made.exit_code == 0, made.output
    return folder / "mine.cert"


def test_a_certificate_is_made_and_verified(invoke, certified):
    """The level, the counts and the paragraph are shown; who signed is sure only with the key."""
    plain, known = invoke("verify", certified), invoke("verify", certified, "--key", "my.key.pub")
    for shown in (plain, known):
        assert shown.exit_code == 0
        assert f"{certified}: verified\n  level: conformant (self-assessed)\n" in shown.output
    assert "and not who signed; give --key for that" in plain.output
    assert "note:" not in known.output


def test_another_signer_is_refused(invoke, certified):
    """The exit status says so, too."""
    invoke("keygen", "-o", "other.key")
    refused = invoke("verify", certified, "--key", "other.key.pub")
    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"{certified}: REFUSED\n  - is signed by the key ")


def test_what_the_profile_would_show_is_not_claimed_without_it(invoke, certified, folder):
    """On a machine that knows nothing of the runtime, the certificate holds and the rest is said."""
    (folder / "agent-contract.toml").unlink()
    shown = invoke("verify", certified, "--key", "my.key.pub")
    assert shown.exit_code == 0
    assert "note: No profile of mine is known here" in shown.output


def test_a_certificate_of_another_suite_version_is_told_apart(invoke, certified, monkeypatch):
    """It is neither refused nor taken for verified in every respect."""
    here = Here.installed()
    newer = Here("9.0.0", "sha256:" + "0" * 64, here.measured, here.release, here.cases)
    monkeypatch.setattr(Here, "installed", lambda: newer)
    shown = invoke("verify", certified, "--key", "my.key.pub")
    assert shown.exit_code == OTHER_SUITE
    assert "note: Made with another suite version: " in shown.output
    again = invoke("reproduce", certified, "--key", "my.key.pub")
    assert again.exit_code == 4
    assert "a run of another suite reproduces nothing" in again.output


def test_nothing_is_written_over(invoke, certified):
    """Neither by a certificate nor by a key; nothing is judged first."""
    before = certified.read_bytes()
    again = invoke("certify", "--runtime", "mine", "--key", "my.key", "-o", certified)
    assert (again.exit_code, certified.read_bytes()) == (4, before)
    assert "is there already, and nothing is written over" in again.output
    assert invoke("keygen", "-o", "my.key").exit_code == 4


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--runtime", "reference", "--report", "r.jsonl"), "is about mine, and not about reference"),
        (("--runtime", "nobody", "--report", "r.jsonl"), "no runtime is called 'nobody'"),
        (("--runtime", "mine", "--report", "r.jsonl", "-k", "x"), "-k and --report at once"),
        (("--runtime", "mine", "--report", "none.jsonl"), "can't be read"),
        (("--runtime", "mine", "--report", "my.key"), "not JSON"),
    ],
)
def test_what_can_not_be_meant_is_told(invoke, certified, arguments, complaint):
    """And leaves no certificate behind."""
    told = invoke("certify", "--key", "my.key", "-o", "new.cert", *arguments)
    assert told.exit_code == 4
    assert complaint in told.output
    assert not certified.with_name("new.cert").exists()


def test_without_cryptography_each_command_names_the_remedy(invoke, certified, monkeypatch):
    """One clear error, before anything is judged."""
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for command in (
        ("keygen", "-o", "new.key"),
        ("certify", "--runtime", "mine", "--key", "my.key", "-o", "new.cert"),
        ("verify", certified),
        ("reproduce", certified),
    ):
        told = invoke(*command)
        assert told.exit_code == 4
        assert 'pip install "pytest-agent-conformance[sign]"' in told.output


def test_a_run_that_judges_nothing_is_no_certificate(invoke, folder):
    """A selection that matches nothing is told by pytest, and by us."""
    invoke("keygen", "-o", "my.key")
    told = invoke("certify", "--runtime", "reference", "--key", "my.key", "-o", "new.cert", f"{NODE}-not")
    assert told.exit_code == 4
    assert "nothing was judged: the run ended with exit status 4" in told.output
    assert not (folder / "new.cert").exists()


def test_a_part_of_the_suite_is_judged_certified_and_reproduced(invoke, folder):
    """It has a lesser level, and the same part is judged again."""
    invoke("keygen", "-o", "my.key")
    made = invoke("certify", "--runtime", "mutant:no-nudge", "--key", "my.key", "-o", "part.cert", "-q", NODE)
    assert made.exit_code == 1
    assert "level: not conformant (self-assessed)" in made.output
    assert "It is a mutant" in " ".join(made.output.split())
    again = invoke("reproduce", "part.cert", "-q")
    assert again.exit_code == 0, again.output
    assert "part.cert: 16 verdicts compared, 0 differences" in again.output


def test_every_other_verdict_is_a_difference(profile):
    """A verdict that changed, a case that is gone and one that is new; the reasons of a baseline don't count."""
    case = "return/no-reply/nudged-then-replies"

    def read(*said, **how):
        return reading.parse(made_up.report(profile, *said, **how), "r")

    then = read({"RET-303": ("fail", ""), "RET-306": ("fail", "issue 12")})
    assert list(differences(then, read({"RET-303": ("fail", ""), "RET-306": ("fail", "")}))) == []
    now = list(differences(then, read({"RET-306": ("fail", "")}, keep=lambda record: record["case"] != case)))
    assert f"RET-301 in {case} (anthropic-messages): was pass (MUST), is not judged" in now
    assert any(line.startswith("RET-303 in ") and line.endswith("was fail (MUST), is pass (MUST)") for line in now)
    assert not any(line.startswith("RET-306 in ") and case not in line for line in now)
