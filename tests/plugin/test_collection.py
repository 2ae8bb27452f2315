"""The suite among pytest's items: ids, selection, other plugins."""

from __future__ import annotations

import gc
from itertools import groupby
from xml.etree import ElementTree as ET

import pytest

from pytest_agentcontract.plugin import bench
from pytest_agentcontract.scenario.load_case import shipped

NUDGED = "agent-contract::return::no-reply/nudged-then-replies"
WIRES = ("anthropic-messages", "openai-chat", "openai-responses", "gemini-generate")
ITEM = f"{NUDGED}[reference-openai-chat]"


def test_a_case_is_an_item_per_wire_format(run, verdicts):
    """The id is the case's path below its contract, with runtime and wire format in brackets."""
    result = run("--agent-contract", "--co", "-q", "-k", "nudged-then-replies")
    assert [line for line in result.outlines if "::" in line] == [f"{NUDGED}[reference-{wire}]" for wire in WIRES]
    assert result.ret == 0


def test_alone_only_the_suite_runs(judge, pytester):
    """The flag alone leaves the user's tests out."""
    pytester.makepyfile("def test_mine_is_an_empty_finish(): raise RuntimeError")
    judge().assert_outcomes(passed=2)


def test_with_testpaths_alone_still_means_alone(judge, pytester):
    """Configured `testpaths` are no paths on the command line."""
    pytester.makeini("[pytest]\ntestpaths = .\n")
    pytester.makepyfile("def test_mine_is_an_empty_finish(): raise RuntimeError")
    judge().assert_outcomes(passed=2)


def test_with_paths_both_run(judge, pytester):
    """A path on the command line brings the user's tests in."""
    path = pytester.makepyfile("def test_mine(): pass")
    judge(path, select="empty-finish or nudged-then-replies or mine").assert_outcomes(passed=3)


def test_garbage_is_collected_less_while_items_run(judge, monkeypatch):
    """What collection has made is frozen meanwhile, and everything is afterwards as it was before."""
    before, seen = (gc.get_threshold(), gc.get_freeze_count()), []
    answer = bench.run_case

    def noting(*args, **options):
        seen.append((gc.get_threshold()[0] > before[0][0], gc.get_freeze_count() > before[1]))
        return answer(*args, **options)

    monkeypatch.setattr(bench, "run_case", noting)
    judge().assert_outcomes(passed=2)
    assert seen == [(True, True)] * 2
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


NO_REPLY = sum(case.group == "return/no-reply" for case in shipped())


@pytest.mark.parametrize(
    ("argument", "count"),
    [(ITEM, 1), (NUDGED, len(WIRES)), ("agent-contract::return::no-reply", NO_REPLY * len(WIRES))],
)
def test_a_node_id_selects(run, verdicts, argument, count):
    """An id on the command line is enough: the whole of it, a case, or a folder of cases."""
    run(argument).assert_outcomes(passed=count)


def test_a_node_id_beside_a_path(run, verdicts, pytester):
    """A node id of the suite and a path of the user's go together."""
    path = pytester.makepyfile("def test_mine(): pass")
    run(ITEM, path).assert_outcomes(passed=2)


def test_an_unknown_node_id_is_told_with_near_ones(run, verdicts):
    """A misspelt case is one clear error that names what was probably meant."""
    result = run("agent-contract::return::no-reply/nudged-then-replys")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: no case matches *nudged-then-replys", f"*Did you mean {NUDGED}*"])


def test_a_folder_of_that_name_is_the_users(run, pytester):
    """A folder called agent-contract is a path like any other."""
    folder = pytester.mkdir("agent-contract")
    (folder / "test_mine.py").write_text("def test_mine(): pass\n", "utf-8")
    run("agent-contract").assert_outcomes(passed=1)


def test_an_empty_selection_is_an_error(judge):
    """Nothing selected is never green, and the last line says so."""
    result = judge(select="there_is_no_such_case")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert result.outlines[-1] == "agent contract: nothing was judged (reference)"


def test_an_empty_selection_beside_tests_of_the_user_is_an_error(judge, pytester):
    """Green tests of the user's don't make up for a suite that judged nothing."""
    path = pytester.makepyfile("def test_only_mine(): pass")
    result = judge(path, select="test_only_mine")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_the_marker_selects_the_suite(run, verdicts, pytester):
    """`-m agent_contract` tells the suite's items from the user's."""
    path = pytester.makepyfile("def test_mine(): pass")
    result = run("--agent-contract", path, "-m", "not agent_contract")
    result.assert_outcomes(passed=1)


