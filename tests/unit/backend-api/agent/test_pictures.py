"""Which bytes are sent as a picture: an attacker made them, and a provider refuses a conversation for one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_api.agent.capabilities.pictures import BLIND, LEFT_OUT, PICTURES, TOO_LARGE
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import (
    BodyPart,
    BodyReference,
    ContentReference,
    ContextOpened,
    Event,
    MessageUser,
    StoredPayload,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.model import ToolTurn
from backend_api.agent.pictures import (
    MAX_PICTURE_BYTES,
    MAX_RATIO,
    MAX_SIDE,
    MIN_SIDE,
    MOST_PICTURES,
    PICTURE_TYPES,
    Picture,
)
from backend_api.agent.thread import Thread
from backend_api.runs.application.pictures import is_sendable
from support.photographs import jpeg, png, webp

(PROJECTION,) = PICTURES.projections
REFERENCE = ContentReference(digest="d", size=1)


def sendable(content: bytes, media_type: str, size: int | None = None) -> bool:
    return is_sendable(Picture(seq=1, media_type=media_type, size=size or len(content)), content)


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (png(), "image/png"),
        (png(MIN_SIDE, MIN_SIDE), "image/png"),
        (png(MAX_SIDE, MAX_SIDE // MAX_RATIO), "image/png"),
        (jpeg(), "image/jpeg"),
        (jpeg(size=MAX_PICTURE_BYTES), "image/jpeg"),
        (webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + b"\x28\0\x28\0" + b"\0" * 8), "image/webp"),
        (webp(b"VP8L", b"\x2f" + (39 | 39 << 14).to_bytes(4, "little") + b"\0" * 6), "image/webp"),
        (webp(b"VP8X", b"\0" * 4 + b"\x27\0\0\x27\0\0" + b"\0" * 4), "image/webp"),
    ],
)
def test_a_whole_picture_is_sent(content: bytes, media_type: str) -> None:
    assert sendable(content, media_type)
    others = PICTURE_TYPES - {media_type} | {"image/gif", "text/plain"}
    assert not any(sendable(content, other) for other in others)
    assert not sendable(content[:-20], media_type)
    assert not sendable(content, media_type, size=len(content) + 1)


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"", "image/png"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (png(0, 5), "image/png"),
        (png(MAX_SIDE + 1, 64), "image/png"),
        (png(64, MAX_SIDE + 1), "image/png"),
        (png(MIN_SIDE - 1, 400), "image/png"),
        (jpeg(400, 1), "image/jpeg"),
        (jpeg(MAX_RATIO * MIN_SIDE + 1, MIN_SIDE), "image/jpeg"),
        (jpeg(MAX_SIDE + 1, 64), "image/jpeg"),
        (jpeg(40, 0), "image/jpeg"),
        (jpeg(size=MAX_PICTURE_BYTES + 1), "image/jpeg"),
        (b"\xff\xd8\xff" + b"\xe0" * 200 + b"\xff\xd9", "image/jpeg"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png"),
        (webp(b"VP8X", b"\0" * 4 + b"\xff\xff\xff\x0f\0\0" + b"\0" * 4), "image/webp"),
        (webp(b"EVIL", b"\0" * 40), "image/webp"),
    ],
)
def test_what_a_provider_would_refuse_is_not(content: bytes, media_type: str) -> None:
    assert not sendable(content, media_type)


@given(st.sampled_from(sorted(PICTURE_TYPES)), st.binary(max_size=300), st.sampled_from([png(), jpeg(), b""]))
def test_no_bytes_break_the_look_at_them(media_type: str, content: bytes, head: bytes) -> None:
    for made in (head[:40] + content, content + head[-20:]):
        assert sendable(made, media_type, size=len(made) or 1) in (True, False)


def test_a_picture_of_nothing_but_segments_costs_no_time() -> None:
    made = b"\xff\xd8" + b"\xff\xe0\x00\x02" * 800_000 + b"\xff\xd9"
    began = time.process_time()
    assert not sendable(made, "image/jpeg")
    assert time.process_time() - began < 0.05


def opened(*, vision: bool | None, pictures: int = 0) -> ContextOpened:
    return ContextOpened(
        epoch=1, cause="started", model="m", system=REFERENCE, tools=REFERENCE, vision=vision, pictures=pictures
    )


def conversation(*payloads: StoredPayload) -> Conversation:
    at, thread = datetime(2026, 1, 1, tzinfo=UTC), Thread()
    for number, payload in enumerate(payloads, 1):
        thread.apply(Event(seq=number, at=at, session_id="s", run_id="r", payload=payload), "seen")
    return thread.conversation("r")


def shots(first: int, count: int, *, size: int = 1_000) -> list[StoredPayload]:
    """Turns of one call each that shows a picture."""
    return [
        payload
        for number in range(first, first + count)
        for payload in (
            ToolCalled(call_id=f"c{number}", name="shoot", arguments={}, phrase="", turn=number),
            ToolFinished(
                call_id=f"c{number}",
                success=True,
                preview="seen",
                body=BodyReference(size=size, media_type="image/jpeg"),
            ),
        )
    ]


def told(conversation: Conversation) -> list[str | int]:
    """Of each result the picture's event, or what is said in its place."""
    sent = PROJECTION.apply(conversation)
    results = [turn for turn in sent.turns if isinstance(turn, ToolTurn)]
    assert [sent.turns[at] for at in sent.pictures] == [turn for turn in results if turn.pictures]
    return [turn.pictures[0].seq if turn.pictures else turn.note for turn in results]


