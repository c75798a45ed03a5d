"""The MCP servers of one run: the tools offered to its agents, and the connections their calls use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from backend_api.agent.events import McpUpdated, Notice
from backend_api.agent.mcp_servers import KnownMcpServer
from backend_api.agent.new_events import NewEvent
from backend_api.agent.preset import Preset
from backend_api.agent.tool import Done, Tool, ToolCall, ToolSpec
from backend_api.conversations.domain.entity import Lease
from backend_api.conversations.ports import EventLog
from backend_api.kit.ids import UserId
from backend_api.mcp.application.pinned_tools import (
    Found,
    failed,
    failed_refresh,
    is_other,
    notice_of_failure,
    notice_of_too_large,
    notice_of_too_many,
    pinned_listing,
    ready,
)
from backend_api.mcp.application.user_sign_ins import SignInsOfUsers, with_sign_ins
from backend_api.mcp.domain.entity import MAX_TOOLS, Listing, McpTarget, McpTool, prefix_of, room_in, within_bound
from backend_api.mcp.ports import (
    McpConnection,
    McpConnector,
    McpNotCalledError,
    McpServerError,
    Place,
    ServerJournal,
)
from service_kit.amounts import duration_text

T = TypeVar("T")

CALL_DEADLINE_MS = 120_000
START_ALLOWANCE_MS = 60_000
"""Extra time for a call of a program, whose sandbox may have to be started."""
MAX_FAILURES = 3
"""Failures of one server in a run after which it is not tried again."""
MAX_DROPPED = 5
"""Connections no longer used that are kept open for calls still waiting on them."""
GONE = "Nothing was run: the MCP server {name} can't be used. {reason}"
FORBIDDEN = "The MCP server {name} refused the call. {reason}"
MAY_HAVE_RUN = "The MCP server {name} can't be used any more. {reason} Part of it may have happened."


def spec_of(target: McpTarget, tool: McpTool) -> ToolSpec:
    """The tool as agents get it. Its effect is always `writes`, whatever the server claims."""
    short = tool.public_name.removeprefix(prefix_of(target.name))
    return ToolSpec(
        name=tool.public_name,
        description=tool.description,
        parameters=tool.parameters,
        phrase=f"Using {short} of {target.name}",
        effect="writes",
        needs_sandbox=target.is_program,
        deadline_ms=CALL_DEADLINE_MS + (START_ALLOWANCE_MS if target.is_program else 0),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServers:
    """The MCP servers for the runs of a worker: the deployment's, `shared`, and those that users added."""

    connector: McpConnector
    log: EventLog
    clock: Callable[[], datetime]
    shared: Sequence[McpTarget] = ()
    own: Callable[[UserId], Awaitable[Sequence[McpTarget]]] | None = None
    sign_ins: SignInsOfUsers | None = None
    within_s: float = 10.0
    """Timeout, in seconds, for a server to list its tools."""
    starts_within_s: float = START_ALLOWANCE_MS / 1000
    """Extra time, in seconds, for a program: its sandbox may have to be started."""
    refreshed_after: timedelta = timedelta(hours=1)
    retried_after: timedelta = timedelta(minutes=1)

    @asynccontextmanager
    async def of_run(
        self, lease: Lease, journal: ServerJournal, preset: Preset, context_window: int
    ) -> AsyncGenerator[Sequence[Tool]]:
        """The tools of a run's agents, from the servers the preset allows, as many as fit in a context of so many
        tokens. The list stays fixed during the run; connections are opened when a tool is called and closed at the end.
        Nothing is looked up for users without servers. Raises `StoreUnavailableError`, `DrainedError`."""
        targets = [*self.shared]
        if self.own is not None and lease.has_settings:
            taken = {target.name for target in targets}
            targets += [target for target in await self.own(lease.run.user_id) if target.name not in taken]
        targets = [target for target in targets if preset.may_have(prefix_of(target.name))]
        if not targets:
            yield ()
            return
        if self.sign_ins is not None and lease.has_settings:
            targets = await with_sign_ins(self.sign_ins, lease.run.user_id, targets)
        run = _Run(
            servers=self,
            lease=lease,
            journal=journal,
            context_window=context_window,
            targets={target.name: target for target in targets},
        )
        try:
            yield await run.tools()
        finally:
            await run.close()


