"""The effect of a request to change a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend_api.agent.events import Event, SessionUpdated
from backend_api.conversations.domain.entity import Session

_CHANGEABLE = ("title", "model", "preset", "pinned", "archived", "folder_id")
_TOLD = ("title", "model", "preset", "options")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """The session after a change, and the events of its stream."""

    session: Session
    events: Sequence[Event]


def differing(session: Session, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that change, with their new values. Options are requested one by one, None resetting one, but change
    as a whole, as the feed sends them."""
    values = {name: wanted[name] for name in _CHANGEABLE if name in wanted}
    merged: dict[str, Any] = session.options | (wanted.get("options") or {})
    values["options"] = {name: value for name, value in merged.items() if value is not None}
    return {name: value for name, value in values.items() if value != getattr(session, name)}


def updates_of(values: Mapping[str, Any], session: Session) -> list[SessionUpdated]:
    """The event for the changed fields, if the stream has one for them."""
    shown = {name: values[name] for name in _TOLD if name in values}
    if "options" in shown:
        shown["changed_options"] = changed_names(session.options, shown["options"])
    return [SessionUpdated(**shown)] if shown else []


def changed_names(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The names of changed options, including those that were reset."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
