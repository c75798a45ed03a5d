"""Let Chrome trust the machine's additional certificate authorities, for networks that re-sign TLS.

Chrome brings roots of its own and asks only its user's NSS database beside them. The image does this by policy; a
sandbox without an image of ours needs `certutil` for it.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from tool_api.desktop.process import StartFailedError, running
from tool_api.desktop.programs import environment
from tool_api.desktop.settings import DesktopSettings
from tool_api.programs.installed import find_program

logger = logging.getLogger(__name__)

CERTUTIL = "certutil"
MKDIR = "/bin/mkdir"
TIMEOUT_S = 10.0
MOST_AUTHORITIES = 50


async def trust_authorities(settings: DesktopSettings) -> None:
    """Rebuild the NSS database, once a sandbox. Failures are logged: pages then show the usual warning."""
    path = find_program(CERTUTIL, search_path=settings.search_path)
    authorities = sorted(settings.authorities.rglob("*.crt"))[:MOST_AUTHORITIES]
    database = settings.home / ".pki" / "nssdb"
    if path is None or not authorities or database.exists():
        return
    try:
        await _run([MKDIR, "-p", "-m", "0700", str(database)], settings)
        await _run([path, "-d", f"sql:{database}", "-N", "--empty-password"], settings)
        for one in authorities:
            await _run([path, "-d", f"sql:{database}", "-A", "-t", "C,,", "-n", one.stem, "-i", str(one)], settings)
    except (StartFailedError, TimeoutError) as error:
        logger.warning("authorities could not be added", extra={"reason": str(error)})


async def _run(command: list[str], settings: DesktopSettings) -> None:
    name = Path(command[0]).name
    async with running(name, command, environment(settings), settings) as program:
        async with asyncio.timeout(TIMEOUT_S):
            code = await program.wait()
        if code != 0:
            raise StartFailedError(f"{name} ended with code {code}: {' | '.join(program.tail)[-300:]}")
