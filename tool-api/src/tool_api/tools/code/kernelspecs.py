"""Kernels that are installed in the sandbox, as Jupyter's specifications tell of them. Any may have been put there by
the agent, and its file may be anything."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter

from service_kit.bounded_json import MalformedJsonError, read_json

MAX_SPECS = 64
_MAX_BYTES = 64 * 1024
_MAX_VALUES = 500
_SYSTEM = (Path("/usr/local/share/jupyter/kernels"), Path("/usr/share/jupyter/kernels"))
_Text = Annotated[str, Field(max_length=4096)]


class KernelSpec(BaseModel):
    """How a kernel is started, and for which language."""

    name: str = ""
    argv: list[_Text] = Field(min_length=1, max_length=100)
    language: str = Field(pattern=r"^[A-Za-z0-9_.+#-]{1,64}$")
    env: dict[_Text, _Text] = Field(default_factory=dict[str, str], max_length=100)
    interrupt_mode: Literal["signal", "message"] = "signal"

    def runs(self, language: str) -> bool:
        """Whether it is meant by that: its language, or its own name."""
        return language.casefold() in (self.language.casefold(), self.name.casefold())


PYTHON = KernelSpec(
    name="python3", language="python", argv=["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
)
"""Of the environment that runs the bridges, whose own files of this kind a process sandbox does not show."""
_SPEC = TypeAdapter(KernelSpec)


class KernelSpecs:
    """Looks anew each time: what the agent installs is there at once."""

    def __init__(self, python: Path, home: Path) -> None:
        own = python.parent.parent / "share" / "jupyter" / "kernels"
        self._folders = (own, home / ".local" / "share" / "jupyter" / "kernels", *_SYSTEM)

    def all(self) -> list[KernelSpec]:
        """Blocking. Ours first; of two with one name the first counts."""
        found = {PYTHON.name: PYTHON}
        for file in _files(self._folders):
            spec = _read(file)
            if spec is not None and len(found) < MAX_SPECS:
                found.setdefault(file.parent.name, spec.model_copy(update={"name": file.parent.name}))
        return list(found.values())


def _files(folders: Iterable[Path]) -> Iterable[Path]:
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry, _ in zip(entries, range(MAX_SPECS * 4), strict=False))
        except OSError:
            continue
        yield from (folder / name / "kernel.json" for name in names if len(name) <= 64)


def _read(path: Path) -> KernelSpec | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return None
            data = os.read(fd, _MAX_BYTES)
        finally:
            os.close(fd)
        return read_json(_SPEC, data, most_values=_MAX_VALUES)
    except (OSError, MalformedJsonError):
        return None
