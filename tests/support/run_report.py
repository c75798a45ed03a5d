"""Pytest plugin: a skipped test is a failure under REQUIRE_ALL; the counts and the failures of several runs add up.

Each run appends to a file; `python run_report.py FILE...` says at the end what matters: who reads a log may see only
the last of it.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_ORDER = ("failed", "error", "passed", "skipped", "xfailed", "xpassed")
_TESTS, _NAMES, _LINES, _PRINTED, _WIDTH = 10, 50, 60, 15, 400
_FILES, _LONG_S = 40, 8.0
_screen = os.dup(2)
"""Where a person looks: this module is read before pytest begins to capture."""


def tell(line: str) -> None:
    """Say it at once, and where pytest captures also with what failed."""
    os.write(_screen, f"{line}\n".encode())
    if not os.path.sameopenfile(_screen, 2):
        sys.stderr.write(f"{line}\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--report-file", default=None, help="file to append this run's counts and failures to")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    return _refuse_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    return _refuse_skip((yield))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    path = config.getoption("--report-file")
    if path is None:
        return
    stats = terminalreporter.stats
    report = {
        "counts": {name: len(stats[name]) for name in _ORDER if stats.get(name)},
        "failures": [
            [one.nodeid, _end_of(one), _where(one)] for name in ("failed", "error") for one in stats.get(name, ())
        ],
        "seconds": _seconds_by_file(stats),
    }
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(report) + "\n")


def _seconds_by_file(stats: dict[str, list[Any]]) -> dict[str, float]:
    seconds: Counter[str] = Counter()
    for reports in stats.values():
        for one in reports:
            if isinstance(one, pytest.TestReport):
                seconds[one.nodeid.partition("::")[0]] += one.duration  # pyright: ignore[reportArgumentType] -- a float
    return {name: round(float(spent), 1) for name, spent in seconds.items()}


def _refuse_skip(report: Any) -> Any:
    if os.environ.get("REQUIRE_ALL") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"REQUIRE_ALL is set, yet this was skipped: {report.longrepr}"
    return report


def _end_of(report: Any) -> list[str]:
    """The last lines of a failure, then the last ones of what was printed: the start is in the run's own output."""
    text = report.longreprtext.splitlines()
    printed = [line for _, content in report.sections for line in content.splitlines() if line.strip()][-_PRINTED:]
    if printed:
        printed.insert(0, "--- printed last:")
    kept = [*text[-(_LINES - len(printed)) :], *printed]
    return [line if len(line) <= _WIDTH else f"{line[:_WIDTH]} ..." for line in kept]


def _where(report: Any) -> str:
    """The lines of our own that led there, and what it says, on one line."""
    entries = getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", ())
    places = [entry.reprfileloc for entry in entries if getattr(entry, "reprfileloc", None) is not None]
    lines = [f"{Path(place.path).name}:{place.lineno}" for place in places if str(place.path)[0] not in "/."]
    crash = getattr(getattr(report.longrepr, "reprcrash", None), "message", report.longreprtext)
    return f"{' > '.join(lines[-4:])} {crash.strip().partition(chr(10))[0]}".strip()[:_WIDTH]


def summary_of(reports: list[dict[str, Any]]) -> str:
    """The files that took longest, the failures of all runs, then one line in pytest's words for their counts."""
    failures = [failure for report in reports for failure in report["failures"]]
    seconds = {name: spent for report in reports for name, spent in report.get("seconds", {}).items()}
    longest = sorted(seconds.items(), key=lambda one: -one[1])[:_FILES]
    lines = [f"{spent:6.0f} s  {name}" for name, spent in longest if spent >= _LONG_S]
    for test, text, _ in failures[:_TESTS]:
        lines += [f"===== FAILED {test}", *text]
    if len(failures) > 1:
        lines += ["===== all that failed:", *(f"FAILED {test} - {where}" for test, _, where in failures[:_NAMES])]
    total: Counter[str] = Counter()
    for report in reports:
        total.update(report["counts"])
    counts = ", ".join(f"{total[name]} {name}" for name in _ORDER if total[name]) or "no tests ran"
    return "\n".join([*lines, f"===== {counts} ====="])


def read_reports(path: Path) -> list[dict[str, Any]]:
    """The runs of a file: of this plugin, or the one of Vitest's JSON reporter."""
    text = path.read_text(encoding="utf-8")
    if not path.name.endswith(".vitest.report"):
        return [json.loads(line) for line in text.splitlines()]
    run = json.loads(text)
    counts = {"passed": run["numPassedTests"], "failed": run["numFailedTests"], "skipped": run["numPendingTests"]}
    failures: list[list[Any]] = []
    for file in run["testResults"]:
        for test in file["assertionResults"]:
            if test["status"] == "failed":
                lines = "\n".join(test["failureMessages"]).splitlines()
                failures.append([f"{file['name']}::{test['fullName']}", lines[-_LINES:], lines[0] if lines else ""])
        if file["status"] == "failed" and not file["assertionResults"]:
            # It could not be read.
            counts["error"] = counts.get("error", 0) + 1
            failures.append([file["name"], str(file.get("message", "")).splitlines()[-_LINES:], "it could not be read"])
    return [{"counts": counts, "failures": failures}]


if __name__ == "__main__":
    every = [report for name in sys.argv[1:] for report in read_reports(Path(name))]
    sys.stdout.write(summary_of(every) + "\n")
