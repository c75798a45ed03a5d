"""Pictures attached to messages, as the thread has them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from backend_api.agent.attachments import MOST_ATTACHED, Attached, attached_to
from backend_api.agent.events import AttachmentRead, BodyReference, Event, MessageCompleted, MessageUser, Payload
from backend_api.agent.model import AssistantTurn, NoteTurn, UserTurn
from backend_api.agent.pictures import Picture
from backend_api.agent.thread import Thread

PNG = BodyReference(size=70, media_type="image/png")


def thread_of(*payloads: Payload) -> Thread:
    thread = Thread()
    for seq, payload in enumerate(payloads, start=1):
        thread.apply(Event(seq=seq, at=datetime.now(UTC), session_id="s", run_id="r", payload=payload))
    return thread


def said(message_id: str, *attachments: str) -> MessageUser:
    return MessageUser(message_id=message_id, text=message_id, attachments=[*attachments])


def read(message_id: str, path: str) -> AttachmentRead:
    return AttachmentRead(message_id=message_id, paths=[path], text=path, body=PNG)


def answer(seen_seq: int) -> MessageCompleted:
    return MessageCompleted(message_id="m", text="A cat.", turn=1, seen_seq=seen_seq)


@pytest.mark.parametrize(
    ("names", "pictures"),
    [
        (["a.png", "b.JPG", "c.pdf", "d/e.heic", "f.svg"], ("a.png", "b.JPG", "d/e.heic", "f.svg")),
        (["photo", "a.png", "a.png"], ("photo", "a.png")),
        (["a.txt"], None),
        ([], None),
    ],
)
def test_which_attachments_may_be_pictures_is_told_by_their_names(names: list[str], pictures: tuple[str, ...]) -> None:
    found = attached_to(said("u", *names))
    assert (found.paths if found is not None else None) == pictures


def test_those_nobody_has_looked_at_stand_with_the_unread_message() -> None:
    thread = thread_of(said("u", "a.png", "b.png"), read("u", "a.png"))
    assert thread.conversation("r").attached == [
        Attached(message_id="u", paths=("a.png", "b.png"), recorded=("a.png",))
    ]


def test_of_many_the_first_ones_of_the_message_are_shown_however_often_that_is_begun() -> None:
    names = [f"p{number}.png" for number in range(20)]
    [attached] = thread_of(said("u", *names), *(read("u", name) for name in names[:5])).conversation("r").attached
    further = attached.too_many()
    assert attached.first == tuple(names[5:MOST_ATTACHED])
    assert further is not None
    assert further.paths == names[MOST_ATTACHED:]
    begun = thread_of(said("u", *names), *(read("u", name) for name in names[:MOST_ATTACHED]))
    [attached] = begun.conversation("r").attached
    assert (attached.first, attached.too_many()) == ((), further)
    assert thread_of(said("u", *names), *(read("u", name) for name in names)).conversation("r").attached == []


def test_a_picture_follows_its_message_and_stays_where_it_was_once_answered() -> None:
    shown = NoteTurn(text="a.png", pictures=(Picture(seq=2, media_type="image/png", size=70),))
    asked = UserTurn(text="u", attachments=("a.png",))
    before = thread_of(said("u", "a.png"), read("u", "a.png")).conversation("r")
    assert (before.turns, before.pictures, before.attached) == ([asked, shown], [1], [])
    after = thread_of(said("u", "a.png"), read("u", "a.png"), answer(2), said("v")).conversation("r")
    assert after.turns == [asked, shown, AssistantTurn(text="A cat."), UserTurn(text="v")]
    assert (list(after.pictures), after.shown_pictures(), after.is_answered) == ([1], [*shown.pictures], False)


def test_of_what_was_answered_without_looking_nothing_is_left_to_look_at() -> None:
    """As logs of versions have it that showed none."""
    thread = thread_of(said("u", "a.png"), answer(1))
    conversation = thread.conversation("r")
    assert (conversation.attached, conversation.is_answered) == ([], True)


def test_without_a_text_nothing_is_said_of_a_file() -> None:
    thread = thread_of(said("u", "photo"), AttachmentRead(message_id="u", paths=["photo"], text=""))
    conversation = thread.conversation("r")
    assert (conversation.turns, conversation.attached) == ([UserTurn(text="u", attachments=("photo",))], [])
