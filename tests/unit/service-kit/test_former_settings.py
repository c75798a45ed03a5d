"""A setting that is none any more is not passed over in silence."""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path

import pytest

from service_kit.former_settings import read_former, tell_of_former

ROOT = Path(__file__).parents[3]


def test_one_that_is_set_is_told_of_with_what_holds_in_its_place(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        tell_of_former({"MAX_RUNS_PER_USER": "3", "MAX_STREAMS_PER_USER": "", "QUOTAS": "runs=3"})
    (told,) = caplog.records
    assert told.__dict__["setting"] == "MAX_RUNS_PER_USER"
    assert told.__dict__["instead"] == "set QUOTAS, such as runs=20"


def test_none_of_them_is_a_setting_of_the_example() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    assert [name for name in read_former() if f"\n{name}=" in example] == []


def test_the_script_tells_of_those_in_the_environment_and_in_the_file(tmp_path: Path) -> None:
    """The file of compose names more than any container is given."""
    (tmp_path / ".env").write_text("MAX_RUNS_PER_USER=3\nMAX_STREAMS_PER_USER=\n")
    (tmp_path / "service-kit").symlink_to(ROOT / "service-kit")
    script = f'note() {{ echo "$1"; }}; ROOT={tmp_path}; . {ROOT}/scripts/env.sh; tell_of_former_settings'
    told = subprocess.run(
        ["bash", "-euc", script],
        env={"PATH": "/usr/bin:/bin", "SNAPSHOT_MAX_MB": "5"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.splitlines() == [
        "MAX_RUNS_PER_USER is no setting any more: set QUOTAS, such as runs=20",
        "SNAPSHOT_MAX_MB is no setting any more: set SNAPSHOT_LIMITS, such as mb=2048",
    ]
