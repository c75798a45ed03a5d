"""Packing of workspaces that the runtimes share: the program, and the reading of its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.identifiers import parse_snapshot_id
from sandbox_manager.domain.workspace import ArchiveBounds, Packed, refusal

_FOLDER = Path(__file__).with_name("archive")
_PARTS = [
    (f"{__package__}.archive.{name}", (_FOLDER / f"{name}.py").read_text())
    for name in ("bounds", "removal", "packing", "unpacking", "program")
]
PROGRAM = f"""import sys, types
for name, text in {_PARTS!r}:
    sys.modules[name] = module = types.ModuleType(name)
    exec(compile(text, name, "exec"), vars(module))
module.main()
"""
"""The program's parts in one text, each under its own name: there is nothing to import them from inside."""
DEADLINE_S = 300
NO_BOUNDS = ArchiveBounds(max_bytes=0, max_files=0)


def arguments(verb: str, workspace: str, archives: str, snapshot_id: str, bounds: ArchiveBounds) -> list[str]:
    """Arguments of the program after the interpreter. Raises `InvalidIdentifierError`."""
    numbers = [str(bounds.max_bytes), str(bounds.max_files)]
    return ["-I", "-c", PROGRAM, verb, workspace, archives, parse_snapshot_id(snapshot_id), *numbers]


def answer(output: str) -> dict[str, Any]:
    """The program's one line. Raises the error it reports, `EngineUnavailableError` if it reports nothing."""
    lines = output.strip().splitlines()
    try:
        answered = json.loads(lines[-1])
    except (IndexError, ValueError) as error:
        raise EngineUnavailableError("The files could not be packed or unpacked; try again.") from error
    if "code" in answered:
        raise refusal(str(answered["code"]), str(answered["detail"]))
    return answered


def packed(answered: dict[str, Any]) -> Packed:
    return Packed(
        bytes=int(answered["bytes"]), content_bytes=int(answered["content_bytes"]), files=int(answered["files"])
    )
