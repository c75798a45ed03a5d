"""An endpoint of nothing but the bridge to a screen, on a unix socket."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from support.endpoint import KeyPair
from support.listening import serving
from tool_api.access import Access
from tool_api.desktop_turn import DesktopTurn
from tool_api.http.vnc import vnc_router
from tool_api.viewer_control import ViewerControl
from tool_api.vnc.bridge import CloseCode
from tool_api.vnc.fitting import ScreenFitting
from tool_api.vnc.sizes import ScreenSize

USUAL = ScreenSize(1280, 800)


@asynccontextmanager
async def running_bridge(
    folder: Path, screen: str | CloseCode, keys: KeyPair, *, turn: DesktopTurn | None = None, unwatched_s: float = 60
) -> AsyncGenerator[Path]:
    """Its socket; `screen` is the one of the X server, or why there is none."""
    app, path = FastAPI(), folder / "door.sock"
    access = Access(sandbox_id="sandbox-1", generation=1, public_key_pem=keys.public_pem)
    fitting = ScreenFitting(turn or DesktopTurn(), USUAL, unwatched_s=unwatched_s)
    app.include_router(vnc_router(lambda _: access, lambda _: screen, ViewerControl(), fitting))
    async with serving(
        uvicorn.Server(uvicorn.Config(app, uds=str(path), log_level="error", ws_per_message_deflate=False))
    ):
        try:
            yield path
        finally:
            await fitting.close()
