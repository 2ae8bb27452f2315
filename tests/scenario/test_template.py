"""A value in whose texts something is put in: only what holds it is made anew."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_agentcontract.scenario.template import template


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    rest: object = None
    seen: list[str] = field(default_factory=list, init=False)


def _shout(text: str) -> str:
    return text.replace("{x}", "X")


def _filled(value):
    found = template(value)
    return value if found is None else found(_shout)


def test_texts_are_changed_wherever_they_stand() -> None:
    """In tuples, lists, mappings (keys too) and dataclasses, as deep as they are."""
    value = ("{x}", ["a{x}", 1, None, True], {"{x}": {"k": ("{x}",)}}, _Part("{x}", _Part("b", ["{x}"])))
    text, items, mapping, part = _filled(value)
    assert (text, items, mapping) == ("X", ["aX", 1, None, True], {"X": {"k": ("X",)}})
    assert (part.text, part.rest.text, part.rest.rest) == ("X", "b", ["X"])
    assert value == ("{x}", ["a{x}", 1, None, True], {"{x}": {"k": ("{x}",)}}, _Part("{x}", _Part("b", ["{x}"])))


def test_what_holds_nothing_to_put_in_stays_itself() -> None:
    """Also inside of what does: a case's large values are not copied for each run."""
    large = {"rows": [1, 2, {"a": "b"}]}
    assert template(large) is None
    assert _filled(["{x}", large])[1] is large


def test_it_is_filled_as_often_as_one_likes() -> None:
    """What was put in once is not there the next time."""
    found = template({"a": ["{x}"]})
    assert found is not None
    assert [found(lambda _, n=n: str(n)) for n in range(2)] == [{"a": ["0"]}, {"a": ["1"]}]
