"""Failures can be read at the end of a run's output, where its readers look first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import run_report
from support.run_report import read_reports, summary_of

TESTS = """
import sys
import pytest

@pytest.fixture
def broken():
    raise OSError("no such thing to lend")

def test_good():
    pass

def test_bad():
    print("printed by the test", file=sys.stderr)
    for number in range(500):
        print("line", number)
    assert "here" == "there"

def test_unlent(broken):
    pass

def test_left_out():
    pytest.skip("not today")

def test_teller():
    from support.run_report import tell
    print("swallowed")
    tell("seen at once")
"""
TELLING = """
def test_bad_teller():
    from support.run_report import tell
    tell("told of the bad")
    raise ValueError
"""


Run = tuple[subprocess.CompletedProcess[str], str]


def ran(folder: Path, *more: str, tests: str = TESTS, **environ: str) -> Run:
    """How a run of these tests went, and what is told of it."""
    (folder / "test_sample.py").write_text(tests)
    report = folder / "report"
    environ |= {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(run_report.__file__).parents[1])}
    environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    options = ["-q", "-p", "support.run_report", f"--report-file={report}", "-p", "no:cacheprovider", *more]
    command = [sys.executable, "-m", "pytest", *options, "test_sample.py"]
    result = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=100, check=False)
    end = subprocess.run(
        [sys.executable, run_report.__file__, str(report)], capture_output=True, text=True, timeout=60, check=True
    )
    return result, end.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ran(tmp_path_factory.mktemp("plain"))


def test_each_failure_is_told_with_its_end_and_the_counts_come_last(plain: Run) -> None:
    result, end = plain

    assert result.returncode == 1
    lines = end.splitlines()
    assert lines[-1] == "===== 1 failed, 1 error, 2 passed, 1 skipped ====="
    assert "===== FAILED test_sample.py::test_bad" in lines
    assert any("assert 'here' == 'there'" in line for line in lines)
    assert "line 499" in lines
    assert "line 100" not in lines
    assert "E       OSError: no such thing to lend" in lines
    assert "test_good" not in end
    assert len(lines) < 140


def test_of_each_failure_it_is_told_which_line_of_a_test_it_came_from(tmp_path: Path) -> None:
    called = (
        "def go():\n    raise ValueError('one\\n two')\n\ndef test_it():\n    go()\n\ndef test_no():\n    assert 0\n"
    )
    _, end = ran(tmp_path, tests=called)
    said = "FAILED test_sample.py::test_it - test_sample.py:5 > test_sample.py:2 ValueError: one"
    assert said in end.splitlines()


def test_a_skipped_test_is_told_as_failed_when_all_are_required(tmp_path: Path) -> None:
    _, end = ran(tmp_path, REQUIRE_ALL="1")

    assert end.splitlines()[-1] == "===== 2 failed, 1 error, 2 passed ====="
    assert "===== FAILED test_sample.py::test_left_out" in end
    assert "not today" in end


def test_what_a_test_tells_is_seen_though_output_is_captured(plain: Run) -> None:
    result, _ = plain

    assert result.stderr.count("seen at once\n") == 1
    assert "swallowed" not in result.stdout + result.stderr


def test_what_a_test_tells_is_among_what_failed_and_said_once_where_nothing_is_captured(tmp_path: Path) -> None:
    result, end = ran(tmp_path, tests=TELLING)
    assert result.stderr.count("told of the bad") == 1
    assert "told of the bad" in end
    result, _ = ran(tmp_path, "-s", tests=TELLING)
    assert (result.stdout + result.stderr).count("told of the bad\n") == 1


def test_counts_of_several_runs_add_up_and_many_failures_stay_readable() -> None:
    many = [[f"test_{number}", [f"why {number}"], "test_it.py:7"] for number in range(300)]

    first, second = {"passed": 2}, {"passed": 3, "failed": 300}
    reports = [{"counts": first, "failures": []}, {"counts": second, "failures": many}]

    lines = summary_of(reports).splitlines()

    assert lines[-1] == "===== 300 failed, 5 passed ====="
    assert "why 9" in lines
    assert "why 10" not in lines
    assert "FAILED test_40 - test_it.py:7" in lines
    assert len(lines) < 100


@pytest.mark.parametrize("reports", [[], [{"counts": {}, "failures": []}]])
def test_nothing_that_ran_is_said_so(reports: list[dict[str, object]]) -> None:
    assert summary_of(reports) == "===== no tests ran ====="


def test_what_vitest_counted_is_told_as_well(tmp_path: Path) -> None:
    good = {"status": "passed", "fullName": "adds", "failureMessages": []}
    bad = {"status": "failed", "fullName": "takes away", "failureMessages": ["expected 1\nto be 2"]}
    run = {
        "numPassedTests": 3,
        "numFailedTests": 1,
        "numPendingTests": 2,
        "testResults": [
            {"name": "sums.spec.ts", "status": "failed", "assertionResults": [good, bad]},
            {"name": "unread.spec.ts", "status": "failed", "assertionResults": [], "message": "no such module"},
        ],
    }
    report = tmp_path / "frontend.vitest.report"
    report.write_text(json.dumps(run))
    lines = summary_of(read_reports(report)).splitlines()
    assert lines[-1] == "===== 1 failed, 1 error, 3 passed, 2 skipped ====="
    assert lines[:3] == ["===== FAILED sums.spec.ts::takes away", "expected 1", "to be 2"]
    assert "no such module" in lines


def test_the_files_that_take_longest_stand_first() -> None:
    reports = [
        {"counts": {"passed": 2}, "failures": [], "seconds": {"a.py": 9.0, "b.py": 0.4}},
        {"counts": {"passed": 1}, "failures": [], "seconds": {"c.py": 30.2}},
    ]
    lines = summary_of(reports).splitlines()
    assert lines[:2] == ["    30 s  c.py", "     9 s  a.py"]
    assert len(lines) == 3, "short ones are left out"
