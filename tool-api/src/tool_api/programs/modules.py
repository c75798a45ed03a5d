"""The command that runs a module of ours as a program of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import tool_api

_SOURCES = str(Path(tool_api.__file__).parent.parent)
# By its path alone a module would not find our packages, as it is started without our environment.
_RUN_MODULE = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import importlib; "
    "sys.exit(importlib.import_module(sys.argv.pop(1)).main())"
)


def module_command(module: str, *arguments: str) -> list[str]:
    """The command that runs `main` of a module of ours, apart from the agent's packages and settings."""
    return [sys.executable, "-I", "-B", "-c", _RUN_MODULE, _SOURCES, module, *arguments]
