"""A name -> the runtime to judge: the user's own, the embedded reference and what derives from it, or a function."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.plugin.selection import near
from pytest_agentcontract.reference.mutants import MUTANTS
from pytest_agentcontract.reference.nulls import NULLS
from pytest_agentcontract.scenario import load_profile
from pytest_agentcontract.scenario.profile import Profile

CONFIG = "agent-contract.toml"
REFERENCE = "reference"
_DERIVED = (f"{REFERENCE}-", "mutant:", "null:")
_NULLS = "pytest_agentcontract.reference.nulls"
_NEEDS_A_PROCESS = "hang"


@dataclass(frozen=True, slots=True)
class Runtimes:
    """The runtimes of one run, with what their configuration says beside."""

    profiles: tuple[Profile, ...]
    requirements: str = ""
    snapshots: Path | None = None
    cases: Path | None = None

    @property
    def embedded(self) -> bool:
        """Whether nothing of the user's is among them."""
        return all(is_embedded(profile.name) for profile in self.profiles)


def is_embedded(name: str) -> bool:
    """Tell whether a runtime is the suite's own: the reference, a variant, a mutant or a null runtime."""
    return is_reference(name) or name.startswith(_DERIVED)


def is_reference(name: str) -> bool:
    """Tell whether a runtime is the reference or a variant of it, which owns the shipped outcomes."""
    return name == REFERENCE or name.startswith(f"{REFERENCE}-")


def resolve(
    names: Sequence[str],
    *,
    root: Path,
    offered: Callable[[], Mapping[str, object] | None],
    ci: bool,
) -> Runtimes:
    """Return the runtimes to judge: those named, else all configured ones, else the reference.

    `root` is where agent-contract.toml is read, `offered` calls the hook. Raise UsageError rather than judge something
    else than what the user has configured.
    """
    config = _config(root)
    configured = _configured(config, offered())
    if names:
        profiles = tuple(find(name, configured) for name in names)
        _something_of_the_users(profiles, configured)
    else:
        profiles = tuple(configured.values()) or (_default(ci=ci),)
    if config is None:
        return Runtimes(profiles)
    return Runtimes(profiles, config.requirements, config.snapshots, config.cases)


def find(name: str, configured: Mapping[str, Profile]) -> Profile:
    """Return the runtime called `name`; raise UsageError with near names."""
    known = {**load_profile.shipped(), **configured}
    if name in known:
        return known[name]
    kind, _, rest = name.partition(":")
    if kind == "mutant" and rest in MUTANTS:
        return _mutant(rest)
    if kind == "null" and rest in NULLS:
        return _null(rest)
    if rest and kind not in ("mutant", "null"):
        return _function(name)
    remedy = near(name, names(configured), _kinds(configured))
    unnamed = configured and not any(own in remedy for own in configured)
    here = f" Configured here: {', '.join(configured)}." if unnamed else ""
    raise UsageError(f"no runtime is called {name!r}", remedy=f"{remedy}{here}")


def _kinds(configured: Mapping[str, Profile]) -> str:
    own = ", ".join((*configured, *(name for name in load_profile.shipped() if name not in configured)))
    return f"There is: {own}, mutant:NAME, null:NAME, module:function; agent-contract list runtimes shows more."


def names(configured: Mapping[str, Profile]) -> tuple[str, ...]:
    """Return every name that `find` knows, functions apart."""
    derived = [*(f"mutant:{name}" for name in MUTANTS), *(f"null:{name}" for name in NULLS)]
    return (*configured, *(name for name in load_profile.shipped() if name not in configured), *derived)


def nulls() -> Mapping[str, Profile]:
    """Return the null runtimes by name."""
    return {f"null:{name}": _null(name) for name in NULLS}


def configured_in(root: Path) -> Mapping[str, Profile]:
    """Return the runtimes of the agent-contract.toml in `root`; none if there is no such file."""
    path = root / CONFIG
    return load_profile.load_config(path).profiles if path.is_file() else {}


def cases_in(root: Path) -> Path | None:
    """Return the folder of the user's own cases that the agent-contract.toml in `root` names, if it does."""
    config = _config(root)
    return config.cases if config else None


def _config(root: Path) -> load_profile.Config | None:
    path = root / CONFIG
    return load_profile.load_config(path) if path.is_file() else None


def _configured(config: load_profile.Config | None, offered: Mapping[str, object] | None) -> Mapping[str, Profile]:
    if config is None:
        return load_profile.load_tables(offered, "pytest_agentcontract_runtimes") if offered else {}
    if offered:
        raise UsageError(
            f"runtimes are configured twice, here and by the hook: {', '.join(offered)} would not be judged",
            where=str(config.path),
            remedy="Keep one: the file, or the hook pytest_agentcontract_runtimes.",
        )
    return config.profiles


def _something_of_the_users(profiles: Sequence[Profile], configured: Mapping[str, Profile]) -> None:
    if configured and all(is_embedded(profile.name) for profile in profiles):
        raise UsageError(
            f"{', '.join(configured)} is configured, but not named: nothing of yours would be judged",
            remedy="Name it too (--agent-contract-runtime takes a comma list), or name none.",
        )


def _default(*, ci: bool) -> Profile:
    if ci:
        raise UsageError(
            "CI is set, and no runtime is named: this run would judge the suite's own reference and look like a pass",
            remedy=f"Configure yours in {CONFIG}, or ask for it by name: --agent-contract-runtime={REFERENCE}.",
        )
    return load_profile.shipped()[REFERENCE]


def _mutant(name: str) -> Profile:
    base = load_profile.shipped()[MUTANTS[name].base]
    return replace(base, name=f"mutant:{name}", settings={**base.settings, "mutant": name})


def _null(name: str) -> Profile:
    profiles = load_profile.shipped()
    if name != _NEEDS_A_PROCESS:
        entry, settings = f"{_NULLS}:run", {"null": name}
        return replace(profiles[REFERENCE], name=f"null:{name}", entry=entry, adapter=(), settings=settings)
    base = profiles[f"{REFERENCE}-command"]
    modes = {mode: (sys.executable, "-m", _NULLS, name, *argv[1:]) for mode, argv in base.modes.items()}
    return replace(base, name=f"null:{name}", modes=modes, timeout=1.0)


def _function(name: str) -> Profile:
    """Return the profile of a Python function: it is driven like the reference, and offered the reference's tools.

    It has no adapter, and is no hand-off engine: that takes a profile of its own.
    """
    module, _, attribute = name.partition(":")
    try:
        function = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"no runtime {name!r}: {error}", remedy=f"It is looked up in {', '.join(filter(None, sys.path[-3:]))}."
        ) from error
    if isinstance(function, Profile):
        return function
    like = load_profile.shipped()[REFERENCE]
    claims = like.capabilities - {"handoff"}
    return replace(like, name=name, entry=name, adapter=(), capabilities=claims, settings={}, version=(), digest="")
