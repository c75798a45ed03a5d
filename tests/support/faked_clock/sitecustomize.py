"""libfaketime 0.9.10 lets `time.sleep` fail where it leaves the steady clock alone; `select` it does not."""

from __future__ import annotations

import select
import time


def sleep(seconds: float) -> None:
    select.select([], [], [], seconds)


time.sleep = sleep
