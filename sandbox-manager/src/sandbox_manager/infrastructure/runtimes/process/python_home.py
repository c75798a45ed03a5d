"""The files of an installed Python interpreter, without those that merely lie beside them.

An interpreter of somebody's own may have `~/.local`, or the home itself, as its prefix, and a virtual environment may
have been made anywhere: of either only the parts that are Python's are shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_LIBRARIES = ("lib", "lib64")
_PACKAGES = ("site-packages", "dist-packages")
_MOST_LINKS = 40


def python_arguments(python: Path, at: Callable[[Path], str] = str) -> list[str]:
    """Arguments of bubblewrap that bind it, except for files in /usr; `at` maps a source to the path that is bound."""
    environment = python.parent.parent
    config = _config(environment / "pyvenv.cfg")
    *links, program = _chain(python)
    real = program.resolve()
    places = [program.parent, real.parent]
    if "home" in config:
        places += [Path(config["home"]), Path(config["home"]).resolve()]
    version = config.get("version") or config.get("version_info") or real.name.removeprefix("python")
    pattern = f"python{match[0]}" if (match := re.match(r"3\.\d+", version)) else "python3.*"
    hides = bool(config) and config.get("include-system-site-packages") != "true"

    arguments: list[str] = []
    for prefix in dict.fromkeys(place.parent for place in places):
        if not _is_always_there(prefix):
            arguments += _base_arguments(prefix, pattern, at, hides=hides)
    if config:
        arguments += _environment(environment, pattern, at)
    for link in links:
        if not _is_always_there(link):
            arguments += ["--symlink", str(link.readlink()), str(link)]
    for one in dict.fromkeys((program, real)):
        arguments += [] if _is_always_there(one) else ["--ro-bind", at(real), str(one)]
    return arguments


def all_arguments(pythons: Iterable[Path], at: Callable[[Path], str] = str) -> list[str]:
    """Arguments for several interpreters, each place bound once: two environments often share one interpreter."""
    made: set[tuple[str, str]] = set()
    arguments: list[str] = []
    for python in pythons:
        for operation in _operations(python_arguments(python, at)):
            if (place := (operation[0], operation[-1])) not in made:
                made.add(place)
                arguments += operation
    return arguments


def _operations(arguments: list[str]) -> Iterator[list[str]]:
    starts = [index for index, one in enumerate(arguments) if one.startswith("--")]
    for start, end in zip(starts, [*starts[1:], len(arguments)], strict=True):
        yield arguments[start:end]


def _base_arguments(prefix: Path, pattern: str, at: Callable[[Path], str], *, hides: bool) -> Iterator[str]:
    """Arguments for the standard library and the libraries the program is linked with."""
    if (prefix / "conda-meta").is_dir():  # an environment of its own, whose programs share their libraries
        yield from _bind_arguments(prefix / "lib", at)
        return
    for library in _LIBRARIES:
        for folder in sorted((prefix / library).glob(pattern)):
            if not (folder / "os.py").exists() and not (folder / "lib-dynload").is_dir():
                continue
            yield from _bind_arguments(folder, at)
            for packages in _PACKAGES if hides else ():
                if (folder / packages).is_dir():
                    yield from ("--tmpfs", str(folder / packages), "--remount-ro", str(folder / packages))
        for file in sorted((prefix / library).glob("libpython3*.so*")):
            yield from _bind_arguments(file, at)


def _environment(environment: Path, pattern: str, at: Callable[[Path], str]) -> Iterator[str]:
    yield from _bind_arguments(environment / "pyvenv.cfg", at)
    for library in _LIBRARIES:
        if (environment / library).is_symlink():
            yield from ("--symlink", str((environment / library).readlink()), str(environment / library))
            continue
        for folder in sorted((environment / library).glob(pattern)):
            if (folder / "site-packages").is_dir():
                yield from _bind_arguments(folder / "site-packages", at)


def _bind_arguments(path: Path, at: Callable[[Path], str]) -> Iterator[str]:
    yield from ("--ro-bind", at(path), str(path))


def _is_always_there(path: Path) -> bool:
    return path.is_relative_to("/usr") or path == Path("/")


def _chain(path: Path) -> list[Path]:
    """The path and, if it is a symlink, the targets it leads to, one after the other."""
    found = [path]
    while found[-1].is_symlink() and len(found) < _MOST_LINKS:
        target = found[-1].readlink()
        found.append(Path(os.path.normpath(found[-1].parent / target)))
    return found


def _config(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return {}
    return {name.strip().lower(): value.strip() for name, _, value in (line.partition("=") for line in lines)}
