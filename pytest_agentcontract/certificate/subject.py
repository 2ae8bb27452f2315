"""What a certificate speaks of: a report of one runtime, and the little that no report says about it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.errors import CertificateError, UsageError
from pytest_agentcontract.jsonvalue import JSON, JSONObject
from pytest_agentcontract.report import reading
from pytest_agentcontract.report.values import Report, Runtime
from pytest_agentcontract.scenario.profile import Binding, Profile, ResultRule, WireSetup

_SOMETHING = "?"


@dataclass(frozen=True, slots=True)
class Driven:
    """What the profile adds: whether it binds a return tool and names an adapter, and the files that it leads to."""

    returns: bool
    adapter: bool
    files: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, profile: Profile) -> Driven:
        """Read it out of a profile, and the files where they lie."""
        return cls(profile.returns, bool(profile.adapter), tuple(_files(profile)))

    def plain(self) -> JSONObject:
        """Return the same as JSON."""
        files: list[JSON] = [{"name": name, "digest": {"sha256": digest}} for name, digest in self.files]
        return {"returnTool": self.returns, "adapter": self.adapter, "files": files}


@dataclass(frozen=True, slots=True)
class Subject:
    """A report, the bytes that it was read from, and what drove its runtime."""

    report: Report
    content: bytes
    driven: Driven

    @property
    def runtime(self) -> Runtime:
        """The one runtime that it is about."""
        return self.report.header.runtimes[0]

    @property
    def digest(self) -> str:
        """The SHA-256 of the report, in hexadecimal digits."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def profile(self) -> Profile:
        """As much of the runtime's profile as the certificate knows: what it claims, and over which wire formats."""
        runtime = self.runtime
        return Profile(
            name=runtime.name,
            driver="command",
            wires={wire: WireSetup() for wire in runtime.wires},
            result=ResultRule(),
            capabilities=frozenset(runtime.capabilities),
            tools={"return": Binding(_SOMETHING)} if self.driven.returns else {},
            adapter=(_SOMETHING,) if self.driven.adapter else (),
        )


def read(content: bytes, where: str) -> Report:
    """Read a report that a certificate can be made of; raise ReportError or CertificateError for any other."""
    report = reading.parse(content, where)
    names = [runtime.name for runtime in report.header.runtimes]
    if len(names) != 1:
        raise CertificateError(
            f"is about {len(names)} runtimes ({', '.join(names)}), and a certificate is about one",
            where=where,
            remedy="Judge one runtime by itself: agent-contract certify --runtime NAME ...",
        )
    try:
        requirements.load(report.header.requirements.set)
    except UsageError as error:
        raise CertificateError(f"was measured by requirements that are not known here: {error.what}") from error
    return report


def _files(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield each file that a profile names and that lies where the profile lies: an adapter, a recipe, a program."""
    words = [
        word for argv in profile.modes.values() for one in argv for word in ([one] if isinstance(one, str) else one)
    ]
    named = [profile.entry.rpartition(":")[0], *profile.adapter, *words]
    for name in dict.fromkeys(filter(None, named)):
        path = Path(profile.folder, name)
        if profile.folder and not Path(name).is_absolute() and path.is_file():
            yield name, hashlib.sha256(path.read_bytes()).hexdigest()
