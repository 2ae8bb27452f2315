"""Broken streams, where the habits of the runtime end a run after the fault is over, on runs played by hand."""

from __future__ import annotations

import pytest

TORN = {
    "script": {
        "root": [
            {"calls": [{"tool": "$work", "mark": "w"}]},
            {"text": "FRAGMENT and more", "fault": {"cut_after_deltas": 2}},
            {"calls": [{"tool": "$return", "value": "R"}]},
        ]
    },
    "expect": {"result": {"status": "success", "value": "R"}, "stray": ["FRAGMENT"]},
}


@pytest.mark.parametrize("result", [None, "", "FRAGMENT and more"])
def test_a_text_that_came_whole_and_ended_the_run_says_nothing_of_fragments(scene, found, result):
    """It was asked for again and came whole: that it ends a run without a reply is for other requirements to say."""
    whole = scene(TORN).root().root(kind="fault").root(retry=True)
    assert found("FLT-103", whole.success(result)).status == "not-verified"


@pytest.mark.parametrize("result", [None, ""])
def test_an_empty_success_right_after_a_cut_is_not_the_whole_answer(scene, found, result):
    """Nothing was asked for again, so the cut is what ended the run."""
    assert found("FLT-103", scene(TORN).root().root(kind="fault").success(result)).status == "fail"


def test_a_fragment_is_a_fragment_although_the_text_came_whole_later(scene, found):
    """What was cut must not be the result, whatever was asked afterwards."""
    kept = scene(TORN).root().root(kind="fault").root(retry=True).success("FRAGMENT a")
    assert found("FLT-103", kept).status == "fail"
