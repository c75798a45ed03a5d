"""Run the stack until Ctrl+C, SIGTERM, or a child that can't be kept running."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from pathlib import Path

from local_stack.data_folder import load_secrets, locked_data_folder
from local_stack.errors import StackError
from local_stack.ports import claim_public_port
from local_stack.reload import restart_on_change
from local_stack.services import Stack, child_specs, plan_stack
from local_stack.settings import StackSettings, load_settings
from local_stack.supervisor import Supervisor

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> int:
    try:
        settings = load_settings()
        with locked_data_folder(settings.data_dir) as folder:
            return asyncio.run(_run(settings, folder.resolve()))
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


async def _run(settings: StackSettings, folder: Path) -> int:
    port = claim_public_port(settings.host, settings.port)
    stack = plan_stack(settings, load_secrets(folder), folder, port)
    supervisor = Supervisor(child_specs(stack), folder / "logs", folder / "stack.json")
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, asked.set)
    waiting = asyncio.create_task(asked.wait())
    try:
        return await _until_the_end(stack, supervisor, waiting)
    finally:
        waiting.cancel()
        _say("Stopping ...")
        await supervisor.stop_all()
        _say("Stopped; the data is kept in " + str(folder))


async def _until_the_end(stack: Stack, supervisor: Supervisor, waiting: asyncio.Task[bool]) -> int:
    _say("Starting ...")
    starting = asyncio.create_task(_start(stack, supervisor))
    await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError, StackError):
            await starting
        return 0
    await starting
    _say(f"\nReady: {stack.page_url}   (Ctrl+C ends it; logs in {stack.folder / 'logs'})\n")
    watching = (
        asyncio.create_task(restart_on_change(supervisor, stack.settings.root)) if stack.settings.reload else None
    )
    await asyncio.wait({waiting, supervisor.failure}, return_when=asyncio.FIRST_COMPLETED)
    if watching:
        watching.cancel()
    if supervisor.failure.done():
        raise StackError(supervisor.failure.result())
    return 0


async def _start(stack: Stack, supervisor: Supervisor) -> None:
    if stack.mongo_user is not None:
        await stack.mongo_user.ensure()
    await supervisor.start_all(_say)


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
