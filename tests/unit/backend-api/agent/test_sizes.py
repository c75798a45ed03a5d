"""When a conversation is counted, and what of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend_api.agent.capabilities.compaction import compaction
from backend_api.agent.capability import Compact, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import BodyReference, ContentReference, ContextOpened
from backend_api.agent.model import AssistantTurn, ToolTurn, UserTurn
from backend_api.agent.pictures import Picture
from backend_api.agent.sizes import PICTURE_TOKENS, count_estimated

ASKED = UserTurn(text="look")
SAID = AssistantTurn(text="So.")


class Counter:
    """As many tokens as characters; remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    async def __call__(self, texts: Iterable[str]) -> int:
        given = list(texts)
        self.given += given
        return sum(map(len, given))


def setup(count: Counter) -> Setup:
    return Setup(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), context_window=10_000, count_tokens=count)


def conversation(tokens: int, result: str) -> Conversation:
    turn = ToolTurn(call_id="c", name="look", output=result, success=True)
    return Conversation(turns=[ASKED, SAID, turn], seen_seq=1, next_turn=2, is_answered=False, context_tokens=tokens)


def opened(*, vision: bool) -> ContextOpened:
    text = ContentReference(digest="d", size=0)
    return ContextOpened(
        epoch=1,
        cause="started",
        model="m",
        system=text,
        tools=text,
        body=BodyReference(size=0, media_type="application/json"),
        vision=vision,
    )


async def test_far_from_the_window_nothing_is_counted() -> None:
    count = Counter()
    assert await compaction(threshold=0.7).brake(setup(count), conversation(4_000, "x" * 2_999)) is None
    assert count.given == []


async def test_near_it_what_the_provider_has_not_counted_yet_is_counted_as_its_model_does() -> None:
    count = Counter()
    bound = await compaction(threshold=0.7).brake(setup(count), conversation(4_000, "x" * 3_000))
    assert bound == Compact(kind="auto", size=7_000)
    assert ASKED.text not in count.given


async def test_without_a_word_of_the_provider_all_of_it_is_counted() -> None:
    count = Counter()
    bound = await compaction(threshold=0.7).brake(setup(count), conversation(0, "x" * 7_000))
    assert bound == Compact(kind="auto", size=7_007)


async def test_what_is_short_in_tokens_stays_though_it_is_long_in_bytes() -> None:
    far = replace(setup(Counter()), count_tokens=count_estimated)
    assert await compaction(threshold=0.7).brake(far, conversation(0, "x" * 20_000)) is None


@pytest.mark.parametrize(("sees", "size"), [(True, 7_000 + 2 * PICTURE_TOKENS), (False, 7_000)])
async def test_each_picture_counts_where_the_model_is_sent_it(sees: bool, size: int) -> None:
    known = replace(conversation(4_000, "x" * 3_000), opened=opened(vision=sees), pictures=[2])
    picture = Picture(seq=1, media_type="image/png", size=9)
    known.turns[2] = replace(known.turns[2], pictures=(picture, picture))
    assert await compaction(threshold=0.7).brake(setup(Counter()), known) == Compact(kind="auto", size=size)
