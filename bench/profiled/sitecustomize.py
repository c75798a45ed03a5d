"""Counts calls of functions in a service that is started with this folder on its path: `bench/calls_of_a_delta.py`.

The first signal begins; each further one writes what was called since the one before into a file of `CALLS_IN`.
"""

from __future__ import annotations

import cProfile
import json
import os
import signal
from itertools import count
from pathlib import Path
from types import FrameType

_profile = cProfile.Profile()
_numbers = count()
_LIBRARIES = "site-packages/"


def _name(code: object) -> str:
    if isinstance(code, str):
        return code
    path: str = getattr(code, "co_filename", "")
    return f"{path.rpartition(_LIBRARIES)[2].rpartition('/src/')[2]}:{getattr(code, 'co_qualname', '')}"


def _told(number: int, frame: FrameType | None) -> None:
    del number, frame
    _profile.disable()
    calls: dict[str, int] = {}
    for entry in _profile.getstats():
        name = _name(entry.code)
        calls[name] = calls.get(name, 0) + entry.callcount
    _profile.clear()
    file = Path(os.environ["CALLS_IN"], str(next(_numbers)))
    file.with_suffix(".part").write_text(json.dumps(calls))
    file.with_suffix(".part").rename(file)
    _profile.enable()


signal.signal(signal.SIGUSR1, _told)
