"""Where the tool API of process sandboxes is, and the Pythons that run it and the agent's code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

_SOURCES = ("tool-api", "contracts", "service-kit")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolApi:
    """Its sources, the Python with what they need, and one with what the agent's code finds, if there is one."""

    python: Path
    python_path: tuple[Path, ...]
    kernel_python: Path | None


def tool_api_beside(file: Path) -> ToolApi:
    """In the checkout that has this file of the manager, made ready by `./run.sh local`."""
    root = file.resolve().parents[4]
    python, kernel_python = (root / name / "bin" / "python" for name in (".venv-sandbox", ".venv-kernels"))
    return ToolApi(
        python=python if python.exists() else Path(sys.executable),
        python_path=tuple(folder for part in _SOURCES if (folder := root / part / "src").is_dir()),
        kernel_python=kernel_python if kernel_python.exists() else None,
    )
