"""A report as a page of HTML: what stands in it, and that strangers' texts stay texts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.report import level, standing
from pytest_agentcontract.report.header import measured_by
from pytest_agentcontract.report.page import details
from pytest_agentcontract.report.page.making import MARK, page
from pytest_agentcontract.report.values import Measured

NUDGED = "return/no-reply/nudged-then-replies"
EVIL = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`&{{ 7*7 }}{% raw %}\x00\ud800\u202e\u2028]]>-->"
)
LEDGER = requirements.load()


class _Elements(HTMLParser):
    """The elements of a page with their attributes, and the texts of its scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found, self.inside = [], {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.found:
            tag, attributes = self.found[-1]
            if tag in ("script", "style") and data.strip():
                self.inside.setdefault((tag, attributes.get("type", "")), data)


def _data(text):
    return json.loads(_Elements(text).inside["script", "application/json"])


def _current():
    return Measured("2026.1", measured_by(), "")


def test_each_requirement_has_a_cell_for_each_runtime(report, record, check):
    """With its word, whether it was judged or not; not-verified and not-applicable are told apart."""
    records = [
        record(check("RET-301"), check("RET-302", "not-verified", why="never nudged"), runtime="one", status="fail"),
        record(check("RET-301", "fail", known="issue 12"), runtime="two", status="known"),
        record(check("RET-302", "not-applicable"), runtime="two", case="return/y", status="not-applicable"),
    ]
    text = page(report(*records))
    cells = dict(re.findall(r'<a href="#([A-Z]+-\d+)">\1</a>.*?</th>\n((?:<td.*?</td>\n)+)', text))
    assert list(cells) == list(LEDGER)
    words = {
        row: re.findall(r"<td class=\"[\w-]+\"><a href=\"#[\w-]+\">(.*?)</a>", found) for row, found in cells.items()
    }
    assert words["RET-301"] == ["pass", "baselined"]
    assert words["RET-302"] == ["not-verified", "not-applicable"]
    assert words["RET-303"] == ["not judged", "not judged"]


def test_a_runtime_is_summed_up_in_words(report, record, check):
    """By its level, as a certificate names it, and what keeps it from the highest."""
    records = [
        record(check("RET-301", "fail"), runtime="bad", status="fail"),
        record(check("RET-301", "not-applicable"), runtime="few", status="not-applicable"),
    ]
    made = report(*records)
    rows = standing.rows(made, LEDGER)
    levels = re.findall(r'<span class="level">(.*?)</span>', page(made))
    assert levels == [level.of(made, one, rows, LEDGER).sentence for one in made.header.runtimes]
    assert levels[0].startswith("not conformant: 1 MUST broken; ")
    assert levels[1].startswith("nothing verified: ")


def test_the_policy_knows_what_is_ours(report, record, check):
    """One script and one style, by their digests; nothing is loaded, and no attribute is code."""
    text = page(report(record(check("RET-301"))))
    elements = _Elements(text)
    [policy] = [one["content"] for _, one in elements.found if one.get("http-equiv") == "Content-Security-Policy"]
    digests = {
        tag: base64.b64encode(hashlib.sha256(elements.inside[tag, ""].encode()).digest()).decode()
        for tag in ("script", "style")
    }
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digests['script']}'; style-src 'sha256-{digests['style']}';" in policy
    assert "unsafe" not in policy
    for _, attributes in elements.found:
        assert not {"style", "src", "srcset", "action"} & attributes.keys()
        assert [name for name in attributes if name.startswith("on")] == []
        assert attributes.get("href", "#").startswith("#")
    script = elements.inside["script", ""].replace("http://www.w3.org/2000/svg", "")
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|fetch\(|https?:", script)
        == []
    )


@pytest.fixture
def hostile(report, record, check, runtime):
    """Return a report in which every text of a stranger is hostile."""
    run = {"ended": "exited", "account": "success", "exit": None, "stdout": EVIL}
    seen = {
        "exchanges": [{"kind": "turn", "agent": EVIL, "asks": EVIL, "says": EVIL, "calls": [[EVIL, EVIL]]}],
        "run": run,
    }
    made = record(
        check("RET-301", "fail", expected=EVIL, observed=EVIL + "x" * 1_000_000, why=EVIL),
        check(EVIL, "fail", known=EVIL),
        case=f"own/{EVIL}",
        runtime=EVIL,
        status="fail",
        wire=EVIL,
        why=EVIL,
    )
    made |= {"warnings": [EVIL], "reproduce": EVIL, "outcome": {EVIL: EVIL}, "seen": seen}
    return report(made, runtimes=(runtime(EVIL, EVIL, driver=EVIL, wires=(EVIL,)),))


