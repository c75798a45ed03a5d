"""A sandbox that has started all the processes it may, beside others of the same user of the machine."""

from __future__ import annotations

import pytest

from support.intruder import enter
from support.stack import Stack

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(240)]

MOST_TASKS = 512
# Each sleeps in the kernel; the last one says so and stays, so that none is given back.
ALL_TASKS = """
import os, time
count = 0
while count < 2000:
    try:
        if os.fork() == 0:
            time.sleep(120)
            os._exit(0)
    except OSError:
        break
    count += 1
with open("/workspace/writing", "w") as file:
    print(count, file=file)
os.rename("/workspace/writing", "/workspace/count")
time.sleep(120)
"""
STARTS_MANY = """sh -c 'for i in $(seq 60); do sleep 2 & done; wait; echo all 60 done'"""


@pytest.mark.parametrize("kind", ["stack", "ordinary_stack"])
async def test_one_that_has_started_all_it_may_leaves_the_others_theirs(
    request: pytest.FixtureRequest, kind: str
) -> None:
    """The ones that were there before, and those that start while it holds them."""
    stack: Stack = request.getfixturevalue(kind)
    async with enter(stack, "tasks-beside") as beside, enter(stack, "tasks-greedy") as greedy:
        await greedy.begin(ALL_TASKS)
        # With what the shell can do by itself: nothing more can be started there.
        held = await greedy.run(
            'until [ -s /workspace/count ]; do :; done; read -r held </workspace/count; echo "$held"'
        )
        assert 200 < int(held.split()[0]) < MOST_TASKS, held

        assert "all 60 done" in await beside.run(STARTS_MANY)
        async with enter(stack, "tasks-later") as later:
            assert "all 60 done" in await later.run(STARTS_MANY)
