"""The gateway in this process on real MongoDB and Redis, with computers in memory and no worker: tests drive runs."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar, cast

import httpx
from argon2 import PasswordHasher
from fastapi import FastAPI

from backend_api.agent.model import ModelInfo
from backend_api.agent.options import NO_OPTIONS
from backend_api.agent.preset import Presets
from backend_api.agent.presets.preset_files import read_presets
from backend_api.agent.subagent_kinds import BUILT_IN
from backend_api.agent.tool import ToolSpec
from backend_api.conversations.mongo.event_log import MongoEventLog
from backend_api.conversations.mongo.session_repository import MongoSessionRepository
from backend_api.conversations.ports import EventLog, RunLedger, SessionRepository, SessionStream
from backend_api.identity.application.limits import Limits, Quotas
from backend_api.identity.passwords import Argon2Passwords
from backend_api.kit.background_tasks import background_task
from backend_api.kit.http.ports import Probe, WebOptions, no_metrics
from backend_api.kit.listening.server import server_for
from backend_api.kit.masking import Mask
from backend_api.kit.mongo.database import Database
from backend_api.kit.notifier import Notifier
from backend_api.kit.signed_tokens import Signing
from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.kit.untrusted.guarded_client import guarded_client
from backend_api.kit.untrusted.rules import FetchRules, allowed_hosts
from backend_api.main.app import Wire, create_app
from backend_api.main.modules import MODULES
from backend_api.main.runtime import running
from backend_api.mcp.domain.entity import McpTarget
from backend_api.mcp.ports import McpConnection, McpConnector, McpServerError, Place
from backend_api.models.module import MODELS
from backend_api.module import Module, Parts, open_modules
from backend_api.previews.domain.errors import NothingListensError
from backend_api.previews.ports import AppAnswer, AppRequest, AppSocket, SandboxApps
from backend_api.runs.agent_module import AGENT
from backend_api.runs.mongo.run_ledger import MongoRunLedger
from backend_api.runs.worker_module import WORKER
from backend_api.sandboxes.domain.choices import SandboxChoices, SandboxSize
from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.module import SANDBOXES
from backend_api.sandboxes.ports import ReadChoices, Workspace
from backend_api.sandboxes.remote import Arrivals, HostRoutes, RoutedSandboxes
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.settings.mongo.user_settings import MongoSettingsStore
from backend_api.skills.library.library import read_library
from backend_api.web.fetch.module import FETCH
from backend_api.web.search.search_request import DEADLINE_S, MAX_BYTES
from contracts.sandboxes import EndpointToken
from support.backend_stores import connect_modules, redis_channels
from support.listening import on_loopback
from support.memory.file_editor import MemoryFileEditor
from support.memory.sandbox_commands import MemorySandboxCommands
from support.memory.sandboxes import MemorySandboxes, MemoryScreens, MemoryWorkspace
from support.memory.skills import MemorySkillDownloads
from support.memory.snapshots import MemorySnapshots
from support.memory.terminals import MemoryTerminals
from support.modules import module_settings
from support.tls import NO_TLS
from support.user_settings import UserSettingsParts, settings_parts

T = TypeVar("T")
REPLACED = (MODELS, FETCH, SANDBOXES, AGENT, WORKER)
"""In their places are ports of a test, and no agent."""
SECRET = "k9" * 24
LIBRARY = read_library()
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""A hash at its real cost, of which each test makes several, is most of what a test of a route needs."""
MODEL = ModelInfo(id="demo", label="Demo model", provider="demo", is_demo=True, is_default=True)
PLAIN = ModelInfo(id="plain", label="Plain", provider="test", thinking="never")
TOOL = ToolSpec(name="think", description="Think.", parameters={"type": "object"}, phrase="Thinking", effect="reads")


class NoMcpServers:
    """`McpConnector` of a machine without any network."""

    async def connect(self, target: McpTarget, place: Place) -> McpConnection:
        del place
        raise McpServerError(f"{target.name} can't be reached.")


class NoApps:
    """`SandboxApps` of computers in memory: nothing listens in any."""

    @asynccontextmanager
    async def ask(self, sandbox: Sandbox, port: int, request: AppRequest) -> AsyncGenerator[AppAnswer]:
        raise NothingListensError(f"Nothing listens on port {port} yet.")
        yield

    @asynccontextmanager
    async def connect(
        self, sandbox: Sandbox, port: int, request: AppRequest, subprotocols: Sequence[str]
    ) -> AsyncGenerator[AppSocket]:
        raise NothingListensError(f"Nothing listens on port {port} yet.")
        yield


