from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_manager.infrastructure.runtimes.process.python_home import all_arguments, python_arguments


def an_interpreter(prefix: Path) -> Path:
    """As somebody's own lies among their other things."""
    library = prefix / "lib" / "python3.11"
    (library / "site-packages" / "private").mkdir(parents=True)
    (library / "os.py").touch()
    (prefix / "lib" / "libpython3.11.so.1.0").touch()
    for other in ("share/secrets", "lib/other", "bin", ".ssh"):
        (prefix / other).mkdir(parents=True, exist_ok=True)
    (prefix / "bin" / "python3.11").touch()
    (prefix / "bin" / "python3").symlink_to("python3.11")
    return prefix / "bin" / "python3"


def an_environment(folder: Path, made_from: Path) -> Path:
    (folder / "lib" / "python3.11" / "site-packages").mkdir(parents=True, exist_ok=True)
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "lib64").symlink_to("lib")
    (folder / "pyvenv.cfg").write_text(f"home = {made_from.parent}\nversion = 3.11.7\n")
    (folder / "bin" / "python").symlink_to(made_from)
    return folder / "bin" / "python"


def shown(arguments: list[str]) -> list[Path]:
    """What is bound, each to its own place."""
    at = [number for number, word in enumerate(arguments) if word == "--ro-bind"]
    assert all(Path(arguments[n + 1]).resolve() == Path(arguments[n + 2]).resolve() for n in at)
    return [Path(arguments[n + 2]) for n in at]


@pytest.mark.parametrize("prefix", [".local", "."])
@pytest.mark.parametrize("environment", ["venv", "."])
def test_of_somebodys_own_python_only_pythons_parts_are_shown(tmp_path: Path, prefix: str, environment: str) -> None:
    home = tmp_path / "home"
    base = an_interpreter(home / prefix)
    python = an_environment(home / "sub" / environment, base)

    arguments = python_arguments(python)

    standard = home / prefix / "lib" / "python3.11"
    assert sorted(shown(arguments)) == sorted(
        [
            standard,
            home / prefix / "lib" / "libpython3.11.so.1.0",
            home / prefix / "bin" / "python3.11",
            python.parent.parent / "pyvenv.cfg",
            python.parent.parent / "lib" / "python3.11" / "site-packages",
        ]
    )
    hidden = str(standard / "site-packages")
    assert arguments[arguments.index("--tmpfs") + 1] == hidden
    assert arguments[arguments.index("--remount-ro") + 1] == hidden
    for folder in (home, home / prefix, home / prefix / "bin", home / prefix / "lib", home / "sub"):
        assert str(folder) not in arguments


def test_without_an_environment_the_interpreters_own_packages_are_shown(tmp_path: Path) -> None:
    arguments = python_arguments(an_interpreter(tmp_path / "opt"))

    assert tmp_path / "opt" / "lib" / "python3.11" in shown(arguments)
    assert "--tmpfs" not in arguments


def test_what_lies_in_usr_is_at_hand(tmp_path: Path) -> None:
    python = an_environment(tmp_path / "venv", Path("/usr/bin/python3.11"))

    assert all(not path.is_relative_to("/usr") for path in shown(python_arguments(python)))


def test_a_real_interpreter_runs_with_nothing_else() -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed")
    python = Path(sys.executable)
    walls = ["bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    walls += [word for name in ("bin", "lib", "lib64") for word in ("--symlink", f"usr/{name}", f"/{name}")]
    program = "import ssl, ctypes, sqlite3, multiprocessing, pydantic, sys; print(sys.prefix, pydantic.__file__)"

    done = subprocess.run(
        [*walls, *python_arguments(python), "--", str(python), "-I", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stderr == ""
    assert done.stdout.startswith(sys.prefix)


def test_two_environments_of_one_interpreter_make_each_place_once(tmp_path: Path) -> None:
    base = an_interpreter(tmp_path / "opt")
    first, second = (an_environment(tmp_path / name, base) for name in ("tools", "kernels"))
    arguments = all_arguments([first, second])
    made = [
        place for place, before in zip(arguments[2:], arguments, strict=False) if before in ("--ro-bind", "--symlink")
    ]
    assert len(made) == len(set(made))
    assert {str(one.parent.parent / "pyvenv.cfg") for one in (first, second)} <= set(made)
    assert {*all_arguments([first])} | {*all_arguments([second])} == {*arguments}
