"""Figures of the streams on a running stack."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import pytest

from support.stack import Stack, run_stack
from support.stream_load import (
    fill_session,
    fresh_sessions,
    idle_readers,
    mongo_uri_of,
    resume_times,
    state_times,
    whole_resume_s,
)

pytestmark = pytest.mark.quiet
READERS = 300
MAX_KB_A_READER = 60
EVENTS = 10_000


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that lets one user have any number of streams."""
    with run_stack(tmp_path_factory.mktemp("crowded"), QUOTAS="streams=0", RATE_LIMITS="sessions=0") as running:
        yield running


async def test_an_idle_reader_takes_less_than_60_kb(crowded: Stack) -> None:
    pid = crowded.children()["gateway"]
    cost = await idle_readers(crowded.base_url, pid, READERS, watched_s=1.0)
    assert cost.each_kb < MAX_KB_A_READER


async def test_a_session_with_10_000_events_opens_and_resumes_at_once(crowded: Stack) -> None:
    (session_id,) = await fresh_sessions(crowded.base_url, 1)
    last = await fill_session(mongo_uri_of(crowded.data_dir), "agent", session_id, EVENTS)
    assert statistics.median(await state_times(crowded.base_url, session_id, 15)) < 150
    assert statistics.median(await resume_times(crowded.base_url, session_id, last // 2, 15)) < 100
    await whole_resume_s(crowded.base_url, session_id, last // 2, last)
