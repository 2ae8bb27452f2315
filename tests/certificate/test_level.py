"""The level, and the paragraph that says why: the highest only where nothing at all is missing."""

from __future__ import annotations

import pytest

from pytest_agentcontract.certificate import issue
from pytest_agentcontract.errors import CertificateError, ReportError
from pytest_agentcontract.report import level
from pytest_agentcontract.report.tally import BUCKETS, LEVELS
from tests.certificate import made_up


def _tally(**must):
    empty = dict.fromkeys(BUCKETS.values(), ())
    return {name: {**empty, **(must if name == "MUST" else {})} for name in LEVELS}


@pytest.mark.parametrize(
    ("must", "known", "left_out", "status", "name", "reason"),
    [
        ({}, 0, 0, 0, level.HIGHEST, ""),
        ({"notApplicable": ("A-2",)}, 0, 0, 0, level.HIGHEST, ""),
        ({"failed": ("A-2", "A-3")}, 0, 0, 1, level.NONE, "2 MUSTs broken: A-2, A-3"),
        ({"failed": ("A-2",), "baselined": ("A-3",)}, 1, 9, 1, level.NONE, "1 MUST broken: A-2"),
        ({"notVerified": ("A-2",)}, 0, 0, 1, level.PARTLY, "1 MUST not verified: A-2"),
        ({"notJudgeable": ("A-2",)}, 0, 0, 1, level.PARTLY, "the bench had an error: A-2"),
        ({"metInPart": ("A-2",)}, 0, 0, 0, level.PARTLY, "met in part only: A-2"),
        ({"notJudged": ("A-2",)}, 0, 0, 0, level.PARTLY, "not judged by any case that was run: A-2"),
        ({}, 0, 3, 0, level.PARTLY, "3 cases of the suite left out"),
        ({"baselined": ("A-2",)}, 2, 0, 0, level.KNOWN, "broken, as the baseline of known failures says: A-2"),
        ({}, 2, 0, 0, level.KNOWN, "2 known failures in a baseline"),
        ({"baselined": ("A-2",)}, 2, 1, 0, level.BOTH, "1 case of the suite left out"),
        ({}, 0, 0, 22, level.PARTLY, "the run ended with exit status 22"),
        ({}, 0, 0, 1, level.PARTLY, "the run ended with exit status 1"),
        ({"baselined": ("A-2",)}, 1, 0, 21, level.KNOWN, "the run ended with exit status 21"),
        ({"passed": ()}, 0, 0, 20, level.NOTHING, "the run ended with exit status 20"),
        ({"passed": (), "notVerified": ("A-2",)}, 0, 0, 1, level.NOTHING, "1 MUST not verified: A-2"),
    ],
)
def test_the_level_is_named_with_its_reasons(must, known, left_out, status, name, reason):
    """Each thing that is missing is a reason, and the highest level has none."""
    stated = level.stated(_tally(**{"passed": ("A-1",), **must}), known, left_out, status)
    assert stated.name == name
    assert any(reason in one for one in stated.reasons) if reason else stated.reasons == ()


@pytest.fixture
def found(profile, key):
    """Return a function that certifies a report, and returns what it comes to."""
    return lambda *said, **how: issue.certificate(made_up.report(profile, *said, **how), "r.jsonl", profile, key)[1]


def test_a_whole_run_without_a_fault_is_of_the_highest_level(found):
    """Requirements that speak of hand-off engines are not applicable, though no case was run that says so."""
    of = found()
    assert (of.stated.name, of.stated.reasons) == (level.HIGHEST, ())
    assert not of.tally["MUST"]["notJudged"]
    assert "That is the highest level, “conformant”" in of.summary


def test_a_part_of_the_suite_is_not_fully_verified(found):
    """However green: a quick selection, or one folder of cases, says how much it left out."""
    of = found(keep=lambda record: record["case"].startswith("return/no-reply/"))
    assert of.stated.name == level.PARTLY
    assert any(reason.endswith("left out (each wire format counts)") for reason in of.stated.reasons)


def test_one_missing_case_is_enough(found):
    """Also where each of its requirements passes in another case."""
    of = found(keep=lambda record: record["case"] != "return/no-reply/nudged-then-replies")
    assert (of.stated.name, of.stated.reasons) == (
        level.PARTLY,
        ("1 case of the suite left out (each wire format counts)",),
    )


def test_the_paragraph_explains_what_is_missing(found):
    """What is broken stands there with its sentence, and what it would have taken."""
    of = found({"RET-303": ("fail", ""), "RET-304": ("not-verified", ""), "RET-306": ("fail", "issue 12")}, exit=1)
    for words in (
        "mine 1.2.3 was judged by the agent contract suite",
        "It breaks 1: RET-303 (“A reply that follows a nudge succeeds",
        "1 could not be verified, for what has to happen first did not: RET-304",
        "1 it breaks as its own list of known failures says: RET-306",
        "So its level is “not conformant”",
        "It is self-assessed",
    ):
        assert words in of.summary
    assert "\n" not in of.summary


@pytest.mark.parametrize(
    ("change", "error", "complaint"),
    [
        (lambda lines: lines.pop(), ReportError, "has no footer"),
        (lambda lines: lines[0]["suite"].update(version="0.0.1"), CertificateError, "made by suite 0.0.1"),
        (lambda lines: lines[0]["runtimes"][0].update(digest=""), CertificateError, "made with another profile"),
        (lambda lines: lines[0]["runtimes"].clear(), ReportError, "which the header doesn't name"),
    ],
)
def test_what_can_not_be_certified_is_told(report, profile, key, change, error, complaint):
    """A report that is cut, or not of this suite and profile."""
    lines = made_up.lines(report)
    change(lines)
    with pytest.raises(error, match=complaint):
        issue.certificate(made_up.written(lines), "r.jsonl", profile, key)
