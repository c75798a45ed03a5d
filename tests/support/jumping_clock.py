"""Processes whose clock a test moves, by libfaketime."""

from __future__ import annotations

import os
from pathlib import Path

from support.fleet import SOURCES

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
_SHIM = Path(__file__).resolve().parent / "faked_clock"


def jumping_with(clock: Path) -> dict[str, str]:
    """The environment of a process whose time is that of the file `clock`; steady clocks are left alone."""
    jump(clock, 0)
    return {
        "LD_PRELOAD": str(LIBRARIES[0]),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_RESET": "1",
        "PYTHONPATH": os.pathsep.join([str(_SHIM), SOURCES]),
    }


def jump(clock: Path, offset_s: int) -> None:
    """Every process that looks at this file sees the time so much later."""
    draft = clock.with_suffix(".new")
    draft.write_text(f"{offset_s:+d}\n")
    os.replace(draft, clock)
