"""A short day of work at the page with a few cuts, the same each time; tests/chaos has a long one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.chaos.cut_day import day_of_cuts

CUTS, SEED = 10, 20261129


@pytest.mark.timeout(300)
async def test_a_few_cuts_lose_nothing_and_send_nothing_twice(tmp_path: Path) -> None:
    await day_of_cuts(tmp_path, random.Random(SEED), CUTS)
