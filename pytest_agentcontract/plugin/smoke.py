"""The smoke tier: the few cases by which a slow runtime is looked at first, `-m agent_contract_smoke`.

Each stands for a way in which runtimes that people use have been seen to fail. About fifteen apply to a runtime,
whether it has a return tool or its last message is the answer; what they leave out is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MARK: Final = "agent_contract_smoke"

SMOKE: Final[Mapping[str, str]] = {
    "integrity/faithful-text": "the answer arrives as it was said",
    "integrity/json-text-stays-a-string": "text that looks like JSON is not parsed",
    "integrity/empty-last-step": "success with nothing, or with an earlier step's words",
    "integrity/thin-sign-off": "a sign-off in place of the report",
    "integrity/several-steps": "the texts of several steps glued together",
    "integrity/broken-arguments": "broken arguments carried out after a repair",
    "integrity/tool-error-is-no-result": "a tool's error in place of the answer",
    "integrity/step-cap-is-no-success": "the step cap passed off as success",
    "integrity/lasting-fault-agrees": "status, result and exit code at odds after a fault",
    "integrity/child-answers": "a child's answer changed on its way to the parent",
    "integrity/child-without-report": "a child's earlier words passed off as its report",
    "integrity/structure-arrives-as-a-value": "a structure inside a string",
    "integrity/structure-never-given": "prose where a structure was asked for",
    "faults/answer/passing-overload": "a passing fault ends the run",
    "faults/answer/lasting-rejection": "a request that is refused for good looks like success",
    "faults/answer/cut-in-text-fin": "half of a cut stream glued onto the answer",
    "return/termination/reply-ends-the-run": "the reply is not the end",
    "return/termination/first-of-two-replies": "the last of two replies is taken",
    "return/no-reply/nudged-then-replies": "a forgotten reply is not nudged",
    "return/no-reply/never-replies": "prose passed off as the reply",
    "return/no-reply/endless-tool-calls": "no bound, or success at the bound",
    "return/payload/string-is-exact": "a string changed on its way",
    "return/payload/object-stays-an-object": "an object as the text of one",
    "return/payload/empty-string": "an empty reply taken for none",
    "return/rejection/broken-arguments": "a reply's broken arguments taken as the result",
    "return/rejection/schema-is-enforced": "what does not conform is accepted",
    "return/sub-agent/string-stands-raw": "a child's reply wrapped or changed",
    "return/sub-agent/child-never-replies": "a child without a reply looks like a success",
    "faults/reply/passing-overload": "a passing fault ends the run",
    "faults/reply/lasting-rejection": "a request that is refused for good looks like success",
    "faults/reply/cut-in-call-fin": "half of a cut reply taken for the whole",
}
"""A case -> the failure that it is there for."""
