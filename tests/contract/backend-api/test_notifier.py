"""`Notifier` on Redis, which within a process stands on `InProcessNotifier`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

import pytest
import redis

from backend_api.kit.notifier import Notifier, Subscription, Topic
from support.backend_stores import redis_channels
from support.servers import Server, free_port


@pytest.fixture
async def notifier(redis_server: Server) -> AsyncGenerator[Notifier]:
    async with redis_channels(redis_server.uri) as channels:
        yield channels.notifier


async def silence(subscription: Subscription) -> bool:
    began = time.monotonic()
    return await subscription.next(0.1) is None and time.monotonic() - began >= 0.08


async def test_what_is_notified_before_the_call_is_heard_once(notifier: Notifier) -> None:
    async with notifier.subscribe(Topic.RUN_QUEUED) as queued:
        await notifier.notify(Topic.RUN_QUEUED, "one")
        await notifier.notify(Topic.RUN_QUEUED, "two")
        await notifier.notify(Topic.RUN_QUEUED, "one")
        assert {await queued.next(20), await queued.next(20)} == {"one", "two"}
        assert await silence(queued)


async def test_what_is_notified_during_the_call_ends_it(notifier: Notifier) -> None:
    async with notifier.subscribe(Topic.RUN_QUEUED) as queued:
        waiting = asyncio.ensure_future(queued.next(20))
        await asyncio.sleep(0)
        await notifier.notify(Topic.RUN_QUEUED, "one")
        assert await waiting == "one"


async def test_a_notification_that_names_nothing_is_a_look_for_the_whole_topic(notifier: Notifier) -> None:
    async with notifier.subscribe(Topic.RUN_QUEUED) as queued, notifier.subscribe(Topic.RUN_QUEUED, "one") as one:
        await notifier.notify(Topic.RUN_QUEUED)
        began = time.monotonic()
        assert await queued.next(20) is None
        assert time.monotonic() - began < 10
        assert await silence(one)


async def test_every_subscriber_of_the_topic_and_of_the_id_hears_it_and_no_other(notifier: Notifier) -> None:
    async with (
        notifier.subscribe(Topic.RUN_INBOX) as all_of_them,
        notifier.subscribe(Topic.RUN_INBOX, "one") as one,
        notifier.subscribe(Topic.RUN_INBOX, "one") as also_one,
        notifier.subscribe(Topic.RUN_INBOX, "two") as two,
        notifier.subscribe(Topic.LOG_IN_ENDED, "one") as other,
    ):
        await notifier.notify(Topic.RUN_INBOX, "one")
        assert [await heard.next(20) for heard in (all_of_them, one, also_one)] == ["one"] * 3
        assert await silence(two)
        assert await silence(other)


async def test_a_subscriber_that_hears_nothing_for_long_is_told_to_look_and_holds_a_bounded_lot(
    notifier: Notifier,
) -> None:
    async with notifier.subscribe(Topic.RUN_QUEUED) as queued:
        for number in range(2_500):
            await notifier.notify(Topic.RUN_QUEUED, str(number))
        await notifier.notify(Topic.RUN_QUEUED, "last")
        heard = [await queued.next(20)]
        while not {None, "last"} <= set(heard):
            heard.append(await queued.next(20))
        assert len(heard) <= 1_000


async def test_nobody_hears_of_what_was_before_or_after(notifier: Notifier) -> None:
    await notifier.notify(Topic.RUN_INBOX, "one")
    async with notifier.subscribe(Topic.RUN_INBOX, "one") as one:
        assert await silence(one)
    await notifier.notify(Topic.RUN_INBOX, "one")
    assert await silence(one)


async def test_it_crosses_processes_and_is_heard_once_in_each(redis_server: Server) -> None:
    async with (
        redis_channels(redis_server.uri) as here,
        redis_channels(redis_server.uri) as there,
        here.notifier.subscribe(Topic.RUN_QUEUED) as near,
        there.notifier.subscribe(Topic.RUN_QUEUED) as far,
    ):
        await here.notifier.notify(Topic.RUN_QUEUED, "one")
        assert [await near.next(20), await far.next(20)] == ["one", "one"]
        await there.notifier.notify(Topic.RUN_QUEUED)
        assert [await near.next(20), await far.next(20)] == [None, None]
        assert await silence(near)
        assert await silence(far)


async def test_within_a_process_it_works_while_redis_is_away() -> None:
    async with (
        redis_channels(f"redis://127.0.0.1:{free_port()}/0") as channels,
        channels.notifier.subscribe(Topic.RUN_INBOX, "one") as one,
    ):
        await channels.notifier.notify(Topic.RUN_INBOX, "one")
        assert await one.next(20) == "one"


async def test_after_a_lost_connection_everybody_looks(redis_server: Server) -> None:
    async with redis_channels(redis_server.uri) as channels, channels.notifier.subscribe(Topic.RUN_INBOX, "one") as one:
        with redis.Redis(port=redis_server.port) as client:
            client.client_kill_filter(_type="pubsub")
        began = time.monotonic()
        assert await one.next(60) is None
        assert time.monotonic() - began < 30


@pytest.mark.parametrize("noise", [b"", b"one", b"somebody run.gone one", b"\xff\xfe run.queued \xff", b"a b c d e"])
async def test_what_another_version_says_on_the_channel_harms_nobody(redis_server: Server, noise: bytes) -> None:
    async with redis_channels(redis_server.uri) as channels, channels.notifier.subscribe(Topic.RUN_INBOX, "one") as one:
        with redis.Redis(port=redis_server.port) as client:
            client.publish("notifications", noise)
            client.publish("notifications", "somebody run.inbox one")
        assert await one.next(20) == "one"
