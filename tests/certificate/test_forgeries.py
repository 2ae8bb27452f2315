"""Forged certificates: each is refused, for its own reason, also where the forger signs anew with a key of his own."""

from __future__ import annotations

import base64
import json
import re

import pytest

from pytest_agentcontract.certificate.packing import packed
from tests.certificate import made_up


def _first(lines, kind, **having):
    return next(line for line in lines if line["record"] == kind and all(line[key] == having[key] for key in having))


def _text(envelopes):
    return "".join(json.dumps(one, separators=(", ", ": ")) + "\n" for one in envelopes)


def _envelopes(forger, change):
    """Change the envelopes as they are, without signing anything."""
    found = forger.envelopes
    change(found)
    return _text(found)


def _payload(one, old, new):
    payload = base64.b64decode(one["payload"])
    assert old in payload
    one["payload"] = base64.b64encode(payload.replace(old, new, 1)).decode()


def _passing(line):
    line["status"] = "pass"


def _verdict_alone(forger):
    lines = made_up.lines(forger.report)
    _passing(_first(lines, "check", requirement="RET-303", status="fail"))
    return forger.holding(made_up.written(lines))


def _every_verdict(lines):
    for line in lines:
        if line.get("requirement") == "RET-303" and line["status"] == "fail":
            _passing(line)


def _better(lines):
    """Turn each failure into a pass, of the checks and of the cases."""
    for line in lines:
        if line["record"] in ("case", "check") and line["status"] in ("fail", "not-verified"):
            _passing(line)


def _case_gone(lines):
    """Take out the last case and its checks."""
    at = max(at for at, line in enumerate(lines) if line["record"] == "case")
    del lines[at:-1]


def _excused(lines):
    """Call what is not verified not applicable."""
    for line in lines:
        if line["record"] in ("case", "check") and line["status"] == "not-verified":
            line["status"] = "not-applicable"


def _made_up_case(lines):
    lines[-1:-1] = [{**_first(lines, "case", status="pass"), "case": "return/no-reply/always-passes"}]


def _header(**changes):
    def change(lines):
        for path, value in changes.items():
            *way, name = path.split("__")
            place = lines[0]
            for step in way:
                place = place[step] if step != "runtime" else place["runtimes"][0]
            place[name] = value

    return change


def _second_runtime(lines):
    lines[0]["runtimes"].append({**lines[0]["runtimes"][0], "name": "yours"})


def _claim(name, value):
    return lambda forger: forger.signing(lambda ours, _: ours["predicate"].update({name: value}))


def _counts(ours, _):
    ours["predicate"]["counts"]["MUST"]["failed"] = 0


def _verdicts(ours, _):
    verdicts = ours["predicate"]["verdicts"]["MUST"]
    verdicts["passed"], verdicts["failed"] = [*verdicts["passed"], *verdicts["failed"]], []


def _runtime(ours, _):
    ours["predicate"]["runtime"]["name"] = "yours"


def _other_digest(ours, result):
    for one in (ours, result):
        one["subject"][0]["digest"]["sha256"] = "0" * 64


def _test_result(_, result):
    result["predicate"].update(result="PASSED")


def _no_failures(_, result):
    result["predicate"].update(failedTests=[])


def _old_report(forger):
    """Put a report of better times in, and name it as the subject."""
    before = made_up.report(forger.profile)
    return forger.signing(lambda ours, _: ours["predicate"]["report"].update(content=packed(before)))


