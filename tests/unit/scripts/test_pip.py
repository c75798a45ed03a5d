"""pip for agents and for the product's own environments: what is there, Python's own, the distribution's package."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[3] / "scripts" / "setup.sh"
# Has pip when the file `pip` is beside it; makes it by ensurepip where there is the file `ensurepip`.
PYTHON = """#!/bin/sh
here=$(dirname "$0")
echo "python $*" >>"$here/calls"
case "$*" in
  *"-m pip --python"*--version) [ -e "$here/pip" ] ;;
  *"-m pip --version") [ -e "$here/pip" ] ;;
  *"-m ensurepip"*) [ -e "$here/ensurepip" ] && touch "$here/pip" ;;
  *"import ensurepip"*) [ -e "$here/ensurepip" ] ;;
  *"import sys"*) exit 0 ;;
  *) exit 0 ;;
esac
"""
APT_GET = """#!/bin/sh
here=$(dirname "$0")
echo "apt-get $*" >>"$here/calls"
case "$*" in *install*python3-pip*) [ -e "$here/packages" ] && touch "$here/pip" ;; esac
"""
SUDO = """#!/bin/sh
[ "$1" = -n ] && shift
exec "$@"
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    for name, content in (("python3", PYTHON), ("apt-get", APT_GET), ("sudo", SUDO)):
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def run(machine: Path, command: str, **settings: str) -> tuple[list[str], str]:
    """The calls that were made, and what was said."""
    done = subprocess.run(
        ["bash", "-euc", f'ROOT={machine}; . "{SETUP}"; {command}'],
        env={"PATH": f"{machine}:/usr/bin:/bin", "RETRY_PAUSE_S": "0", **settings},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return (machine / "calls").read_text().splitlines(), done.stderr


def test_a_pip_that_is_there_is_left_as_it_is(machine: Path) -> None:
    (machine / "pip").touch()

    calls, said = run(machine, f"ensure_pip {machine}/python3")

    assert calls == ["python -m pip --version"]
    assert said == ""


def test_python_brings_pip_where_it_can(machine: Path) -> None:
    (machine / "ensurepip").touch()

    calls, said = run(machine, f"ensure_pip {machine}/python3")

    assert "python -m ensurepip --default-pip" in calls
    assert not any("apt-get" in one for one in calls)
    assert said == ""


def test_the_distribution_brings_pip_where_python_does_not(machine: Path) -> None:
    (machine / "packages").touch()

    calls, said = run(machine, f"ensure_pip {machine}/python3")

    assert any(one.startswith("apt-get") and one.endswith("python3-pip") for one in calls)
    assert said == ""


def test_a_machine_that_brings_no_pip_is_told_of_and_goes_on(machine: Path) -> None:
    assert "apt-get install python3-pip" in run(machine, f"ensure_pip {machine}/python3")[1]


def test_nothing_is_installed_where_that_is_not_wanted(machine: Path) -> None:
    (machine / "packages").touch()

    calls, said = run(machine, f"ensure_pip {machine}/python3", INSTALL_DESKTOP="never")

    assert not any("apt-get" in one for one in calls)
    assert "has no pip" in said


def test_an_environment_is_made_by_the_pip_of_the_machine_where_python_brings_none(machine: Path) -> None:
    (machine / "pip").touch()

    calls, _ = run(machine, f"make_environment {machine}/venv", PYTHON=f"{machine}/python3")

    assert f"python -m venv --clear --without-pip {machine}/venv" in calls
    assert any(f"--python {machine}/venv/bin/python install" in one for one in calls)
    assert not any("apt-get" in one for one in calls)
