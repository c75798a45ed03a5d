"""The clock and the free memory of this machine."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")


class SystemClock:
    """UTC, cut to the milliseconds MongoDB stores, so that a time read back equals the one written."""

    def now(self) -> datetime:
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)


def free_memory() -> int | None:
    """Bytes available without swapping; None if the machine does not report them."""
    try:
        lines = _MEMINFO.read_text().splitlines()
    except OSError:
        return None
    kib = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), None)
    return int(kib) * 1024 if kib else None