def test_last_failed_and_stop_at_the_first(judge, verdicts):
    """`-x` stops at the first failing case, and `--lf` runs only the failed ones."""
    verdicts["return/no-reply/empty-finish"] = verdicts["return/no-reply/nudged-then-replies"] = ("fail",)
    judge("-x").assert_outcomes(failed=1)
    judge("--lf").assert_outcomes(failed=1)


def test_fixtures_of_a_root_conftest_apply(judge, pytester):
    """An autouse fixture of the root conftest runs around each case, a module-scoped one around each contract."""
    pytester.makeconftest(
        "import pytest\n"
        "@pytest.fixture(autouse=True, scope='module')\ndef around_all(): print('MODULE')\n"
        "@pytest.fixture(autouse=True)\ndef around_each(): print('EACH')\n"
    )
    result = judge("-s")
    result.assert_outcomes(passed=2)
    assert "\n".join(result.outlines).count("EACH") == 2
    assert "\n".join(result.outlines).count("MODULE") == 1


def test_random_order(pytester, verdicts):
    """A plugin that shuffles items doesn't mind these."""
    result = pytester.runpytest_inprocess(
        "-p", "randomly", "--agent-contract", "-k", "nudged-then-replies or empty-finish"
    )
    result.assert_outcomes(passed=8)


def test_junit_carries_the_verdicts(judge, verdicts, pytester):
    """Case, runtime, wire format and every verdict stand in the XML as properties."""
    verdicts["return/no-reply/empty-finish"] = ("pass", "fail")
    judge("--junitxml", "out.xml", select="empty-finish")
    xml = (pytester.path / "out.xml").read_text("utf-8")
    for name, value in (
        ("case", "return/no-reply/empty-finish"),
        ("runtime", "reference"),
        ("wire", "openai-chat"),
        ("verdict", "fail"),
        ("RET-301", "pass"),
        ("RET-302", "fail"),
    ):
        assert f'<property name="agent_contract.{name}" value="{value}"' in xml


def test_junit_names_do_not_depend_on_order_or_workers(pytester):
    """Who follows a case or a requirement over builds finds it by its name: in random order and under xdist, too."""
    cases = [f"agent-contract::return::no-reply/{name}" for name in ("empty-finish", "nudged-then-replies")]
    found = []
    for options in (["-p", "no:randomly"], ["-p", "randomly", "-p", "xdist", "-n", "2"]):
        pytester.runpytest_subprocess("--agent-contract", "--junitxml=out.xml", *cases, *options)
        suite = ET.parse(pytester.path / "out.xml")  # noqa: S314 - pytest's own
        found.append(
            {
                (one.get("classname"), one.get("name")): {p.get("name"): p.get("value") for p in one.iter("property")}
                for one in suite.iter("testcase")
            }
        )
    assert found[0] == found[1]
    assert len(found[0]) == 8
    named = found[0]["agent-contract.return", "no-reply/empty-finish[reference-openai-chat]"]
    assert named["agent_contract.RET-301"] == "pass"


VECTOR = "agent-contract::handoff::vectors/routing/hold/edge/none"


def test_a_vector_is_an_item_per_runtime(run, verdicts):
    """It belongs to no wire format, and is there whichever is judged."""
    result = run("--agent-contract", "--agent-contract-wire", "openai-chat", "--co", "-q", VECTOR)
    assert [line for line in result.outlines if "::" in line] == [f"{VECTOR}[reference]"]


def test_the_items_of_a_contract_stand_together(run, verdicts):
    """Cases and vectors of the hand-off contract are one group."""
    result = run("--agent-contract", "--co", "-q")
    groups = [line.split("::")[1] for line in result.outlines if line.startswith("agent-contract::")]
    assert [contract for contract, _ in groupby(groups)] == sorted(set(groups))


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("agent-contract::retur", "agent-contract::return?"),
        ("agent-contract::return::no-repl", "agent-contract::return::no-reply"),
        ("agent-contract::return::no-reply/nudged-then-reply", "nudged-then-replies?"),
    ],
)
def test_a_node_id_that_is_none_is_told_with_near_ones(run, wrong, meant):
    """Near names are sought among groups, folders or cases: whatever the wrong one is."""
    result = run(wrong)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: no case matches {wrong}", f"*Did you mean *{meant}*"])


def test_vectors_are_left_out_where_nobody_could_answer(run):
    """A runtime without the operations is not asked 1303 times; a vector that is named is an item all the same."""
    collect = ("--agent-contract-runtime=reference-tool-less", "--collect-only", "-q")
    assert not any("vectors/" in line for line in run("--agent-contract", *collect).outlines)
    named = run("agent-contract::handoff::vectors/routing", *collect).outlines
    assert any("vectors/routing/" in line for line in named)
