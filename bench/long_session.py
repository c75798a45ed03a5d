"""A session with 10,000 events: its state, and how soon a reader that missed half of it goes on.

.venv/bin/python bench/long_session.py [events]
"""

from __future__ import annotations

import asyncio
import sys

from setting import machine, plain_stack, summary
from support.stack import Stack
from support.stream_load import (
    fill_session,
    fresh_sessions,
    mongo_uri_of,
    resume_times,
    state_times,
    whole_resume_s,
)

EVENTS = 10_000
TIMES = 30


async def measure(stack: Stack, events: int) -> None:
    (session_id,) = await fresh_sessions(stack.base_url, 1)
    last = await fill_session(mongo_uri_of(stack.data_dir), "agent", session_id, events)
    print(summary(f"state of a session with {last} events", await state_times(stack.base_url, session_id, TIMES), "ms"))
    middle = last // 2
    times = await resume_times(stack.base_url, session_id, middle, TIMES)
    print(summary("resume from its middle to the first event", times, "ms"))
    seconds = await whole_resume_s(stack.base_url, session_id, middle, last)
    print(f"resume from its middle to the last event: {seconds:.2f} s, {(last - middle) / seconds:,.0f} events/s")


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    print(machine())
    with plain_stack() as stack:
        asyncio.run(measure(stack, events))


if __name__ == "__main__":
    main()