def _other_signer(found):
    raw = "MCowBQYDK2VwAyEAG8JSvgc0+IcpKVpRkmy8xyy8hQ2OV/17m6uUZFobtfI="
    pem = f"-----BEGIN PUBLIC KEY-----\n{raw}\n-----END PUBLIC KEY-----\n"
    statement = json.loads(base64.b64decode(found[0]["payload"]))
    statement["predicate"]["signer"]["publicKey"] = pem
    found[0]["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()


def _spare_bits(found):
    sig = found[0]["signatures"][0]["sig"]
    assert sig.endswith("==")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    found[0]["signatures"][0]["sig"] = f"{sig[:-3]}{letters[letters.index(sig[-3]) ^ 1]}=="


def _gzip(forger, change):
    content = change(base64.b64decode(forger.said[0]["predicate"]["report"]["content"]))
    text = base64.b64encode(content).decode()
    return forger.signing(lambda ours, _: ours["predicate"]["report"].update(content=text))


def _payloads(forger):
    return [base64.b64decode(one["payload"]).decode() for one in forger.envelopes]


def _in_payload(old, new):
    def forge(forger):
        first, second = _payloads(forger)
        assert old in first
        return forger.sealed(first.replace(old, new, 1), second)

    return forge


FORGERIES = {
    "a verdict edited in the report": (_verdict_alone, "holds other lines than its footer counts"),
    "a verdict edited and counted anew": (
        lambda f: f.holding(made_up.changed(f.report, _every_verdict)),
        "lists other verdicts than its report holds",
    ),
    "all verdicts edited, claims left": (
        lambda f: f.holding(made_up.changed(f.report, _better)),
        "claims another level than its report gives",
    ),
    "a case dropped": (
        lambda f: f.holding(made_up.written(made_up.lines(f.report)[:-4] + made_up.lines(f.report)[-1:])),
        "holds other lines than its footer counts",
    ),
    "a case dropped, counted anew, and not said to be left out": (
        lambda f: f.deriving(made_up.changed(f.report, _case_gone), left_out=0),
        r"tells of another run.*casesLeftOut is 0, where 1 follows",
    ),
    "a check dropped and counted anew": (
        lambda f: f.changing(lambda lines: lines.remove(_first(lines, "check", status="pass"))),
        "says nothing of .*, which it judges",
    ),
    "a case made up": (lambda f: f.changing(_made_up_case), "always-passes, which the suite has no case of"),
    "the footer dropped": (lambda f: f.holding(made_up.written(made_up.lines(f.report)[:-1])), "has no footer"),
    "the header dropped": (lambda f: f.holding(made_up.written(made_up.lines(f.report)[1:])), "begins with no header"),
    "the stream cut": (lambda f: f.holding(f.report[:-200]), "not JSON"),
    "the packed report cut": (lambda f: _gzip(f, lambda content: content[:-20]), "cut short"),
    "something behind the packed report": (lambda f: _gzip(f, lambda content: content + b"x"), "stands behind it"),
    "no packed report": (lambda f: _gzip(f, lambda _: b"report"), "can't be unpacked"),
    "other code of the suite": (
        lambda f: f.changing(_header(suite__digest="sha256:" + "1" * 64)),
        "has other code or cases here",
    ),
    "other cases": (
        lambda f: f.changing(_header(requirements__digest="sha256:" + "1" * 64)),
        "has other code or cases here",
    ),
    "requirements of another set": (
        lambda f: f.holding(made_up.changed(f.report, _header(requirements__set="1999.1"))),
        "requirements that are not known here",
    ),
    "a suite that bites better": (
        lambda f: f.changing(_header(release__mutants=999)),
        "says 999 of the suite's mutants",
    ),
    "a claim taken back": (
        lambda f: f.changing(_header(runtime__capabilities=["headless", "root-return"])),
        "says other capabilities of mine than its profile",
    ),
    "the suite's own": (lambda f: f.changing(_header(runtime__embedded=True)), "says that mine is of the suite's own"),
    "a version edited in the report": (
        lambda f: f.holding(made_up.changed(f.report, _header(runtime__version="9.9"))),
        "speaks of another runtime than its report",
    ),
    "evidence edited": (
        lambda f: f.holding(f.report.replace(b'"observed": "none"', b'"observed": "some"', 1)),
        "names another report than the one that it holds",
    ),
    "two runtimes": (
        lambda f: f.holding(made_up.changed(f.report, _second_runtime)),
        r"is about 2 runtimes \(mine, yours\)",
    ),
    "an old report": (_old_report, "names another report than the one that it holds"),
    "another subject": (lambda f: f.signing(_other_digest), f"names another report .* \\[\\{{.*{'0' * 20}"),
    "not verified turned to not applicable": (
        lambda f: f.changing(_excused),
        "says that RET-304 does not apply, which it does by the profile",
    ),
    "counts changed": (lambda f: f.signing(_counts), "counts other verdicts than its report holds: .*failed is 0"),
    "verdicts moved": (lambda f: f.signing(_verdicts), "lists other verdicts than its report holds"),
    "the level raised": (
        _claim("level", {"name": "conformant", "reasons": []}),
        'claims another level than its report gives: /predicate/level/name is "conformant"',
    ),
    "the summary rewritten": (_claim("summary", "All is well."), "tells something else than its report"),
    "known failures hidden": (_claim("knownFailures", []), "hides known failures"),
    "more established": (_claim("doesNotEstablish", []), "says otherwise what it does not establish"),
    "certified by somebody": (_claim("assessment", "certified"), "something else than self-assessed"),
    "made at no time": (_claim("made", "yesterday"), "was made at no time: 'yesterday'"),
    "a field more": (_claim("approvedBy", "the board"), "says what does not belong there: /predicate/approvedBy"),
    "another runtime": (lambda f: f.signing(_runtime), 'another runtime than its report: .*name is "yours"'),
    "the test result raised": (lambda f: f.signing(_test_result), 'claims another result .* is "PASSED"'),
    "failed tests hidden": (lambda f: f.signing(_no_failures), "lists other failed requirements than its report"),
    "statements swapped": (lambda f: _text(f.envelopes[::-1]), "predicateType is .*test-result"),
    "another predicate type": (
        _in_payload("urn:agent-contract:certificate:v1", "urn:agent-contract:certificate:v2"),
        "predicateType is 'urn:agent-contract:certificate:v2'",
    ),
    "another kind of statement": (_in_payload("Statement/v1", "Statement/v0"), "is no in-toto statement of version 1"),
    "a key twice in a statement": (
        _in_payload('{"_type"', '{"_type": "", "_type"'),
        "no JSON: the key '_type' stands twice",
    ),
    "not a number": (_in_payload('"casesLeftOut": 0', '"casesLeftOut": NaN'), "NaN is no JSON number"),
    "a statement edited": (
        lambda f: _envelopes(f, lambda found: _payload(found[0], b'"exit": 1', b'"exit": 0')),
        "signature of the first statement does not match",
    ),
    "a test result edited": (
        lambda f: _envelopes(f, lambda found: _payload(found[1], b"FAILED", b"PASSED")),
        "signature of the second statement does not match",
    ),
    "another signer named": (lambda f: _envelopes(f, _other_signer), "envelope names the key .* another signer"),
    "a signature of something else": (
        lambda f: _envelopes(f, lambda found: found[0].update(signatures=found[1]["signatures"])),
        "signature of the first statement does not match",
    ),
    "a signature more": (
        lambda f: _envelopes(f, lambda found: found[0]["signatures"].append(found[1]["signatures"][0])),
        "exactly one signature",
    ),
    "no signature": (lambda f: _envelopes(f, lambda found: found[0].update(signatures=[])), "exactly one signature"),
    "another payload type": (
        lambda f: _envelopes(f, lambda found: found[0].update(payloadType="text/plain")),
        "payloadType is 'text/plain'",
    ),
    "junk in base64": (
        lambda f: _envelopes(
            f, lambda found: found[0].update(payload=found[0]["payload"][:8] + "\n" + found[0]["payload"][8:])
        ),
        "payload is no base64",
    ),
    "spare bits of base64": (lambda f: _envelopes(f, _spare_bits), "not the base64 of its bytes"),
    "a key twice in an envelope": (
        lambda f: f.text.replace('{"payload"', '{"payload": "", "payload"', 1),
        "the key 'payload' stands twice",
    ),
    "a field more in an envelope": (
        lambda f: _envelopes(f, lambda found: found[0].update(note="x")),
        "a field that there is none of: note",
    ),
    "a field less in an envelope": (
        lambda f: _envelopes(f, lambda found: found[0]["signatures"][0].pop("keyid")),
        "a signature lacks keyid",
    ),
    "written otherwise": (lambda f: f.text.replace('{"payload"', '{ "payload"', 1), "written in another way"),
    "a line more": (lambda f: f.text + f.text.splitlines()[0] + "\n", "has not 2 lines"),
    "a line less": (lambda f: f.text.splitlines()[0] + "\n", "has not 2 lines"),
    "no text": (lambda f: b"\xff" + f.text.encode(), "no text in UTF-8"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused_for_its_own_reason(forger, verified, name):
    """Whatever was changed is named, whether or not the forger signed it."""
    forge, reason = FORGERIES[name]
    reasons = verified(forge(forger)).reasons
    assert any(re.search(reason, one) for one in reasons), reasons


def test_a_forger_who_changes_nothing_has_a_good_certificate(forger, verified):
    """What the other tests find is what they changed: signing anew alone is refused only where the signer is known."""
    assert verified(forger.signing(lambda _ours, _result: None)).reasons == ()
    assert verified(forger.deriving(forger.report)).reasons == ()


def test_a_report_made_up_consistently_is_caught_by_the_key_alone(forger, key, verified):
    """No signature proves that a run took place. Who knows the signer's key refuses what another key signed."""
    better = forger.changing(_better)
    assert verified(better).reasons == ()
    (reason,) = verified(better, key.public).reasons
    assert reason.startswith(f"is signed by the key {forger.key.public.keyid}, and not by the expected one")