def test_a_result_has_its_picture_by_reference_whatever_else_it_says() -> None:
    found = conversation(MessageUser(message_id="m", text="go"), opened(vision=True), *shots(1, 1))
    (result,) = [turn for turn in found.turns if isinstance(turn, ToolTurn)]
    assert result.pictures == (Picture(seq=4, media_type="image/jpeg", size=1_000),)
    assert found.pictures == [found.turns.index(result)]
    assert result.output == "seen"


def test_a_model_that_cannot_see_is_told_that_there_was_a_picture() -> None:
    assert told(conversation(*shots(1, 2), opened(vision=False), *shots(3, 1))) == [BLIND] * 3
    assert told(conversation(*shots(1, 1))) == [2]


def test_of_pictures_before_an_opening_those_it_kept_are_shown_and_all_after_it() -> None:
    payloads = [*shots(1, 3), opened(vision=True, pictures=1), *shots(4, 2)]
    assert told(conversation(*payloads)) == [LEFT_OUT, LEFT_OUT, 6, 9, 11]


def test_one_that_is_too_large_is_said_to_be_and_counts_nowhere() -> None:
    large = shots(1, 1, size=MAX_PICTURE_BYTES + 1)
    payloads = [*shots(2, 1), *large, opened(vision=True, pictures=1), *shots(4, 1)]
    assert told(conversation(*payloads)) == [2, TOO_LARGE, 7]


@pytest.mark.parametrize(("size", "most"), [(1_000, MOST_PICTURES), (3_000_000, 2)])
def test_an_opening_is_due_once_there_are_too_many_and_keeps_the_last(size: int, most: int) -> None:
    begin: Sequence[StoredPayload] = [opened(vision=True)]
    assert not PROJECTION.is_due(conversation(*begin, *shots(1, most, size=size)))
    full = conversation(*begin, *shots(1, most + 1, size=size))
    assert PROJECTION.is_due(full)
    anew = PROJECTION.limit(full, opened(vision=True))
    assert 1 <= anew.pictures < most
    assert not PROJECTION.is_due(full.reopened(anew))
    assert told(full.reopened(anew)).count(LEFT_OUT) == most + 1 - anew.pictures


def test_all_that_the_model_has_not_seen_yet_is_kept_as_far_as_a_request_takes_it() -> None:
    calls = [ToolCalled(call_id=f"n{at}", name="shoot", arguments={}, phrase="", turn=99) for at in range(8)]
    body = BodyReference(size=9, media_type="image/png")
    results = [ToolFinished(call_id=call.call_id, success=True, preview="", body=body) for call in calls]
    found = conversation(opened(vision=True), *shots(1, MOST_PICTURES), *calls, *results)
    assert PROJECTION.limit(found, opened(vision=True)).pictures == 8
    assert PROJECTION.limit(found, opened(vision=False)).pictures == 0


def test_an_opening_counts_the_pictures_of_calls_with_several() -> None:
    part = BodyPart(offset=0, size=9, media_type="image/png")
    text = BodyPart(offset=9, size=9, media_type="text/plain")
    body = BodyReference(size=18, media_type="application/octet-stream", parts=[part, text, part])
    calls = [ToolCalled(call_id=f"n{at}", name="plot", arguments={}, phrase="", turn=at) for at in range(11)]
    results = [ToolFinished(call_id=call.call_id, success=True, preview="", body=body) for call in calls]
    payloads = [one for pair in zip(calls, results, strict=True) for one in pair]
    assert not PROJECTION.is_due(conversation(opened(vision=True), *payloads[:20]))
    full = conversation(opened(vision=True), *payloads)
    assert [len(turn.pictures) for turn in full.turns if isinstance(turn, ToolTurn)] == [2] * 11
    assert PROJECTION.is_due(full)
    anew = PROJECTION.limit(full, opened(vision=True))
    assert not PROJECTION.is_due(full.reopened(anew))


def test_what_was_left_out_never_comes_back() -> None:
    refused = conversation(*shots(1, 3), opened(vision=True, pictures=0), *shots(4, 1))
    assert PROJECTION.limit(refused, opened(vision=True)).pictures == 1
    blind = conversation(*shots(1, 3), opened(vision=False))
    assert PROJECTION.limit(blind, opened(vision=True)).pictures == 3
