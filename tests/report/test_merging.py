"""Reports of shards, wire formats and runtimes, put together."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_agentcontract.errors import ReportError
from pytest_agentcontract.report import exits, stream
from pytest_agentcontract.report.merging import merge
from pytest_agentcontract.report.values import Measured, Platform, Suite

SHARDS = st.lists(st.sets(st.integers(0, 11)), min_size=1, max_size=5)
ANY = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def found(check, record):
    """Return what a whole run found: two runtimes, three cases, two wire formats."""
    statuses = cycle(("pass", "fail", "pass", "not-verified", "fail"))

    def judged(case, name, wire):
        status = next(statuses)
        return record(check("RET-301", status), case=case, runtime=name, wire=wire, status=status)

    return [
        judged(f"return/{case}", name, wire)
        for name in ("theirs", "mine")
        for wire in ("openai-chat", "anthropic-messages")
        for case in "cab"
    ]


@pytest.fixture
def whole(found, report):
    """Return the report of that run."""
    return report(*found, exit=1)


@pytest.fixture
def shard(found, report, whole):
    """Return a maker of shards: of some of what was found, each with times and evidence of its own."""

    def make(chosen):
        records = [found[number] for number in sorted(chosen)]
        failed = any(record["status"] != "pass" for record in records)
        runtimes = whole.header.runtimes
        return report(*records, runtimes=runtimes, exit=1 if failed else 0 if records else 5)

    return make


@ANY
@given(SHARDS)
def test_shards_are_the_whole(whole, shard, chosen):
    """However a run is cut, and whatever was judged twice, together it is the report of the run."""
    rest = set(range(12)) - set().union(*chosen)
    together = merge([*map(shard, chosen), shard(rest)])
    assert stream.text(together) == stream.text(merge([whole]))
    assert sorted(together.cases, key=lambda judged: judged.key) == sorted(whole.cases, key=lambda judged: judged.key)


@ANY
@given(SHARDS, st.randoms(use_true_random=False))
def test_neither_order_nor_grouping_matters(shard, chosen, chance):
    """Merging is associative, independent of order, and changes nothing the second time."""
    reports = [_aged(shard(numbers), at) for at, numbers in enumerate(chosen)]
    expected = stream.text(merge(reports))
    mixed = chance.sample(reports, len(reports))
    cut = chance.randrange(len(mixed))
    parts = [merge(part) for part in (mixed[:cut], mixed[cut:]) if part]
    assert stream.text(merge(parts)) == expected
    assert stream.text(merge([merge(reports), *reports])) == expected


def _aged(report, age):
    cases = tuple(replace(judged, seconds=0.1 * age, why=f"after {age} s") for judged in report.cases)
    return replace(report, cases=cases)


def test_runtimes_stand_beside_each_other(report, record, check):
    """Reports of two runtimes make one that names both, also where one of them was judged on another machine."""
    one, other = report(record(check("RET-301"))), report(record(check("RET-301"), runtime="theirs"))
    mac = replace(other.header.runtimes[0], platform=Platform("Darwin", "arm64", "3.12.1"))
    merged = merge([replace(other, header=replace(other.header, runtimes=(mac,))), one])
    assert [runtime.name for runtime in merged.header.runtimes] == ["mine", "theirs"]
    assert [runtime.platform.system for runtime in merged.header.runtimes] == ["Linux", "Darwin"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"suite": Suite("0.2.0", "sha256:" + "1" * 64)}, 'suite.version differs: "0.1.0" and "0.2.0"'),
        ({"suite": Suite("0.1.0", "sha256:" + "9" * 64)}, "suite.digest differs"),
        ({"requirements": Measured("2026.2", "sha256:" + "2" * 64, "")}, "requirements.set differs"),
        ({"requirements": Measured("2026.1", "sha256:" + "3" * 64, "")}, "requirements.digest differs"),
        ({"requirements": Measured("2026.1", "sha256:" + "2" * 64, "sha256:" + "4" * 64)}, "requirements.own differs"),
        ({"strict": True}, "strict differs: false and true"),
    ],
)
def test_what_was_not_judged_alike_is_not_merged(report, record, check, changes, field):
    """Reports of different suites, requirements, cases or strictness are refused, by both files and the field."""
    judged = record(check("RET-301"))
    with pytest.raises(ReportError) as caught:
        merge([report(judged, where="a.jsonl"), report(judged, where="b.jsonl", **changes)])
    assert f"a.jsonl and b.jsonl: {field}" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"version": "1.2.4"}, 'version differs: "1.2.3" and "1.2.4"'),
        ({"digest": "sha256:" + "5" * 64}, "digest differs"),
        ({"wires": ("openai-chat",)}, "wires differs"),
        ({"platform": Platform("Linux", "x86_64", "3.12.0")}, "platform.python differs"),
    ],
)
def test_a_runtime_is_one_and_the_same(report, record, check, runtime, changes, field):
    """Reports of one name that are of two versions, profiles or machines are refused."""
    judged = record(check("RET-301"))
    one = report(judged, where="a.jsonl")
    other = report(judged, where="b.jsonl", runtimes=(runtime(**changes),))
    with pytest.raises(ReportError) as caught:
        merge([one, other])
    assert f"a.jsonl and b.jsonl: runtime mine: {field}" in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ({"status": "pass"}, {"status": "fail"}, "RET-301 differs: pass (MUST) and fail (MUST)"),
        ({"status": "fail"}, {"status": "fail", "known": "issue 12"}, "fail (MUST) and fail (MUST, known: issue 12)"),
        ({"level": "SHOULD"}, {}, "RET-301 differs: pass (SHOULD) and pass (MUST)"),
        ({"requirement": "RET-302"}, {}, "RET-301 differs: nothing and pass (MUST)"),
    ],
)
def test_verdicts_that_contradict_are_refused(report, record, check, first, second, words):
    """A case that two reports judged differently is named with both verdicts, never settled by whoever comes last."""
    one, other = (record(check(**{"requirement": "RET-301", **said}), status="fail") for said in (first, second))
    for reports in permutations((report(one, where="a.jsonl"), report(other, where="b.jsonl"))):
        with pytest.raises(ReportError, match="return/x on mine") as caught:
            merge(reports)
    with pytest.raises(ReportError) as caught:
        merge((report(one, where="a.jsonl"), report(other, where="b.jsonl")))
    assert words in str(caught.value)
    assert str(caught.value).startswith("a.jsonl and b.jsonl: ")


def test_outcomes_that_differ_are_refused(report, record, check):
    """The same verdicts on another outcome are not the same result; another order of its keys is."""
    one = record(check("RET-301"))
    other = {**one, "outcome": {"status": "failed", "value": "\ud800"}}
    turned = {**one, "outcome": {"value": "\ud800", "status": "success"}}
    assert len(merge([report(one), report(turned)]).cases) == 1
    with pytest.raises(ReportError, match="outcome differs"):
        merge([report(one), report(other)])


def test_wire_formats_that_were_judged_apart_are_compared(report, record, check):
    """Only together it can be seen that a case comes out differently by wire format; a strict run ends by that."""
    one = record(check("RET-301"))
    other = {**one, "wire": "anthropic-messages", "outcome": {"status": "failed"}}
    for strict, status in ((True, exits.WIRES_DISAGREE), (False, 0)):
        merged = merge([report(one, strict=strict), report(other, strict=strict)])
        assert merged.exit == status
        assert '"wires": {"compared": 1, "differing": 1}' in stream.text(merged)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([0, 5], 0),
        ([5, 5], 5),
        ([20, 0], 0),
        ([20, 5], 20),
        ([0, 1], 1),
        ([23, 21, 22, 0], 23),
        ([1, 23], 1),
        ([70, 23], 70),
    ],
)
def test_shards_end_as_the_run_would_have(statuses, expected):
    """An idle shard is made up for by one that earned something; what went wrong anywhere stays."""
    assert exits.together(statuses) == exits.together(reversed(statuses)) == expected
