"""Which folders a Python interpreter needs."""

from __future__ import annotations

from pathlib import Path


def python_folders(python: Path) -> list[Path]:
    """The virtual environment of an interpreter and the prefix it was made from, but for what lies in /usr."""
    folders: list[Path] = []
    environment = python.parent.parent
    if (environment / "pyvenv.cfg").exists():
        folders.append(environment)
        for line in (environment / "pyvenv.cfg").read_text().splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "home":
                folders.append(Path(value.strip()).parent)
    folders.append(python.resolve().parent.parent)
    return [one for one in dict.fromkeys(folders) if not one.is_relative_to("/usr") and one != Path("/")]
