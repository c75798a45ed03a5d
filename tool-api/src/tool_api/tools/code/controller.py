"""Runs code for the code tools, and manages their contexts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from contracts.tools import ToolResult
from tool_api.tools.code.execution import Execution
from tool_api.tools.code.kernels import Context, ContextBusyError, Kernels, TooManyContextsError
from tool_api.tools.code.kernelspecs import KernelSpec, KernelStartError
from tool_api.tools.code.results import result_of
from tool_api.tools.code.types import DEFAULT_LANGUAGE, CodeClose, CodeContexts, CodeRestart, CodeRun
from tool_api.tools.tool import CallContext, done, failed
from tool_api.write_bound import FULL, WriteBound, too_large, unbound

_LAST_WORD_S = 5.0
_GRACE_S = 2.0
"""Seconds that code which timed out gets to stop by itself, as its variables are worth waiting for."""
_BUSY_WAIT_S = 1.0
_GONE = "The kernel had to be ended: variables, imports and functions of this context are gone."


class _RefusedError(Exception):
    """The call is refused; the text says why, and what may work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeController:
    """Runs code in named contexts. `allowed` holds the commands that may run here; when empty, all may."""

    kernels: Kernels
    default_timeout_s: int
    allowed: frozenset[str]
    notice: Callable[[], str | None] = lambda: None
    """A notice added to each result, such as that the workspace is full."""
    bound: Callable[[], Awaitable[WriteBound]] = unbound
    """The write limit of code, asked before and after each execution."""

    async def run_code(self, call: CallContext, arguments: CodeRun) -> ToolResult:
        if (bound := await self.bound()).is_full:
            return failed(self.notice() or FULL)
        try:
            context = await self._context(arguments)
        except _RefusedError as refused:
            return failed(str(refused))
        try:
            execution = await context.start_execution(
                arguments.code,
                wait_s=min(_BUSY_WAIT_S, call.remaining_s),
                limit_s=call.remaining_s,
                file_bytes=bound.file_bytes,
            )
        except ContextBusyError as busy:
            return failed(
                f"The context {context.name} is still running: {_shorten(busy.execution.code)}\n"
                "Wait, use another context, or end it (code_restart)."
            )
        except KernelStartError as error:
            return failed(f"The kernel could not be started: {error}.")
        limit = min(arguments.timeout_s or self.default_timeout_s, max(0.0, call.remaining_s - _LAST_WORD_S))
        try:
            if await _follow(call, execution, limit):
                if execution.ended is not None:
                    # Processes that it started still run.
                    await asyncio.shield(context.close())
                await self.bound()
                result = result_of(context, execution)
                reason = None if result.success else too_large(bound.file_bytes, None, result.output)
                return self._with_notices(result, reason)
            kept = await context.abort(min(_GRACE_S, call.remaining_s))
        except asyncio.CancelledError:
            await asyncio.shield(context.abort())
            raise
        note = f"The code was interrupted, with all it had started, as it ran longer than {limit:.0f} s."
        return self._with_notices(result_of(context, execution, note if kept else f"{note} {_GONE}"))

    async def contexts(self, _: CallContext, __: CodeContexts) -> ToolResult:
        lines = [f"- {context.name}: {context.spec.language}, {_state(context)}" for context in self.kernels.all()] or [
            "No context is open."
        ]
        specs = [spec for spec in await self.kernels.specs() if self._is_allowed(spec)]
        return done("\n".join([*lines, f"Languages: {_list_kernels(specs)}."]))

    async def restart(self, _: CallContext, arguments: CodeRestart) -> ToolResult:
        context = self.kernels.find(arguments.context)
        if context is None:
            return self._no_context(arguments.context)
        await asyncio.shield(context.close())
        return done(f"The context {context.name} restarts with the next code.")

    async def close(self, _: CallContext, arguments: CodeClose) -> ToolResult:
        context = self.kernels.find(arguments.context)
        if context is None:
            return self._no_context(arguments.context)
        await asyncio.shield(self.kernels.close(context))
        return done(f"The context {context.name} is closed.")

    async def _context(self, arguments: CodeRun) -> Context:
        known = self.kernels.find(arguments.context) if arguments.context is not None else None
        if known is not None:
            if arguments.language is None or known.spec.runs(arguments.language):
                return known
            raise _RefusedError(
                f"The context {known.name} runs {known.spec.language}. Give another context for another language."
            )
        spec = await self._spec(arguments.language or DEFAULT_LANGUAGE)
        try:
            return self.kernels.open(arguments.context or spec.language.casefold(), spec)
        except TooManyContextsError:
            names = ", ".join(context.name for context in self.kernels.all())
            raise _RefusedError(f"Too many contexts are open: {names}. Use one of them, or close one.") from None

    async def _spec(self, language: str) -> KernelSpec:
        specs = await self.kernels.specs()
        spec = next((spec for spec in specs if spec.runs(language)), None)
        if spec is None:
            raise _RefusedError(f"There is no kernel for {language} in this sandbox. There is: {_list_kernels(specs)}.")
        if not self._is_allowed(spec):
            raise _RefusedError(f"Code in {spec.language} is not allowed in this sandbox.")
        return spec

    def _is_allowed(self, spec: KernelSpec) -> bool:
        return not self.allowed or not self.allowed.isdisjoint((spec.name, spec.language.casefold()))

    def _no_context(self, name: str) -> ToolResult:
        names = ", ".join(context.name for context in self.kernels.all()) or "none"
        return failed(f"There is no context {name}. Open: {names}.")

    def _with_notices(self, result: ToolResult, reason: str | None = None) -> ToolResult:
        notices = "".join(f"\n[{one}]" for one in (reason, self.notice()) if one is not None)
        return result.model_copy(update={"output": f"{result.output}{notices}"}) if notices else result


async def _follow(call: CallContext, execution: Execution, limit_s: float) -> bool:
    """Stream output until the execution ends; False when the time is over first."""
    loop = asyncio.get_running_loop()
    until = loop.time() + limit_s
    while True:
        has_output = await execution.wait_for_output(max(0.0, until - loop.time()))
        if text := execution.take_unread():
            await call.output(text)
        if execution.is_finished:
            return True
        if not has_output or loop.time() >= until:
            return False


def _state(context: Context) -> str:
    if context.is_busy and context.execution is not None:
        return f"running: {_shorten(context.execution.code)}"
    return "idle" if context.is_started else "not started"


def _list_kernels(specs: Sequence[KernelSpec]) -> str:
    return ", ".join(f"{spec.language} ({spec.name})" for spec in specs) or "none"


def _shorten(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[:limit] + "..."
