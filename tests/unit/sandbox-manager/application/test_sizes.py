"""Sandboxes of other sizes and images: what they count as, and who gets one of the pool."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sandbox_manager.domain.admission import Room
from sandbox_manager.domain.configuration import Configurations, Size
from sandbox_manager.domain.errors import ImageNotAllowedError
from sandbox_manager.domain.sandbox import Sandbox, Status
from support.manager_harness import ManagerHarness

ALLOWED = Configurations(
    standard=Size(cpus=2, memory_mb=2048, disk_mb=1000),
    images={"py": "agent-sandbox:py"},
    sizes={"small": Size(cpus=1, memory_mb=512, disk_mb=1000), "large": Size(cpus=4, memory_mb=8192, disk_mb=1000)},
)


async def large(manager: ManagerHarness, session_id: str, user_id: str) -> Sandbox:
    return (await manager.create(session_id, user_id, size="large")).sandbox


async def test_a_large_one_takes_the_places_its_memory_is_worth() -> None:
    manager = ManagerHarness(max_total=5, max_per_user=5, configurations=ALLOWED)
    await manager.ready("s1", "u1")
    await manager.ready("s2", "u1")

    waiting = await large(manager, "s3", "u2")
    assert await manager.get.place_in_line(waiting) == (1, "capacity")
    manager.clock.move(timedelta(milliseconds=1))
    behind = (await manager.create("s4", "u3", size="small")).sandbox
    assert behind.status is Status.QUEUED

    for one in await manager.list(user_id="u1", session_id=None):
        await manager.delete(one.id, keep_workspace=True)
    await manager.admission.pump()
    assert (await manager.get(waiting.id, 5)).status is Status.READY
    assert (await manager.get(behind.id, 5)).status is Status.READY


async def test_a_user_has_as_much_memory_as_their_limit_of_computers_is_worth() -> None:
    manager = ManagerHarness(max_per_user=5, configurations=ALLOWED)
    first = await large(manager, "s1", "u1")
    await manager.get(first.id, 5)
    await manager.ready("s2", "u1")

    waiting = await large(manager, "s3", "u1")
    assert await manager.get.place_in_line(waiting) == (1, "user_limit")

    manager.clock.move(timedelta(seconds=90))
    assert (await large(manager, "s3", "u1")).id == waiting.id
    await manager.admission.pump()
    await manager.admission.pump()
    assert (await manager.get(waiting.id, 5)).status is Status.READY
    assert (await manager.get(first.id)).status is Status.GONE


async def test_a_large_one_waits_for_memory_that_would_do_for_a_usual_one() -> None:
    manager = ManagerHarness(room=Room(free=350, need=100, reserve=0), configurations=ALLOWED)

    waiting = await large(manager, "s1", "u1")
    assert await manager.get.place_in_line(waiting) == (1, "capacity")

    manager.room = Room(free=400, need=100, reserve=0)
    await manager.admission.pump()
    assert (await manager.get(waiting.id, 5)).status is Status.READY


async def test_the_pool_serves_the_default_only() -> None:
    manager = ManagerHarness(pool_size=1, configurations=ALLOWED)
    await manager.pool.tend()
    pooled = manager.runtime.starts[0].identity.sandbox_id

    chosen = (await manager.create("s1", "u1", image="py")).sandbox
    usual = (await manager.create("s2", "u1")).sandbox

    assert chosen.id != pooled
    assert usual.id == pooled


async def test_the_next_generation_is_refused_once_its_image_is_no_longer_allowed_and_the_living_one_stays() -> None:
    manager = ManagerHarness(configurations=ALLOWED)
    made = (await manager.create("s1", "u1", image="py")).sandbox
    await manager.get(made.id, 5)
    later = ManagerHarness(
        registry=manager.registry,
        runtime=manager.runtime,
        clock=manager.clock,
        leases=manager.leases,
        owner="manager-2",
    )

    assert (await later.create("s1", "u1", image="py")).sandbox.id == made.id
    await later.delete(made.id, keep_workspace=True)
    with pytest.raises(ImageNotAllowedError, match="Only the default is available"):
        await later.create("s1", "u1", image="py")
