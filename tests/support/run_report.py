"""Pytest plugin: a skipped test is a failure under REQUIRE_ALL, and the counts of several runs add up."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_ORDER = ("failed", "error", "passed", "skipped", "xfailed", "xpassed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--counts-file", default=None, help="file to append this run's counts to")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    return _refuse_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    return _refuse_skip((yield))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    path = config.getoption("--counts-file")
    if path is None:
        return
    counts = {name: len(terminalreporter.stats.get(name, ())) for name in _ORDER}
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(" ".join(f"{name}={number}" for name, number in counts.items() if number) + "\n")


def _refuse_skip(report: Any) -> Any:
    if os.environ.get("REQUIRE_ALL") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"REQUIRE_ALL is set, yet this was skipped: {report.longrepr}"
    return report


def summed(lines: list[str]) -> str:
    """One line in pytest's words for the counts of all runs."""
    total: Counter[str] = Counter()
    for line in lines:
        for pair in line.split():
            name, _, number = pair.partition("=")
            total[name] += int(number)
    return ", ".join(f"{total[name]} {name}" for name in _ORDER if total[name]) or "no tests ran"


if __name__ == "__main__":
    sys.stdout.write(f"===== {summed(Path(sys.argv[1]).read_text(encoding='utf-8').splitlines())} =====\n")
