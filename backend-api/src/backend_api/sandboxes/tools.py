"""The tools of the session's sandbox, started when the first of them is called."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files

from pydantic import TypeAdapter

from backend_api.agent.capability import Setup
from backend_api.agent.tool import Done, Tool, ToolCall, ToolSpec
from backend_api.agent.tools.model_schema import model_schema
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import SandboxLostError, SandboxUnavailableError
from backend_api.sandboxes.ports import Sandboxes, SandboxTools
from contracts import tools as wire

logger = logging.getLogger(__name__)

START_ALLOWANCE_MS = 720_000
"""A call may have to wait for the sandbox to start, or for the queue; its own deadline counts inside."""

REBUILT_WITHIN_S = 10.0
REBUILT_LOOK_S = 0.3
MAX_REMEMBERED = 5_000

RESTARTED = (
    "[The computer was restarted since the last call. Files in the workspace are kept; shells, programs that ran, and "
    "the browser's pages are gone.]"
)

LOST = "{detail} What was called may have happened, in whole or in part; check before repeating it."

NO_SKILL_FILES = "[This is a remote host: the files of {names} are not on it. Only what you read of them counts here.]"


@cache
def manifest_tools() -> Sequence[ToolSpec]:
    """The tools every sandbox offers, from the manifest the tool API publishes in the contracts."""
    content = files("contracts").joinpath("tool_manifest.json").read_bytes()
    return tuple(
        ToolSpec(
            name=spec.name,
            description=spec.description,
            parameters=model_schema(spec.parameters),
            phrase=spec.phrase,
            effect="reads" if spec.read_only else "writes",
            dangerous=spec.dangerous,
            waits=spec.waits,
            deadline_ms=spec.deadline_ms + START_ALLOWANCE_MS,
        )
        for spec in TypeAdapter(list[wire.ToolSpec]).validate_json(content)
    )


RECORDED = frozenset({"background_run", "check_background", "background_stop"})
"""Tools that need a record of what they start: the module that keeps it offers them."""


def foreground_tools() -> list[ToolSpec]:
    """All other tools."""
    return [spec for spec in manifest_tools() if spec.name not in RECORDED]


def shell_of(agent_id: str) -> str:
    """The name of a sub-agent's own shell. Sandboxes close such shells again if there are too many."""
    return f"agent-{sha256(agent_id.encode()).hexdigest()[:8]}"


PlaceSkills = Callable[[Sandbox, str, Sequence[str]], Awaitable[Sequence[str]]]
"""Ensures that the folders of these skills of a user are there, and returns messages about those that are not."""


async def no_folders(sandbox: Sandbox, user_id: str, names: Sequence[str]) -> Sequence[str]:
    """Place nothing, as there are no skills."""
    del sandbox, user_id, names
    return ()


class SandboxToolSource:
    """`ToolSource` of the sandboxes: each call runs in its session's sandbox, which is started if there is none."""

    def __init__(
        self,
        specs: Sequence[ToolSpec],
        sandboxes: Sandboxes,
        sandbox_tools: SandboxTools,
        *,
        place_skills: PlaceSkills = no_folders,
        keep_alive_s: float = 20.0,
        rebuilt_within_s: float = REBUILT_WITHIN_S,
    ) -> None:
        self._rebuilt_within_s = rebuilt_within_s
        self._keep_alive_s = keep_alive_s
        self._tools = [Tool(spec=spec, run_call=self._run) for spec in specs]
        self._of_shells = frozenset(one.name for one in specs if "shell" in one.parameters.get("properties", {}))
        self._place_skills = place_skills
        self._sandboxes = sandboxes
        self._sandbox_tools = sandbox_tools
        self._last: dict[str, int] = {}

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The same ones for every agent."""
        return self._tools

    async def _run(self, call: ToolCall) -> Done:
        """Run a call once the folders of the skills that were read are there, with current tasks and team. A sub-agent
        that names no shell has one of its own: agents that work side by side neither wait for each other's commands nor
        change each other's folder."""
        if call.agent_id is not None and call.name in self._of_shells:
            call.arguments = {"shell": shell_of(call.agent_id)} | call.arguments
        try:
            async with self._keep_in_use(call.session_id):
                outcome, sandbox = await self._call_once_ready(call, call.skills_read())
        except SandboxLostError as error:
            return Done(success=False, output=LOST.format(detail=error.detail))
        if self._note_rebuilt(sandbox):
            return replace(outcome, output=f"{RESTARTED}\n{outcome.output}")
        return outcome

    async def _call_once_ready(self, call: ToolCall, skills: Sequence[str]) -> tuple[Done, Sandbox]:
        until = asyncio.get_running_loop().time() + self._rebuilt_within_s
        while True:
            call.mark_started(False)
            sandbox = await self._sandboxes.ensure(call.session_id, call.user_id)
            self._remember(sandbox.session_id, self._last.get(sandbox.session_id, sandbox.generation))
            missing = await self._placed(sandbox, call.user_id, skills)
            await call.mirror()
            call.mark_started(True)
            try:
                outcome = await self._sandbox_tools.call(sandbox, call)
                return replace(outcome, output="\n".join([*missing, outcome.output])), sandbox
            except SandboxUnavailableError:
                # Nothing ran: the endpoint was closed. The sandbox may have died, which its manager notices in a
                # moment; a request after that gets a new one.
                call.mark_started(False)
                if asyncio.get_running_loop().time() >= until:
                    raise
            await asyncio.sleep(REBUILT_LOOK_S)

    async def _placed(self, sandbox: Sandbox, user_id: str, skills: Sequence[str]) -> Sequence[str]:
        if not sandbox.is_remote_host:
            return await self._place_skills(sandbox, user_id, skills)
        return [NO_SKILL_FILES.format(names=", ".join(skills))] if skills else []

    def _note_rebuilt(self, sandbox: Sandbox) -> bool:
        """Remember which sandbox answered last; returns whether the session's previous call was answered by one that is
        gone, or was lost with it."""
        known = self._last.get(sandbox.session_id, sandbox.generation)
        self._remember(sandbox.session_id, sandbox.generation)
        return known != sandbox.generation

    def _remember(self, session_id: str, generation: int) -> None:
        self._last.pop(session_id, None)
        while len(self._last) >= MAX_REMEMBERED:
            del self._last[next(iter(self._last))]
        self._last[session_id] = generation

    @asynccontextmanager
    async def _keep_in_use(self, session_id: str) -> AsyncGenerator[None]:
        """Count a long-running command as activity all the while."""
        beating = asyncio.create_task(self._keep_alive_until_cancelled(session_id))
        try:
            yield
        finally:
            beating.cancel()
            await asyncio.wait({beating})

    async def _keep_alive_until_cancelled(self, session_id: str) -> None:
        while True:
            await self._keep_alive(session_id)
            await asyncio.sleep(self._keep_alive_s)

    async def _keep_alive(self, session_id: str) -> None:
        try:
            await self._sandboxes.keep_alive(session_id)
        except SandboxUnavailableError:
            # The endpoint may answer all the same; if not, the call reports it.
            logger.warning("a sandbox's use could not be reported to the manager", extra={"session_id": session_id})
