"""The contexts of a sandbox: named kernels that live on between calls and end with the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tool_api import measures
from tool_api.programs.environment import program_environment
from tool_api.tools.code.execution import Execution
from tool_api.tools.code.kernelspecs import KernelSpec, KernelSpecs

if TYPE_CHECKING:
    from tool_api.tools.code.kernel import Kernel

_KERNEL_MODULE = "tool_api.tools.code.kernel"

MAX_CONTEXTS = 8
START_S = 40.0
STOP_GRACE_S = 0.25
"""Seconds that stopped code gets to end by itself. A user who stops a run waits half a second at most."""


class ContextBusyError(Exception):
    """The context still runs other code."""

    def __init__(self, execution: Execution) -> None:
        super().__init__(execution.code)
        self.execution = execution


class TooManyContextsError(Exception):
    """The limit of open contexts is reached."""


class Context:
    """A kernel by name, started when first needed and again after it ended."""

    def __init__(self, name: str, spec: KernelSpec, start: Callable[[KernelSpec, float], Awaitable[Kernel]]) -> None:
        self.name = name
        self.spec = spec
        self.execution: Execution | None = None
        self._start = start
        self._kernel: Kernel | None = None
        self._turn = asyncio.Lock()

    @property
    def is_busy(self) -> bool:
        return self.execution is not None and not self.execution.is_finished

    @property
    def is_started(self) -> bool:
        return self._kernel is not None and self._kernel.is_alive

    async def start_execution(
        self, code: str, *, wait_s: float, limit_s: float, file_bytes: int | None = None
    ) -> Execution:
        """Run code; it may make no file larger than `file_bytes`.

        Raises `ContextBusyError`, and `KernelStartError` if there is no kernel and none starts.
        """
        if self.execution is not None and not await self.execution.wait(wait_s):
            raise ContextBusyError(self.execution)
        async with self._turn:
            if self.execution is not None and not self.execution.is_finished:
                raise ContextBusyError(self.execution)
            kernel = await self._living_kernel(limit_s)
            self.execution = Execution(code)
            kernel.run_code(self.execution, file_bytes)
            return self.execution

    async def abort(self, grace_s: float = STOP_GRACE_S) -> bool:
        """End the running code with all it started; False when the kernel did not stop in time and was ended too."""
        async with self._turn:
            return self._kernel is None or await self._kernel.interrupt(grace_s)

    async def close(self) -> None:
        """End the kernel with all it ever started. The next code starts another one."""
        async with self._turn:
            if self._kernel is not None:
                await self._kernel.close()
                self._kernel = None

    async def _living_kernel(self, limit_s: float) -> Kernel:
        if self._kernel is not None and not self._kernel.is_alive:
            await self._kernel.close()
            self._kernel = None
        if self._kernel is None:
            self._kernel = await self._start(self.spec, limit_s)
        return self._kernel


class Kernels:
    """The contexts by name; an async context manager that ends them. Opens nothing before it is used."""

    def __init__(
        self, workspace: Path, python: Path, home: Path, display: Callable[[], str | None] = lambda: None
    ) -> None:
        self._workspace = workspace
        self._python = python
        self._display = display
        self._specs = KernelSpecs(python, home)
        self._contexts: dict[str, Context] = {}

    async def __aenter__(self) -> Kernels:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(context.close() for context in self._contexts.values()))

    @property
    def is_busy(self) -> bool:
        """Whether code runs in any context."""
        return any(context.is_busy for context in self._contexts.values())

    async def end_executions(self) -> None:
        """End the code that runs in any context, with all it started."""
        await asyncio.gather(*(context.abort() for context in self._contexts.values() if context.is_busy))

    async def end_all(self) -> None:
        """End each kernel with all it ever started."""
        await asyncio.gather(*(context.close() for context in self._contexts.values()))

    async def specs(self) -> list[KernelSpec]:
        """The kernels that can run here; empty if their Python environment is missing."""
        return await asyncio.to_thread(self._specs.all) if self._python.exists() else []

    def all(self) -> list[Context]:
        return [self._contexts[name] for name in sorted(self._contexts)]

    def find(self, name: str) -> Context | None:
        return self._contexts.get(name)

    def open(self, name: str, spec: KernelSpec) -> Context:
        """The context of that name, made if it is new. Raises `TooManyContextsError`."""
        if name not in self._contexts:
            if len(self._contexts) >= MAX_CONTEXTS:
                raise TooManyContextsError
            self._contexts[name] = Context(name, spec, self._start)
            measures.CODE_CONTEXTS.set(len(self._contexts))
        return self._contexts[name]

    async def close(self, context: Context) -> None:
        """End a context and forget it."""
        self._contexts.pop(context.name, None)
        measures.CODE_CONTEXTS.set(len(self._contexts))
        await context.close()

    async def _start(self, spec: KernelSpec, limit_s: float) -> Kernel:
        # Loading `jupyter_client` takes 0.3 s and 7 MB, which most sandboxes never need.
        module = await asyncio.to_thread(import_module, _KERNEL_MODULE)
        kernel = cast("type[Kernel]", module.Kernel)
        environment = program_environment(self._display())
        return await kernel.start_kernel(
            spec, self._python, self._workspace, environment, limit_s=min(START_S, limit_s)
        )
