"""HTTP libraries and programs stand in few places, where what a peer or a program writes is read within bounds."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import ROOT, report, tracked_files

_HTTP = {"aiohttp", "h11", "httpcore", "httptools", "httpx", "httpx2", "requests", "urllib3"}
_PROGRAMS = {"subprocess", "pty"}
_HTTP_STANDS_IN = (
    "service-kit/src/service_kit/bounded_http.py",
    "backend-api/src/backend_api/kit/untrusted/",
    # The certificates that its clients trust.
    "backend-api/src/backend_api/kit/tls.py",
    # A second library on the path of deltas: decision 74 has the figures.
    "backend-api/src/backend_api/models/",
    # The package of the protocol hands out and takes requests of its own library.
    "backend-api/src/backend_api/mcp/",
    # Connections that are no HTTP any more once they are upgraded.
    "backend-api/src/backend_api/previews/tool_api/",
    # Reads requests of Docker clients byte by byte, before the engine does.
    "sandbox-manager/engine-filter/src/engine_filter/wire.py",
    # The Docker SDK raises errors of its library.
    "sandbox-manager/src/sandbox_manager/infrastructure/runtimes/docker/",
)
_PROGRAMS_STAND_IN = (
    # Itself a program with limits, started by the kit.
    "backend-api/src/backend_api/writing/programs/export_program.py",
    # Starts sandboxes, which live on when the manager does not.
    "sandbox-manager/src/sandbox_manager/infrastructure/runtimes/process/",
)


def libraries_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the top-level package of each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.lineno, node.module.partition(".")[0]


def main() -> int:
    """Imports of these libraries elsewhere."""
    found: list[str] = []
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        if path.suffix != ".py" or "/src/" not in name:
            continue
        for line, library in libraries_of(ast.parse(path.read_text(encoding="utf-8"))):
            if library in _HTTP and not name.startswith(_HTTP_STANDS_IN):
                found.append(f"{name}:{line} ({library})")
            if library in _PROGRAMS and not name.startswith(_PROGRAMS_STAND_IN):
                found.append(f"{name}:{line} ({library})")
    return report("use service_kit.bounded_http, kit.untrusted or service_kit.programs instead", found)


if __name__ == "__main__":
    raise SystemExit(main())
