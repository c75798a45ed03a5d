"""A tool API that is slow, gone or somewhere else takes no running command with it, neither its own nor another's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import SandboxLostError, SandboxUnavailableError
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.sandbox_tools import ToolApiSandboxTools
from backend_api.sandboxes.tool_api.workspace import FILES, ToolApiWorkspace
from contracts.sandboxes import EndpointToken
from service_kit.bounded_http import BoundedHttp, Bounds
from support.gateway_sandboxes import a_sandbox, shell_call
from support.hostile_endpoint import Wire, head, hostile_endpoint, result

WAIT_S = 10.0
MANY = 20
SLOW = replace(FILES, listing=Bounds(body_bytes=1_000, head_s=0.3, whole_s=0.3))


@dataclass(slots=True)
class Sandboxes:
    """Tool APIs on sockets. Commands run until `let` go; `listing` is what each answers of its files."""

    folder: Path
    addresses: dict[str, str] = field(default_factory=dict[str, str])
    let: asyncio.Event = field(default_factory=asyncio.Event)
    running: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    is_silent: bool = False

    async def token(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        del scopes
        # As when the manager is asked, others come meanwhile.
        await asyncio.sleep(0)
        expires_at = datetime.now(UTC) + timedelta(seconds=300)
        endpoint = self.addresses[sandbox.id]
        return EndpointToken(
            token="token", expires_at=expires_at, endpoint=endpoint, sandbox_id=sandbox.id, generation=1
        )

    def forget(self, sandbox: Sandbox) -> None:
        """It tells the same again."""

    async def behave(self, wire: Wire) -> None:
        if wire.request.startswith(b"POST /tools/"):
            await wire.send(head())
            self.running.release()
            await self.let.wait()
            await wire.send(result(output="ran to its end"))
        elif self.is_silent:
            await wire.hold()
        else:
            await wire.send(head("Content-Length: 2") + b"[]")
            while await wire.reader.readuntil(b"\r\n\r\n"):
                await wire.send(head("Content-Length: 2") + b"[]")

    @asynccontextmanager
    async def serve(self, name: str, at: str | None = None) -> AsyncGenerator[Sandbox]:
        async with hostile_endpoint(self.folder / (at or name), self.behave) as socket:
            self.addresses[name] = f"unix:{socket}"
            yield a_sandbox(name, f"session-{name}")


@pytest.fixture
def sandboxes(tmp_path: Path) -> Sandboxes:
    return Sandboxes(tmp_path)


async def command(endpoints: Endpoints, sandbox: Sandbox) -> str:
    async def on_output(_: str) -> None:
        return

    call = shell_call(on_output)
    return (await ToolApiSandboxTools(endpoints).call(sandbox, call)).output


@asynccontextmanager
async def running_command(sandboxes: Sandboxes, endpoints: Endpoints, sandbox: Sandbox) -> AsyncGenerator[None]:
    """It runs for the length of the block, and must come to its end after it."""
    task = asyncio.create_task(command(endpoints, sandbox))
    async with asyncio.timeout(WAIT_S):
        await sandboxes.running.acquire()
        yield
        sandboxes.let.set()
        assert await task == "ran to its end"


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_a_slow_listing_ends_no_command(sandboxes: Sandboxes) -> None:
    async with sandboxes.serve("one") as one, Endpoints(sandboxes) as endpoints:
        sandboxes.is_silent = True
        async with running_command(sandboxes, endpoints, one):
            for _ in range(3):
                with pytest.raises(SandboxLostError):
                    await ToolApiWorkspace(endpoints, SLOW).list(one, "")
            sandboxes.is_silent = False
            assert await ToolApiWorkspace(endpoints).list(one, "") == []


async def test_a_sandbox_that_is_somewhere_else_now_ends_no_command_where_it_was(sandboxes: Sandboxes) -> None:
    async with (
        sandboxes.serve("one") as one,
        Endpoints(sandboxes) as endpoints,
        running_command(sandboxes, endpoints, one),
    ):
        async with sandboxes.serve("one", at="elsewhere"):
            assert await ToolApiWorkspace(endpoints).list(one, "") == []
        with pytest.raises(SandboxUnavailableError):
            await ToolApiWorkspace(endpoints).list(one, "")


async def test_many_sandboxes_at_once_end_no_command_of_another(sandboxes: Sandboxes) -> None:
    async with AsyncExitStack() as stack:
        served = [await stack.enter_async_context(sandboxes.serve(f"s{number}")) for number in range(MANY)]
        endpoints = await stack.enter_async_context(Endpoints(sandboxes, most=4))
        async with running_command(sandboxes, endpoints, served[0]):
            for sandbox in served[1:]:
                assert await ToolApiWorkspace(endpoints).list(sandbox, "") == []
            before = open_files()
            for sandbox in served[1:]:
                assert await ToolApiWorkspace(endpoints).list(sandbox, "") == []
            assert open_files() <= before + 1, "those that are idle are closed"


async def test_more_commands_than_endpoints_are_kept_all_run_to_their_end(sandboxes: Sandboxes) -> None:
    async with AsyncExitStack() as stack:
        served = [await stack.enter_async_context(sandboxes.serve(f"s{number}")) for number in range(MANY)]
        endpoints = await stack.enter_async_context(Endpoints(sandboxes, most=4))
        for sandbox in served:
            await stack.enter_async_context(running_command(sandboxes, endpoints, sandbox))


async def test_those_who_come_at_once_open_one_endpoint_and_leave_nothing_open(sandboxes: Sandboxes) -> None:
    async with sandboxes.serve("one") as one, sandboxes.serve("one", at="elsewhere"):
        elsewhere = sandboxes.addresses["one"]
        before = open_files()
        async with Endpoints(sandboxes) as endpoints:
            for address in (elsewhere.replace("elsewhere", "one"), elsewhere) * 3:
                sandboxes.addresses["one"] = address
                answers = await asyncio.gather(*(ToolApiWorkspace(endpoints).list(one, "") for _ in range(MANY)))
                assert answers == [[]] * MANY
        await asyncio.sleep(0.1)
        assert open_files() <= before


@pytest.mark.parametrize("ends", ["cancelled", "failed"])
async def test_idle_endpoints_are_all_closed_though_who_closes_them_is_stopped(
    sandboxes: Sandboxes, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    closing, close = asyncio.Event(), BoundedHttp.aclose

    async def close_with_trouble(http: BoundedHttp) -> None:
        await close(http)
        if not closing.is_set():
            closing.set()
            if ends == "failed":
                raise OSError("no end")
            await asyncio.Event().wait()

    async with AsyncExitStack() as stack:
        one, *others = [await stack.enter_async_context(sandboxes.serve(f"s{number}")) for number in range(MANY)]
        endpoints = await stack.enter_async_context(Endpoints(sandboxes, most=1))
        before = open_files()
        async with AsyncExitStack() as held:
            for other in others:
                await held.enter_async_context(endpoints.open(other, [Scope.FILES]))
        assert open_files() > before + MANY // 2, "endpoints nobody uses stay open until there is need for room"
        monkeypatch.setattr(BoundedHttp, "aclose", close_with_trouble)
        asking = asyncio.create_task(ToolApiWorkspace(endpoints).list(one, ""))
        async with asyncio.timeout(WAIT_S):
            await closing.wait()
            if ends == "cancelled":
                asking.cancel()
            with pytest.raises((asyncio.CancelledError, OSError)):
                await asking
        assert open_files() <= before + 1
