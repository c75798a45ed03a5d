"""The gateway with real stores, and with the worker inside unless there are background jobs."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from backend_api.kit.http.ports import WebOptions
from backend_api.main.app import Wire
from backend_api.main.closing import Closing
from backend_api.main.runtime import Plan, open_runtime, running, working
from backend_api.main.settings import named_hosts
from service_kit.tracing import follows_callers


def web_options(planned: Plan, page: Path | None = None) -> WebOptions:
    """The options of the edge, from the settings; `page` is the folder of the built page that it serves, if any."""
    settings = planned.settings
    return WebOptions(
        is_local=planned.made.port("is_local", False),
        metrics_token=settings.metrics_token.get_secret_value(),
        follows_traces=follows_callers(os.environ),
        # It may listen on a host name, by which others and its health check reach it.
        allowed_hosts=(*settings.allowed_hosts, *settings.host, *named_hosts(settings)),
        user_content_origin=settings.user_content_origin,
        public_url=settings.public_url,
        cors_origins=settings.cors_origins,
        max_upload_bytes=settings.max_upload_bytes,
        frontend=page,
    )


def wire_with(planned: Plan, closing: Closing) -> Wire:
    """The wiring of these settings, to be entered once."""

    @asynccontextmanager
    async def wire() -> AsyncGenerator[Mapping[str, object]]:
        async with open_runtime(planned, is_gateway=True) as parts, AsyncExitStack() as stack:
            for end in parts.closings:
                closing.on_begin(end)
            await stack.enter_async_context(running(parts.gateway_tasks))
            if not planned.settings.use_background_jobs:
                await stack.enter_async_context(working(parts, closing))
            yield parts.ports

    return wire
