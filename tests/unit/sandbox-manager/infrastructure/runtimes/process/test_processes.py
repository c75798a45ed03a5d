"""Ending a process by what was noted of it, long after."""

from __future__ import annotations

import threading

from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef


def test_a_number_that_is_a_threads_by_now_ends_nothing_and_is_no_failure() -> None:
    known, done = threading.Event(), threading.Event()
    number: list[int] = []

    def live() -> None:
        number.append(threading.get_native_id())
        known.set()
        done.wait(5)

    thread = threading.Thread(target=live)
    thread.start()
    try:
        assert known.wait(5)
        ProcessRef(pid=number[0], started=1).kill()
        assert thread.is_alive()
    finally:
        done.set()
        thread.join(5)
