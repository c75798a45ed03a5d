"""Whom the work is for."""

from __future__ import annotations

import asyncio

from service_kit.observation.context import (
    Work,
    current_work,
    work_fields,
    work_from_headers,
    work_headers,
    working_for,
)


def test_ids_hold_for_the_block_and_what_it_starts() -> None:
    async def ids() -> dict[str, str]:
        return work_fields()

    async def work() -> dict[str, str]:
        with working_for(request_id="r", session_id="s"):
            task = asyncio.create_task(ids())
        return await task

    assert asyncio.run(work()) == {"request_id": "r", "session_id": "s"}
    assert current_work() == Work()


def test_what_one_service_sends_the_next_one_hears() -> None:
    with working_for(request_id="request-1", session_id="s1", run_id="r1"):
        headers = work_headers()
    assert work_from_headers(headers) == Work(request_id="request-1", session_id="s1", run_id="r1")


def test_what_is_not_sane_is_left_out() -> None:
    told = {"X-Request-ID": "a b", "X-Session-ID": "x" * 129, "X-Run-ID": 'line\n{"level": "fake"}'}
    assert work_from_headers(told) == Work()
