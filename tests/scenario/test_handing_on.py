"""Hand-offs without a sentinel, as they are written: the order in a case, the tool and the agents in a profile."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract import resources
from pytest_agentcontract.errors import CaseError, ProfileError
from pytest_agentcontract.scenario.load_case import load_case
from pytest_agentcontract.scenario.load_profile import load_profiles

ORDER = ["root", "helper"]
PROFILE = """
[runtimes.mine]
driver = "command"
modes.json = ["mine", "{prompt}"]
wires.openai-chat = {env = {URL = "{base_url}"}}
tools.work = {name = "sh", arguments = {code = "touch {mark}"}}
tools.handoff = {name = "go_to", arguments = {who = "{agent}"}}
attribution = "model"
agents = {root = "r", helper = "h"}
capabilities = ["headless", "transfer"]
"""


@pytest.fixture
def case(tmp_path):
    """Return a function that writes a case with a transfer, and loads it."""

    def load(route, **call):
        handoff = {"tool": "$handoff", "agent": "helper"} | call
        document = {
            "title": "t",
            "why": "w",
            "covers": ["HND-301"],
            "given": {"prompt": "Go."},
            "script": {"root": [{"calls": [handoff]}], "helper": [{"text": "Done."}]},
            "expect": {"route": route},
        }
        path = tmp_path / "case.json"
        path.write_text(json.dumps(document))
        return load_case(path)

    return load


@pytest.fixture
def profile(tmp_path):
    """Return a function that writes a profile with a piece replaced, and loads it."""

    def load(old="", new=""):
        path = tmp_path / "agent-contract.toml"
        path.write_text(PROFILE.replace(old, new) if old else PROFILE)
        return load_profiles(path)["mine"]

    return load


@pytest.mark.parametrize("order", [ORDER, {"begins": ORDER}, {"any_of": [ORDER, ["root"]]}])
def test_a_transfer_and_the_order_that_comes_of_it(case, order):
    """The order stands in the one entry of the route, and the need follows from the call."""
    loaded = case([{"covers": ["HND-301"], "order": order, "unfinished": []}])
    assert loaded.needs == {"headless", "transfer"}
    assert loaded.expect.route[0].fields == {"order": order, "unfinished": []}


@pytest.mark.parametrize(
    ("route", "complaint"),
    [
        ([{"order": ORDER}, {"order": ORDER}], "is one invocation"),
        ([{"unfinished": []}], "`order` is never left out"),
        ([{"order": ORDER, "next": "helper"}], "is one invocation, of `order` and `unfinished`"),
        ([{"order": ["root", "nobody"]}], "no agent nobody has a script"),
        ([{"order": {"begins": ["root", "nobody"]}}], "no agent nobody has a script"),
        ([{"order": {"any_of": [ORDER, ["root", "nobody"]]}}], "no agent nobody has a script"),
        ([{"order": ["helper", "root"]}], "begins with `root`"),
        ([{"order": ["root", "root"]}], "no agent follows itself"),
        ([{"order": "root"}], "order"),
        ([{"order": []}], "order"),
        ([{"order": {"ends": ORDER}}], "order"),
        ([{"order": ORDER, "unfinished": "helper"}], "unfinished"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(case, route, complaint):
    """What no run can come to is told before anything runs."""
    with pytest.raises(CaseError, match=complaint):
        case(route)


def test_a_workflow_is_known_by_what_its_engine_posts(tmp_path):
    """One invocation of an engine runs at most one agent, so that an order says nothing there."""
    document = json.loads((resources.cases() / "handoff/callback/named.json").read_text("utf-8"))
    document["expect"]["route"][0]["order"] = ["issue"]
    path = tmp_path / "case.json"
    path.write_text(json.dumps(document))
    with pytest.raises(CaseError, match="are of a run without a workflow"):
        load_case(path)


def test_a_transfer_names_an_agent_of_the_script_or_says_that_nobody_offers_it(case):
    """A misspelt agent is no case of an unknown one."""
    with pytest.raises(CaseError, match="hands over to 'helpers', which has no script"):
        case([{"order": ["root"]}], agent="helpers")
    assert case([{"order": ["root"]}], agent="helpers", unadvertised=True)


def test_a_tool_by_name_or_by_argument(profile):
    """One tool for each agent, or one for all, with the agent among its arguments."""
    assert profile().tools["handoff"].arguments == {"who": "{agent}"}
    assert profile('{name = "go_to", arguments = {who = "{agent}"}}', '{name = "to_{agent}"}').tools["handoff"].name


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        ('{who = "{agent}"}', "{}", "tools.handoff", "it would name nobody"),
        (
            'tools.handoff = {name = "go_to", arguments = {who = "{agent}"}}\n',
            "",
            "capabilities",
            "needs tools.handoff",
        ),
        ('attribution = "model"\n', "", "capabilities", "needs another attribution than"),
        ('"transfer"]', '"agents-as-tools"]', "capabilities", "needs tools.spawn"),
        ('"{prompt}"]', '"{prompt}", "{agent}"]', "modes.json", "{agent} means nothing here"),
    ],
)
def test_a_claim_that_nothing_supports_is_refused(profile, old, new, place, said):
    """A profile that could not be judged is told what it lacks."""
    with pytest.raises(ProfileError) as error:
        profile(old, new)
    assert place in str(error.value)
    assert said in str(error.value).replace("{{", "{")
