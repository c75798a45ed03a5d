"""The kernels that are installed in the sandbox, by Jupyter's specifications."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

MAX_SPECS = 64
_SYSTEM = (Path("/usr/local/share/jupyter/kernels"), Path("/usr/share/jupyter/kernels"))
_PYTHONS = ("python", "python3")
_LAUNCHER = str(Path(__file__).parent / "launcher" / "python_launcher.py")


class KernelStartError(Exception):
    """A kernel did not start; the text says why."""


class KernelSpec(BaseModel):
    """The command that starts a kernel, and the kernel's language."""

    name: str = ""
    argv: list[str] = Field(min_length=1)
    language: str = Field(pattern=r"^[A-Za-z0-9_.+#-]{1,64}$")
    env: dict[str, str] = Field(default_factory=dict[str, str])
    interrupt_mode: Literal["signal", "message"] = "signal"

    def runs(self, language: str) -> bool:
        """Whether it runs that language, given by the language's name or its own."""
        return language.casefold() in (self.language.casefold(), self.name.casefold())

    def command(self, python: Path, connection_file: Path) -> list[str]:
        """The command that starts it; a kernel written in Python runs by this interpreter, through our launcher."""
        program, *arguments = [part.replace("{connection_file}", str(connection_file)) for part in self.argv]
        if program not in _PYTHONS:
            return [program, *arguments]
        options = list(takewhile(lambda one: one.startswith("-") and one[:2] not in ("-m", "-c"), arguments))
        rest = arguments[len(options) :]
        launcher = [_LAUNCHER, str(connection_file.parent)] if rest and not rest[0].startswith("-c") else []
        return [str(python), *options, *launcher, *rest]


PYTHON = KernelSpec(
    name="python3", language="python", argv=["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
)
"""The kernel of the kernels' own environment, whose specification a process sandbox does not show."""


class KernelSpecs:
    """Reads the specifications each time, so that a kernel the agent installs is found at once."""

    def __init__(self, python: Path, home: Path) -> None:
        own = python.parent.parent / "share" / "jupyter" / "kernels"
        self._folders = (own, home / ".local" / "share" / "jupyter" / "kernels", *_SYSTEM)

    def all(self) -> list[KernelSpec]:
        """The kernels, ours first; of two with one name the first counts. Blocking."""
        found = {PYTHON.name: PYTHON}
        for file in _files(self._folders):
            spec = _read(file)
            if spec is not None and len(found) < MAX_SPECS:
                found.setdefault(file.parent.name, spec.model_copy(update={"name": file.parent.name}))
        return list(found.values())


def _files(folders: Iterable[Path]) -> Iterable[Path]:
    for folder in folders:
        yield from sorted(folder.glob("*/kernel.json"))


def _read(path: Path) -> KernelSpec | None:
    try:
        return KernelSpec.model_validate_json(path.read_bytes()) if path.is_file() else None
    except (OSError, ValidationError):
        return None