def test_hostile_texts_stay_texts(hostile):
    """They open no element, end no script, and hold nothing that hides or can't be written."""
    text = page(hostile)
    text.encode()
    elements = _Elements(text)
    assert [tag for tag, _ in elements.found].count("script") == 2
    assert "img" not in [tag for tag, _ in elements.found]
    assert not set("\x00\u202e\u2028") & set(text)
    assert "alert(1)" not in elements.inside["script", ""]
    assert "49}}" not in text
    assert len(text) < 300_000
    found = _data(text)
    assert not set("\x00\ud800\u202e\u2028") & set(json.dumps(found, ensure_ascii=False))
    assert found["runtimes"][0]["name"].startswith("</script><script>alert(1)</script>")
    assert "\\u0000\\ud800\\u202e\\u2028" in found["runtimes"][0]["name"]


def test_the_same_report_makes_the_same_page(report, record, check):
    """To the byte, and its first line tells whose it is."""
    made = report(record(check("RET-301", "fail"), status="fail"))
    assert page(made) == page(made)
    assert page(made).splitlines()[0] == MARK


def test_what_is_the_same_is_said_once(report, record, check):
    """Wire formats that agree share an entry; what lies behind a pass is not there."""
    records = [
        record(check("RET-301", observed=f"seen {wire}"), case=NUDGED, wire=wire)
        for wire in ("anthropic-messages", "openai-chat")
    ]
    data = _data(page(report(*records)))
    [[entry]] = data["found"]
    assert entry[1:3] == [[0, 1], "pass"]
    assert "seen" not in json.dumps(data)


def test_a_shipped_case_brings_its_script(report, record, check):
    """Where the report was judged by the cases that are installed; else nobody knows what its cases said."""
    made = record(check("RET-301"), case=NUDGED)
    [case] = _data(page(report(made, requirements=_current())))["cases"]
    assert [(step["agent"], step["turn"]) for step in case["steps"]] == [("root", 1), ("root", 2), ("root", 3)]
    assert case["steps"][1]["says"]
    assert case["expects"]["status"] == "success"
    [case] = _data(page(report(made)))["cases"]
    assert "steps" not in case


def test_runs_that_do_not_fit_are_told(report, record, check, monkeypatch):
    """Each case keeps one before any keeps a second; what is left out is known to be."""
    run = {"ended": "exited", "account": "success", "exit": 0}
    seen = {"exchanges": [{"kind": "turn", "agent": "root", "says": "x" * 200}], "run": run}
    records = [
        {**record(check("RET-301", "fail"), case=f"own/{at}", wire=wire, status="fail"), "seen": seen}
        for at in range(3)
        for wire in ("anthropic-messages", "openai-chat")
    ]
    monkeypatch.setattr(details, "RUNS", 4 * len(json.dumps(seen)))
    [entries] = _data(page(report(*records)))["found"]
    runs = {(entry[0], wire): entry[7] for entry in entries for wire in entry[1]}
    assert [runs[at, 0] > 0 for at in range(3)] == [True] * 3
    assert [runs[at, 1] > 0 for at in range(3)] == [True, False, False]
    assert runs[2, 1] == -1


def test_the_command_is_that_of_the_report(report, record, check):
    """Case, runtime and wire format are taken out of it, and come back the same."""
    node = (
        "pytest 'agent-contract::return::no-reply/nudged-then-replies[mine-openai-chat]' --agent-contract-runtime=mine"
    )
    data = _data(page(report({**record(check("RET-301"), case=NUDGED), "reproduce": node})))
    template = data["texts"][data["found"][0][0][6]]
    assert template == "pytest 'agent-contract::return::{case}[{runtime}-{wire}]' --agent-contract-runtime={runtime}"
    parts = {"{case}": "no-reply/nudged-then-replies", "{runtime}": "mine", "{wire}": "openai-chat"}
    for place, part in parts.items():
        template = template.replace(place, part)
    assert template == node


def test_evidence_stands_on_the_page_without_a_script(report, record, check):
    """Two examples for each runtime, failures first, and how many more there are."""
    records = [
        record(check("RET-301", "fail", observed=f"sign {at}"), case=f"own/{at}", status="fail") for at in range(5)
    ]
    text = page(report(*records))
    behind = text[text.index('class="behind"') : text.index("<footer>")]
    assert re.findall(r"<q>(sign \d)</q>", behind) == ["sign 0", "sign 1"]
    assert "and 3 more" in behind
