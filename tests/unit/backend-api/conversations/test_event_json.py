"""Every event as JSON and back."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from backend_api.agent.events import (
    Continuation,
    Event,
    LivePayload,
    Question,
    StoredPayload,
    ToolFinished,
    Usage,
    agent_of,
)
from backend_api.conversations.application.event_json import (
    codec_of,
    dump,
    event_fields,
    event_from,
    event_json,
    payload_fields,
    payload_from,
)

CLASSES: tuple[type[Any], ...] = (*get_args(StoredPayload), *get_args(LivePayload))
NOON = datetime(2026, 5, 1, 12, 0, 0, 125_000, tzinfo=UTC)
PLAIN: dict[Any, Any] = {str: "some text", int: 7, float: 0.5, bool: True, datetime: NOON, Any: {"a": [1, None]}}


def filled(hint: Any) -> Any:
    """A value of this type with something in each of its parts."""
    some = [one for one in get_args(hint) if one is not NoneType]
    match get_origin(hint):
        case None:
            return made(hint) if is_dataclass(hint) else PLAIN[hint]
        case origin if origin in (Union, UnionType):
            return filled(some[-1])
        case origin if origin is Literal:
            return some[0]
        case origin if origin is list:
            return [filled(some[0]), filled(some[0])]
        case _:
            return {"key": filled(some[1])}


def made(cls: Any) -> Any:
    hints = get_type_hints(cls)
    return cls(**{field.name: filled(hints[field.name]) for field in fields(cls) if field.name != "type"})


@pytest.mark.parametrize("agent", [{}, {"agent_id": "agent_c"}])
def test_an_event_of_a_newer_vocabulary_is_carried_with_all_its_fields(agent: dict[str, str]) -> None:
    told = {
        "seq": 7,
        "type": "dream.dreamt",
        "at": "2026-05-01T12:00:00.125Z",
        "session_id": "s",
        "run_id": None,
        "sheep": [{"name": "Dolly"}],
        **agent,
    }
    event = event_from(told)
    assert (event.payload.type, agent_of(event.payload)) == ("dream.dreamt", agent.get("agent_id"))
    assert json.loads(event_json(event)) == told
    assert json.loads(event_json(event_from(json.loads(event_json(event))))) == told


def test_an_event_comes_back_from_json_as_it_was() -> None:
    for payload in map(made, CLASSES):
        assert payload_from(json.loads(dump(payload_fields(payload)))) == payload


def test_an_older_log_lacks_what_was_added_to_the_parts_of_an_event() -> None:
    asked: dict[str, Any] = {"type": "question.asked", "question_id": "q", "call_id": "c", "expires_at": None}
    older = payload_from({**asked, "questions": [{"id": "q1", "text": "Which?"}]})
    assert getattr(older, "questions", None) == [Question(id="q1", text="Which?")]
    counts = {"input": 3, "cached": 0, "output": 2, "thinking": 0}
    used = payload_from({"type": "usage.updated", "usage": {**counts, "cost": None, "by_model": {"m": counts}}})
    assert getattr(used, "usage", None) == Usage(input=3, output=2, by_model={"m": counts})
    completed: dict[str, Any] = {"type": "message.completed", "message_id": "m", "text": "all"}
    newer = payload_from({**completed, "continuations": [{"at": 1, "note": "on", "unknown": 2}], "unknown": 3})
    assert getattr(newer, "continuations", None) == [Continuation(at=1, note="on")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strange:
    type: Literal["strange"] = "strange"
    tags: set[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    type: Literal["nested"] = "nested"
    by_name: dict[str, Question]


@pytest.mark.parametrize(("cls", "where"), [(Strange, r"Strange\.tags"), (Nested, r"Nested\.by_name")])
def test_a_field_that_json_has_nothing_for_is_named_when_the_vocabulary_is_read(cls: type[Any], where: str) -> None:
    with pytest.raises(TypeError, match=where):
        codec_of(cls)


def test_what_was_just_stored_is_written_once_and_what_is_read_from_the_log_keeps_nothing() -> None:
    stored = Event(seq=7, at=NOON, session_id="s", run_id="r", payload=made(ToolFinished))
    assert event_json(stored) is not event_json(stored)
    written = event_json(stored, is_new=True)
    assert event_json(stored) is written
    assert json.loads(written) == event_fields(stored)
