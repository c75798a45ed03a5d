"""A look at a process the kernel keeps waiting holds up nobody, and there is one of them at a time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator

import pytest

from sandbox_manager.infrastructure.runtimes.process.bounded_looks import BoundedLooks
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, reference


@pytest.fixture
def kept() -> Generator[threading.Event]:
    """What a look waits for that is kept."""
    released = threading.Event()
    yield released
    released.set()


@pytest.fixture
def root() -> ProcessRef:
    found = reference(os.getpid())
    assert found is not None
    return found


def test_what_comes_in_time_is_told_and_what_goes_wrong_is_raised(root: ProcessRef) -> None:
    looks = BoundedLooks()
    assert looks.look(root, lambda: 7, 30) == 7
    with pytest.raises(ZeroDivisionError):
        looks.look(root, lambda: 1 // 0, 30)
    assert looks.look(root, lambda: 8, 30) == 8


def test_a_look_that_is_kept_is_given_up_and_no_other_is_begun_until_it_is_over(
    root: ProcessRef, kept: threading.Event
) -> None:
    looks, begun = BoundedLooks(), list[int]()

    def wait(number: int) -> bool:
        begun.append(number)
        return kept.wait(60)

    began = time.monotonic()
    assert looks.look(root, lambda: wait(1), 0.1) is None
    assert looks.look(root, lambda: wait(2), 30) is None
    assert time.monotonic() - began < 10
    assert begun == [1]
    other = ProcessRef(root.pid, root.started + 1)
    assert looks.look(other, lambda: 3, 30) == 3
    (stuck,) = [one for one in threading.enumerate() if one.name == "look-at-processes"]
    kept.set()
    stuck.join(30)
    assert looks.look(root, lambda: 4, 30) == 4
