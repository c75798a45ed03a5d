"""The print window of Chrome, which blocks its page until it is closed. No tool could use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from tool_api.tools.browser.cdp import CdpClosedError, CdpConnection, CdpError

PRINT_WINDOW = "chrome://print"
PRINTED = (
    "The page asked to print. The print window was closed, as it holds the page and can't be used by tools; nothing "
    "was printed."
)
CLOSE_S = 5.0
_RETRY_S = 0.1
# The script of the window's own button. Chrome's command to close a target has no effect on it.
_CLOSE = "globalThis.isClosing ||= Boolean(globalThis.chrome?.send) && (chrome.send('dialogClose'), true)"


async def close_print_window(connection: CdpConnection, target: str, is_closed: Callable[[], bool]) -> None:
    """Close the print window as soon as it has loaded. Raises `CdpError`, and `TimeoutError` if it stays."""
    attached = await connection.send("Target.attachToTarget", {"targetId": target, "flatten": True})
    async with asyncio.timeout(CLOSE_S):
        while not is_closed():
            with suppress(CdpClosedError):
                await _ask_to_close(connection, str(attached["sessionId"]))
            await asyncio.sleep(_RETRY_S)


async def _ask_to_close(connection: CdpConnection, session: str) -> None:
    try:
        await connection.send("Runtime.evaluate", {"expression": _CLOSE}, session=session, timeout_s=1)
    except CdpClosedError:
        raise
    except (CdpError, TimeoutError):
        # It is between two documents.
        return
