"""Whether the process of a manager is gone, as far as this one can know."""

from __future__ import annotations

import os
import subprocess
import sys

from sandbox_manager.infrastructure.manager_process import has_ended, name_manager

NAMING = "from sandbox_manager.infrastructure.manager_process import name_manager; print(name_manager(), flush=True)"


def test_one_beside_it_has_ended_once_its_process_is_gone_and_not_before() -> None:
    code = f"{NAMING}; input()"
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as beside:
        assert beside.stdout is not None
        name = beside.stdout.readline().strip()
        assert not has_ended(name)
        beside.kill()
        beside.wait(10)
        assert has_ended(name)


def test_nobody_knows_of_one_elsewhere_or_of_what_has_no_such_name() -> None:
    own = name_manager()
    namespace, _, rest = own.partition("/")
    assert (has_ended(own), own != name_manager()) == (False, True)
    gone = "4194305"  # above the highest number that a process can have
    assert has_ended(f"{namespace}/{gone}/ab")
    for name in (f"other{namespace}/{gone}/ab", f"unknown/{gone}/ab", f"/{gone}", f"{namespace}/x/{rest}", "3f2a", ""):
        assert not has_ended(name), name
    for name in (f"{namespace}/{'9' * digits}/ab" for digits in (10, 30, 5_000)):
        assert not has_ended(name), name
