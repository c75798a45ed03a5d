"""What the files panel shows of folders no honest program makes."""

from __future__ import annotations

import time
from pathlib import Path

from support.descriptors import open_below
from tool_api.files.listing import list_entries
from tool_api.workspace import Workspace

LINKS = 300
HOPS = 38


def test_links_that_take_long_to_follow_do_not_hold_up_a_listing(tmp_path: Path) -> None:
    way_round = "a/../" * 810
    (tmp_path / "a").mkdir()
    for hop in range(HOPS):
        (tmp_path / f"hop{hop}").symlink_to(f"{way_round}hop{hop + 1}")
    (tmp_path / f"hop{HOPS}").touch()
    shown = tmp_path / "shown"
    shown.mkdir()
    for number in range(LINKS):
        (shown / f"long{number:03}").symlink_to("../hop0")
    (shown / "zebra").touch()
    began = time.monotonic()
    names = {entry.name for entry in list_entries(Workspace(tmp_path), "shown")}
    assert time.monotonic() - began < 6
    assert {"long000", "zebra"} <= names
    assert len(names) < LINKS
    assert open_below(tmp_path) == []


def test_many_honest_links_are_all_shown(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for number in range(1000):
        (tmp_path / f"link{number}").symlink_to("file")
    assert len(list_entries(Workspace(tmp_path), "")) == 1001
