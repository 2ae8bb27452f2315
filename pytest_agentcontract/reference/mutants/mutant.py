"""A mutant: the reference with exactly one decision replaced."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_agentcontract.reference.rules import BASES, Rules


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong runtime: `field` of the rules of `base` holds `value`, which breaks `target`.

    A field of the hand-off rules is written `handoff.FIELD`.
    """

    name: str
    base: str
    target: str
    field: str
    value: object
    breaks: str

    @property
    def rules(self) -> Rules:
        """The rules of its base with the one field replaced."""
        base, (part, _, inner) = BASES[self.base], self.field.partition(".")
        value = replace(base.handoff, **{inner: self.value}) if inner else self.value  # type: ignore[arg-type]  # any field
        changed: Rules = replace(base, **{part: value})  # type: ignore[arg-type]  # any field
        return changed
