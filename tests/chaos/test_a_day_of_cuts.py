"""A day of work at the page while everything between it and the databases is cut: what it shows is what is stored, and
nothing that was written is lost or sent twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.chaos.cut_day import day_of_cuts
from support.chaos.settings import seeded

CUTS = int(os.environ.get("CHAOS_CUTS") or 200)


@pytest.mark.timeout(5400)
async def test_whatever_is_cut_the_page_shows_what_is_stored_and_nothing_is_lost_or_sent_twice(tmp_path: Path) -> None:
    chance = seeded(f"a day of {CUTS} cuts (CHAOS_CUTS)")
    await day_of_cuts(tmp_path, chance, CUTS)
