"""Every exception of this project; each says what is wrong, where, and the next step.

    AgentContractError
    ├── UsageError          an option, a selection or a name that can't be meant
    ├── DataError           a file of the user's is wrong (names file and place)
    │   ├── CaseError           a case file
    │   ├── ScriptError         a script, written in Python or in a file
    │   ├── ProfileError        agent-contract.toml or a profile
    │   ├── BaselineError       a baseline file
    │   ├── HandoffError        a workflow, a thread or an event of a hand-off
    │   ├── ReportError         a report file
    │   ├── CertificateError    a certificate that is none, or is refused
    │   └── CassetteError       a cassette, or the journal of a recording
    ├── WireError           a request or an answer that is none of its wire format
    ├── DriverError         the runtime could not be started or observed
    ├── ProviderError       the scripted provider could not be started
    └── ScriptViolation     a test of the user's did not go as its script says; an AssertionError, too

A violation of a contract is a verdict, never an exception.
"""

from __future__ import annotations


class AgentContractError(Exception):
    """The base of all: never raised itself. `str()` is what the user reads: what, where, remedy."""

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.remedy = what, where, remedy

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}\n  {self.remedy}" if self.remedy else head


class UsageError(AgentContractError):
    """An option, a selection or a name that can't be meant."""


class DataError(AgentContractError):
    """A file of the user's is wrong; `where` names the file and the place in it."""


class CaseError(DataError):
    """A case file is wrong."""


class ScriptError(DataError):
    """A script can't be played; `where` names the place in it."""


class ProfileError(DataError):
    """A profile, or the agent-contract.toml around it, is wrong."""


class BaselineError(DataError):
    """A baseline file is wrong, or holds entries that match nothing."""


class HandoffError(DataError):
    """A workflow, a comment of a thread or an event is wrong, or they don't belong together."""


class ReportError(DataError):
    """A report is incomplete, or is no report."""


class CertificateError(DataError):
    """A certificate can't be read, can't be made of what is there, or is not to be trusted."""


class CassetteError(DataError):
    """A cassette or its journal can't be read, or must not be written: it would hold a secret, or nothing whole."""


class WireError(AgentContractError):
    """A request or an answer is none of its wire format; `where` is a JSON pointer into its body."""


class DriverError(AgentContractError):
    """The runtime could not be started or observed: the bench is at fault, or its set-up, not a contract."""


class ProviderError(AgentContractError):
    """The scripted provider could not be started."""


class ScriptViolation(AgentContractError, AssertionError):  # noqa: N818 - it is what a test found, not what broke
    """A test of the user's did not go as its script says: all that was wrong, one line each."""
