"""The one place that builds the gateway's adapters and hands them to the use cases."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.agent.preset import Presets
from backend_api.computers.application.publish_changes import PublishSandboxChanges
from backend_api.computers.mongo import MongoSandboxChangeLog
from backend_api.computers.redis import RedisTickets
from backend_api.conversations.application.announced_slots import AnnouncedSlots
from backend_api.conversations.domain.feed import SessionFeed
from backend_api.conversations.mongo.read_markers import MongoReadMarkers
from backend_api.conversations.mongo.run_records import MongoRunRecords
from backend_api.conversations.mongo.session_feed import MongoSessionFeed
from backend_api.conversations.mongo.spending import MongoSpending
from backend_api.conversations.mongo.transcripts import MongoTranscripts
from backend_api.conversations.ports import Slots
from backend_api.kit.background_tasks import background_task
from backend_api.kit.http.ports import WebOptions
from backend_api.main.agent import Agent
from backend_api.main.app import Wire
from backend_api.main.assembly import assemble
from backend_api.main.closing import Closing
from backend_api.main.gateway_ports import Policy, Ports
from backend_api.main.runtime import Plan, Runtime, open_runtime, running
from backend_api.main.settings import Settings, named_hosts
from backend_api.main.use_cases import UseCases
from service_kit.tracing import follows_callers

DRAIN_S = 6.0
"""Runs may take so long to come to the end of their present step; then they are cut."""


def web_options(planned: Plan) -> WebOptions:
    """What the edge must know of the settings."""
    settings = planned.settings
    return WebOptions(
        is_local=planned.is_local,
        metrics_token=settings.metrics_token.get_secret_value(),
        follows_traces=follows_callers(os.environ),
        # What it listens on may be a name: others reach it by that, and so does its health check.
        allowed_hosts=(*settings.allowed_hosts, *settings.host, *named_hosts(settings)),
        user_content_origin=settings.user_content_origin,
        public_url=settings.public_url,
        cors_origins=settings.cors_origins,
        max_upload_bytes=settings.max_upload_bytes,
        frontend=settings.frontend_dist,
    )


def wire_with(planned: Plan, closing: Closing) -> Wire:
    """The wiring of these settings, to be entered once."""
    settings = planned.settings
    policy = _policy(settings, planned.presets)

    @asynccontextmanager
    async def wire() -> AsyncGenerator[UseCases]:
        async with open_runtime(planned) as runtime, MongoSessionFeed(runtime.stores.database) as feed:
            agent = None if settings.use_background_jobs else runtime.agent
            announced = AnnouncedSlots(runtime.stores.notifier, runtime.ledger, model=planned.catalogue.default().id)
            use_cases = assemble(_ports(runtime, feed, planned, agent.worker if agent else announced), policy)
            for end in (use_cases.stream_slots.close, *runtime.modules.closings):
                closing.on_begin(end)
            changes = PublishSandboxChanges(
                runtime.sandboxes.changes, MongoSandboxChangeLog(runtime.stores.database), runtime.stores.stream
            )
            async with (
                background_task(changes.publish_until_cancelled(), "sandbox-changes"),
                background_task(announced.listen(), "announced-slots"),
                running(runtime.modules.gateway_tasks),
                working(agent, closing),
            ):
                yield use_cases

    return wire


@asynccontextmanager
async def working(agent: Agent | None, closing: Closing) -> AsyncGenerator[None]:
    """At work until the process ends; it gives its runs back before any store is closed."""
    if agent is None:
        yield
        return
    async with (
        background_task(agent.title_sessions.title_until_cancelled(), "titles"),
        background_task(agent.worker.work(), "worker") as at_work,
    ):
        closing.on_begin(agent.worker.drain)
        try:
            yield
        finally:
            await asyncio.wait({at_work}, timeout=closing.remaining_s(DRAIN_S))


def _policy(settings: Settings, presets: Presets) -> Policy:
    return Policy(
        streams_per_user=settings.max_streams_per_user,
        options=settings.session_defaults,
        presets=presets,
    )


def _ports(runtime: Runtime, feed: SessionFeed, planned: Plan, slots: Slots) -> Ports:
    stores = runtime.stores
    return Ports(
        sessions=runtime.sessions,
        ledger=runtime.ledger,
        waits=runtime.waits,
        run_records=MongoRunRecords(),
        log=runtime.log,
        transcripts=MongoTranscripts(stores.database),
        spending=MongoSpending(stores.database),
        markers=MongoReadMarkers(stores.database),
        feed=feed,
        stream=stores.stream,
        notifier=stores.notifier,
        sandboxes=runtime.sandboxes.sandboxes,
        workspace=runtime.sandboxes.workspace,
        snapshots=runtime.sandboxes.snapshots,
        screens=runtime.sandboxes.screens,
        tickets=RedisTickets(stores.redis),
        links=planned.links,
        clock=planned.clock,
        own=runtime.own,
        modules=runtime.modules,
        tools=runtime.agent.tools,
        rules=runtime.rules,
        slots=slots,
        required=runtime.required,
        optional=runtime.optional,
        metrics=runtime.metrics.text,
    )