@dataclass(slots=True, kw_only=True)
class _Run:
    servers: McpServers
    lease: Lease
    journal: ServerJournal
    context_window: int
    targets: Mapping[str, McpTarget]
    _connections: dict[str, McpConnection] = field(default_factory=dict[str, McpConnection])
    _dropped: list[McpConnection] = field(default_factory=list[McpConnection])
    """Connections over which no new call is made."""
    _connecting: dict[str, asyncio.Lock] = field(default_factory=dict[str, asyncio.Lock])
    _failures: dict[str, int] = field(default_factory=dict[str, int])
    _reported: set[str] = field(default_factory=set[str])
    """Servers whose failure a call has already reported."""
    _changed_ones: set[str] = field(default_factory=set[str])
    _listings: dict[str, Listing] = field(default_factory=dict[str, Listing])

    async def tools(self) -> list[Tool]:
        """The tools as they were last recorded, as long as that is valid; otherwise the server is queried."""
        await self.journal.conversation()
        known = self.journal.mcp_servers()
        looking = [asyncio.ensure_future(self._find_tools(one, known.get(one.name))) for one in self.targets.values()]
        try:
            found = await asyncio.gather(*looking)
        finally:
            # If one fails, no other may connect after all connections were closed.
            for one in looking:
                one.cancel()
            await asyncio.gather(*looking, return_exceptions=True)
        is_new = any(is_other(one.items, known.get(name)) for name, one in zip(self.targets, found, strict=True))
        if items := [item for one in found for item in one.items]:
            await self.journal.record_items(items)
        self._listings = {name: one.listing for name, one in zip(self.targets, found, strict=True)}
        offered = [*within_bound(self._listings.items(), room_in(self.context_window))]
        if is_new:
            await self._report_left_out([tool.public_name for _, listing in offered for tool in listing.tools])
        return [self._tool(self.targets[name], tool) for name, listing in offered for tool in listing.tools]

    async def _report_left_out(self, offered: Sequence[str]) -> None:
        listed = [tool.public_name for listing in self._listings.values() for tool in listing.tools]
        notices = [notice_of_too_many(listed)] if len(listed) > MAX_TOOLS else []
        if too_large := [name for name in listed[:MAX_TOOLS] if name not in offered]:
            notices.append(notice_of_too_large(too_large, self.context_window))
        if notices:
            await self.journal.record_items([NewEvent(payload=notice) for notice in notices])

    async def _find_tools(self, target: McpTarget, known: KnownMcpServer | None) -> Found:
        if known is not None and known.told.config != target.server.config:
            known = None
        age = self.servers.clock() - known.at if known else timedelta()
        is_older = known is not None and target.signed_in_at is not None and known.at < target.signed_in_at
        is_failed = known is not None and known.told.status == "failed"
        if is_failed and not is_older and age < self.servers.retried_after:
            return Found(listing=await self._pinned(known) or Listing())
        pinned = await self._pinned(known)
        is_fresh = (
            known is not None
            and known.told.status == "ready"
            and not known.has_changed
            and not is_older
            and age < self.servers.refreshed_after
        )
        if pinned is not None and (is_fresh or self.lease.has_begun_before):
            return Found(listing=pinned)
        try:
            listing = await self._listing(target)
        except McpServerError as error:
            if pinned is not None:
                # The tools on offer stay, recorded again; a call shows whether they still work.
                return Found(listing=pinned, items=failed_refresh(target, pinned, known))
            return Found(items=failed(target, error, known))
        return Found(listing=listing, items=ready(target, listing, known))

    async def _listing(self, target: McpTarget) -> Listing:
        """Fetches the list, a second time over a new connection if the first one was unusable."""
        connection = await self._connected(target)
        try:
            return await self._with_timeout(target, connection.listing())
        except McpNotCalledError:
            await self._drop(target, connection)
            return await self._with_timeout(target, (await self._connected(target)).listing())

    async def _pinned(self, known: KnownMcpServer | None) -> Listing | None:
        return await pinned_listing(self.servers.log, self.lease.run.session_id, known)

    def _tool(self, target: McpTarget, tool: McpTool) -> Tool:
        return Tool(spec=spec_of(target, tool), run_call=partial(self._call, target, tool.name))

    async def _call(self, target: McpTarget, name: str, call: ToolCall) -> Done:
        said: list[McpUpdated | Notice] = []
        try:
            connection = await self._ready_for(call, target, said)
            try:
                done = await connection.call(name, call)
            except McpNotCalledError:
                # Repeat it over a new connection with a new session: nothing was done.
                call.mark_started(False)
                await self._drop(target, connection)
                connection = await self._ready_for(call, target, said)
                done = await connection.call(name, call)
        except McpServerError as error:
            if isinstance(error, McpNotCalledError):
                call.mark_started(False)
                self._count_failure(target)
            template = MAY_HAVE_RUN if call.has_begun else GONE
            if error.cause in ("needs_sign_in", "needs_scope", "scope_refused"):
                template = FORBIDDEN
            output = template.format(name=target.name, reason=error)
            return Done(success=False, output=output, events=self._report_failure(target, error))
        if connection.is_doubtful:
            await self._drop(target, connection)
        if connection.has_changed and not said and target.name not in self._changed_ones:
            said = [self._other_tools(target)]
        self._changed_ones |= {target.name} if said else set()
        return replace(done, events=said)

    async def _ready_for(self, call: ToolCall, target: McpTarget, said: list[McpUpdated | Notice]) -> McpConnection:
        """The connection for a call; `said` gets an event if the server now lists other tools."""
        call.mark_started(False)
        is_new = target.name not in self._connections
        connection = await self._connected(target)
        if is_new and not said:
            said += await self._changed(target, connection)
        call.mark_started(True)
        return connection

    async def _drop(self, target: McpTarget, connection: McpConnection) -> None:
        """Forgets an unusable connection, unless another call already did. Calls still waiting for answers over it are
        not cut off."""
        async with self._connecting.setdefault(target.name, asyncio.Lock()):
            if self._connections.get(target.name) is not connection:
                return
            del self._connections[target.name]
            if not connection.is_open:
                self._count_failure(target)
            self._dropped.append(connection)
            if len(self._dropped) > MAX_DROPPED:
                await self._dropped.pop(0).close()

    def _count_failure(self, target: McpTarget) -> None:
        self._failures[target.name] = self._failures.get(target.name, 0) + 1

    async def _connected(self, target: McpTarget) -> McpConnection:
        """The run's one connection to the server, reopened if it is gone."""
        async with self._connecting.setdefault(target.name, asyncio.Lock()):
            connection = self._connections.get(target.name)
            if connection is not None and connection.is_open:
                return connection
            if connection is not None:
                self._count_failure(target)
                await connection.close()
            if self._failures.get(target.name, 0) >= MAX_FAILURES:
                raise McpServerError("It failed too often in this run and is not tried again.", "too_often")
            place = Place(self.lease.run.session_id, self.lease.run.user_id)
            try:
                connection = await self._with_timeout(target, self.servers.connector.connect(target, place))
            except McpServerError:
                self._count_failure(target)
                raise
            self._connections[target.name] = connection
            return connection

    async def _with_timeout(self, target: McpTarget, asked: Awaitable[T]) -> T:
        within_s = self.servers.within_s + (self.servers.starts_within_s if target.is_program else 0)
        try:
            async with asyncio.timeout(within_s):
                return await asked
        except TimeoutError as error:
            slow = "The computer or the program in it" if target.is_program else "It"
            raise McpServerError(f"{slow} did not answer within {duration_text(within_s)}.", "timed_out") from error

    async def _changed(self, target: McpTarget, connection: McpConnection) -> list[McpUpdated | Notice]:
        """The event that the server now lists other tools, which are offered from the next run on."""
        try:
            listing = await self._with_timeout(target, connection.listing())
        except McpServerError:
            return []
        return [] if [*listing.tools] == [*self._listings[target.name].tools] else [self._other_tools(target)]

    def _other_tools(self, target: McpTarget) -> McpUpdated:
        names = [tool.public_name for tool in self._listings[target.name].tools]
        return McpUpdated(server=target.name, status="changed", tools=names, config=target.server.config)

    def _report_failure(self, target: McpTarget, error: McpServerError) -> list[McpUpdated | Notice]:
        """The notice of a failure, once in a run, so that the person knows as well as the model."""
        if target.name in self._reported:
            return []
        self._reported.add(target.name)
        return [notice_of_failure(target, error)]

    async def close(self) -> None:
        """Closes all connections at once, whether or not some fail to close."""
        connections = [*self._connections.values(), *self._dropped]
        await asyncio.gather(*(connection.close() for connection in connections))
        self._connections.clear()
        self._dropped.clear()
