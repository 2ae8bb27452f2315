"""Whose request is this? By the token in its first user message, or by what the profile declares; never by a guess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from pytest_agentcontract.scenario.binding import token
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.profile import Attribution, Profile, SideCall
from pytest_agentcontract.wire.request import Request

Headers = Mapping[str, str]
"""A request's header lines, their names in lower case."""

Sign = Callable[[str, Request, Headers], bool]


def of_case(case: Case, profile: Profile) -> Profile:
    """Return the profile as it tells a case's agents apart: in a hand-off each asks for the model of its own name."""
    if case.given.handoff is None:
        return profile
    return replace(profile, attribution="model", agents={agent: agent for agent in case.script})


def signs(agents: tuple[str, ...], profile: Profile, public: str) -> dict[str, str]:
    """Return what marks each agent's requests: the marker that the profile lists for it, else its token."""
    if profile.attribution in _UNLISTED:
        return {agent: profile.agents.get(agent, token(agent, public)) for agent in agents}
    return {agent: profile.agents[agent] for agent in agents if agent in profile.agents}


def claimants(marks: Mapping[str, str], profile: Profile, request: Request, headers: Headers) -> tuple[str, ...]:
    """Return every agent whose mark the request carries: exactly one is right."""
    carries = _SIGNS[profile.attribution]
    return tuple(agent for agent, mark in marks.items() if carries(mark, request, headers))


def side_call(profile: Profile, request: Request) -> SideCall | None:
    """Return the profile's rule for a request that is no part of any agent's conversation, if one holds."""
    return next((rule for rule in profile.side_calls if _is_side(rule, request)), None)


def _is_side(rule: SideCall, request: Request) -> bool:
    return (
        (rule.tools == "any" or not request.tools)
        and rule.system_contains in request.system
        and (not rule.model or fnmatchcase(request.model, rule.model))
    )


def _by_token(mark: str, request: Request, _headers: Headers) -> bool:
    return mark in request.opening


def _by_model(mark: str, request: Request, _headers: Headers) -> bool:
    return mark == request.model


def _by_header(mark: str, _request: Request, headers: Headers) -> bool:
    """Read a mark as one header line, `name: value`."""
    name, _, value = mark.partition(":")
    return headers.get(name.strip().lower()) == value.strip()


def _by_system(mark: str, request: Request, _headers: Headers) -> bool:
    return mark in request.system


def _sole(_mark: str, _request: Request, _headers: Headers) -> bool:
    return True


_SIGNS: Mapping[str, Sign] = {
    "token": _by_token,
    "model": _by_model,
    "header": _by_header,
    "system": _by_system,
    "sole": _sole,
}
SIGN_PLACES: Mapping[Attribution, str] = {
    "token": "the first user message",
    "model": "`model`",
    "header": "the headers",
    "system": "the system prompt",
    "sole": "nothing",
}
"""Where a request carries its agent's mark, in words."""

_UNLISTED = frozenset({"token", "sole"})
"""Attributions that need no list of markers: an agent that none is listed for is known by its token, or is alone."""