async def _nothing() -> None:
    pass


class NoEndpoints:
    """`EndpointTokens` of computers in memory, which have no endpoints."""

    async def token(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        raise SandboxUnavailableError("Computers in memory have no endpoint.")

    def forget(self, sandbox: Sandbox) -> None:
        pass


_idle: defaultdict[tuple[WebOptions, tuple[str, ...]], list[tuple[FastAPI, list[Wire]]]] = defaultdict(list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Those that most tests stand on."""

    sessions: SessionRepository
    ledger: RunLedger
    log: EventLog
    stream: SessionStream
    notifier: Notifier
    modules: Parts
    """What all modules have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A gateway that answers, and what it stands on."""

    url: str
    ports: Ports
    database: Database
    sandboxes: MemorySandboxes
    workspace: MemoryWorkspace
    sandbox_commands: MemorySandboxCommands
    client: httpx.AsyncClient
    names: list[str] = field(default_factory=list[str])

    def port(self, name: str, kind: type[T]) -> T:
        """The port of this name, of whichever module has it."""
        return self.ports.modules.required(name, kind)

    async def user(self, name: str) -> dict[str, str]:
        """Headers of a fresh account."""
        answer = await self.client.post("/api/auth/register", json={"username": name, "password": f"{name}-password"})
        assert answer.status_code == 201, answer.text
        return {"Authorization": f"Bearer {answer.json()['access_token']}"}

    async def session(self, headers: dict[str, str]) -> str:
        """A fresh session."""
        answer = await self.client.post("/api/sessions", json={}, headers=headers)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])


RIGHT_KEY, SPENT_KEY = "search-key-that-is-right", "search-key-that-is-spent"


def _searched(request: httpx.Request) -> httpx.Response:
    """As any provider of web search answers to a key."""
    sent = " ".join(request.headers.values())
    if RIGHT_KEY in sent:
        return httpx.Response(200, json={"results": [], "organic": [], "web": {"results": []}})
    return httpx.Response(429 if SPENT_KEY in sent else 401)


async def read_no_choices() -> SandboxChoices:
    """The default only."""
    return SandboxChoices(default_size=SandboxSize(cpus=2, memory_mb=2048, disk_mb=10_240), images=[], sizes=[])


@asynccontextmanager
async def run_gateway(
    mongo_uri: str,
    database_name: str,
    redis_uri: str,
    *,
    options: WebOptions | None = None,
    limits: Limits | None = None,
    expires_s: int = 600,
    quotas: Quotas | None = None,
    trusted_proxies: tuple[str, ...] = (),
    files: Workspace | None = None,
    own: UserSettingsParts | None = None,
    downloads: Mapping[str, bytes] | None = None,
    shared_mcp: Sequence[McpTarget] = (),
    mcp_connections: McpConnector | None = None,
    mcp_hosts: Sequence[str] = (),
    fetch_hosts: Sequence[str] = (),
    source_urls: Mapping[str, str] | None = None,
    max_waiting: int = 0,
    computers: MemorySandboxes | None = None,
    sandbox_choices: ReadChoices | None = None,
    apps: SandboxApps | None = None,
    terminals: MemoryTerminals | None = None,
    preview_domain: str = "",
    clock: Callable[[], float] = time.time,
    modules: Sequence[Module] = MODULES,
) -> AsyncGenerator[Gateway]:
    """On a free loopback port; `is_local` of the options decides the mode. `files` replace those in memory,
    `own` the models there are for everybody; `downloads` are skills by their addresses. With `mcp_hosts` MCP servers at
    these are connected to, what is fetched may be at `fetch_hosts`, and
    sources of papers are at `source_urls`, without which there are none."""
    options = options or WebOptions()
    own = own or settings_parts(MongoSettingsStore(), MODEL, PLAIN)
    limits = limits or Limits(**dict.fromkeys((field.name for field in fields(Limits)), 0))
    sandbox_commands = MemorySandboxCommands()
    arrivals = Arrivals()
    sandboxes, workspace = computers or MemorySandboxes(), MemoryWorkspace(max_bytes=options.max_upload_bytes)
    opening = [module for module in modules if module not in REPLACED]
    async with (
        connect_modules(mongo_uri, database_name) as database,
        redis_channels(redis_uri) as live,
        httpx.AsyncClient(transport=httpx.MockTransport(_searched)) as search,
        guarded_client(FetchRules(allowed_hosts(fetch_hosts))) as fetcher,
        AsyncExitStack() as stack,
    ):
        given = {
            "mask": Mask(),
            "database": database,
            "redis": live.redis,
            "hub": live.hub,
            "notifier": live.notifier,
            "clock": clock,
            "is_gateway": True,
            "is_local": options.is_local,
            "link_origin": "",
            "poll_s": 0.2,
            "signing": Signing(secret=SECRET, algorithm="HS256"),
            "limits": replace(limits, waiting_messages=max_waiting),
            "quotas": quotas or Quotas(runs=0),
            "passwords": Argon2Passwords(CHEAP),
            "token_lifetime_s": expires_s,
            "presets": Presets(read_presets(), default="general"),
            "session_defaults": NO_OPTIONS,
            "secret_box": own.box,
            "base_urls": own.base_urls,
            "deployment": own.deployment,
            "user_catalogues": own.catalogues,
            "search_keys": own.search_keys,
            "shared_kinds": BUILT_IN,
            "fetcher": fetcher,
            "fetch_proxy": "",
            "endpoints": Endpoints(NoEndpoints()),
            "sandboxes": RoutedSandboxes(sandboxes, sandboxes, HostRoutes(), arrivals),
            "arrivals": arrivals,
            "running_sandboxes": sandboxes,
            "sandbox_choices": sandbox_choices or read_no_choices,
            "sandbox_tools": sandbox_commands,
            "workspace": files or workspace,
            "snapshots": MemorySnapshots(workspace, sandboxes),
            "screens": MemoryScreens(),
            "skill_library": LIBRARY,
            "skill_downloads": MemorySkillDownloads(downloads),
            "sandbox_apps": apps or NoApps(),
            "file_editor": MemoryFileEditor(workspace),
            "terminals": terminals or MemoryTerminals(),
            "search_client": ApiClient(search, whole_s=DEADLINE_S, body_bytes=MAX_BYTES),
            "shared_mcp": shared_mcp,
            **({} if mcp_hosts else {"mcp_connector": mcp_connections or NoMcpServers()}),
            "required": dict[str, Probe](),
            "optional": dict[str, Probe](),
            "metrics": no_metrics,
        }
        of_modules = module_settings(modules, source_urls, preview_domain, mcp_hosts)
        opened = await stack.enter_async_context(open_modules(opening, of_modules, given))
        cast("list[ToolSpec]", opened.ports["tools"]).append(TOOL)

        @asynccontextmanager
        async def wire() -> AsyncGenerator[Mapping[str, object]]:
            async with (
                running(opened.gateway_tasks),
                background_task(opened.tasks.get("opened ports", _nothing)(), "opened ports"),
            ):
                yield opened.ports

        async with (
            _application(wire, options, modules) as app,
            on_loopback(server_for(app, graceful_s=1, trusted_proxies=trusted_proxies)) as url,
            httpx.AsyncClient(base_url=url, timeout=10, verify=NO_TLS) as client,
        ):
            yield Gateway(
                url=url,
                ports=Ports(
                    sessions=opened.required("sessions", MongoSessionRepository),
                    ledger=opened.required("ledger", MongoRunLedger),
                    log=opened.required("log", MongoEventLog),
                    stream=live.stream,
                    notifier=live.notifier,
                    modules=opened,
                ),
                database=database,
                sandboxes=sandboxes,
                workspace=workspace,
                sandbox_commands=sandbox_commands,
                client=client,
            )


@asynccontextmanager
async def _application(wire: Wire, options: WebOptions, modules: Sequence[Module]) -> AsyncGenerator[FastAPI]:
    """One that was built for a gateway before, as the framework works out each route at its first call."""
    idle = _idle[options, tuple(module.name for module in modules)]
    app, wires = idle.pop() if idle else _build(options, modules)
    wires[:] = [wire]
    yield app
    idle.append((app, wires))


def _build(options: WebOptions, modules: Sequence[Module]) -> tuple[FastAPI, list[Wire]]:
    wires: list[Wire] = []
    return create_app(lambda: wires[0](), options, modules), wires
