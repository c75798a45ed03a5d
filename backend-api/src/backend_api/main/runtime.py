"""What a gateway and a worker both stand on: stores, sandboxes and the agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import cast

from pydantic_settings import BaseSettings

from backend_api.agent.preset import Presets
from backend_api.agent.tool import Tool, ToolSpec
from backend_api.agent.tools.custom_tools import read_custom_tools
from backend_api.agent.tools.team import team_tools
from backend_api.computers.application.link_file import LinkFile
from backend_api.computers.file_links import JwtFileLinks
from backend_api.conversations.application.finish_deletions import FinishDeletions
from backend_api.conversations.application.own_sandbox import OwnSandbox
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.conversations.mongo.change_cursor import MongoChangeCursor
from backend_api.conversations.mongo.deletions import MongoDeletions
from backend_api.conversations.mongo.event_log import MongoEventLog
from backend_api.conversations.mongo.kept_calls import MongoKeptCalls
from backend_api.conversations.mongo.session_repository import MongoSessionRepository
from backend_api.conversations.mongo.titles import MongoTitles
from backend_api.conversations.mongo.transcripts import MongoTranscripts
from backend_api.identity.application.connection_auth import AuthenticatedConnections
from backend_api.identity.mongo.users import MongoUsers
from backend_api.identity.redis import RedisRateLimiter
from backend_api.kit.http.ports import Probe
from backend_api.kit.masking import Mask
from backend_api.kit.metrics import ProcessMetrics
from backend_api.kit.mongo.clock import DatabaseClock
from backend_api.kit.signed_tokens import Signing
from backend_api.main.agent import Agent, known_tools, open_agent
from backend_api.main.agent_ports import AgentPorts, Conversations
from backend_api.main.background_tasks import background_task
from backend_api.main.fetching import open_fetcher
from backend_api.main.limits import limits_of
from backend_api.main.models import build_catalogue, build_user_catalogues
from backend_api.main.modules import MODULES
from backend_api.main.presets import build_presets
from backend_api.main.sandboxes import SandboxPorts, open_sandboxes
from backend_api.main.settings import (
    Settings,
    SettingsError,
    read_settings,
    sealing_secrets,
    secrets_of,
    signing_secret,
)
from backend_api.main.stores import Stores, open_stores
from backend_api.main.user_settings import UserSettingsParts, base_urls, deployment_values
from backend_api.models.catalogue import Catalogue
from backend_api.module import Module, Parts, Planned, Task, open_modules, plan_modules
from backend_api.runs.application.expire_waits import ExpireWaits
from backend_api.runs.mongo.run_ledger import MongoRunLedger
from backend_api.runs.mongo.run_waits import MongoWaits
from backend_api.sandboxes.remote import RemoteHosts
from backend_api.settings.application.reseal_secrets import ResealSecrets
from backend_api.settings.application.user_rules import UserRules
from backend_api.settings.domain.table import Setting
from backend_api.settings.mongo.user_settings import MongoSettingsStore
from backend_api.settings.secret_box import AesSecretBox
from backend_api.settings.user_catalogues import UserCatalogues


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Settings that were looked at, so that a start with wrong ones is refused before anything is opened."""

    settings: Settings
    modules: Sequence[Module]
    module_settings: Mapping[str, BaseSettings]
    of_modules: Planned
    secret: str
    catalogue: Catalogue
    presets: Presets
    custom_tools: Sequence[Tool]
    box: AesSecretBox
    links: JwtFileLinks
    clock: DatabaseClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Open until its block ends."""

    stores: Stores
    sandboxes: SandboxPorts
    sessions: MongoSessionRepository
    log: MongoEventLog
    ledger: MongoRunLedger
    waits: MongoWaits
    limiter: RedisRateLimiter
    users: MongoUsers
    connections: AuthenticatedConnections
    rules: OptionRules
    agent: Agent
    own: UserSettingsParts
    modules: Parts
    metrics: ProcessMetrics

    @property
    def required(self) -> Mapping[str, Probe]:
        """What nothing works without."""
        return {"mongodb": self.stores.probe_database}

    @property
    def optional(self) -> Mapping[str, Probe]:
        """What some things work without."""
        return {"redis": self.stores.probe_redis, "sandbox_manager": self.sandboxes.probe}


def plan(settings: Settings, modules: Sequence[Module] = MODULES) -> Plan:
    """Raises `SettingsError`."""
    module_settings = {module.name: read_settings(module.settings) for module in modules}
    secret, box = signing_secret(settings), AesSecretBox(sealing_secrets(settings))
    try:
        catalogue = build_catalogue(settings)
        product = known_tools(modules)
        custom = read_custom_tools(settings.tools_dir, [tool.name for tool in product])
        specs = [*product, *(tool.spec for tool in custom)]
        presets = build_presets(settings, catalogue.models(), specs)
        known = {"models": catalogue.models(), "known_tools": specs}
        of_modules = plan_modules(modules, module_settings, known)
    except ValueError as error:
        raise SettingsError(str(error)) from error
    clock = DatabaseClock()
    links = JwtFileLinks(secret, algorithm=settings.jwt_algorithm, clock=clock)
    return Plan(
        settings=settings,
        modules=modules,
        module_settings=module_settings,
        of_modules=of_modules,
        secret=secret,
        catalogue=catalogue,
        presets=presets,
        custom_tools=custom,
        box=box,
        links=links,
        clock=clock,
    )


def _user_settings(planned: Plan, catalogues: UserCatalogues) -> UserSettingsParts:
    settings = planned.settings
    return UserSettingsParts(
        store=MongoSettingsStore(),
        box=planned.box,
        catalogues=catalogues,
        base_urls=base_urls(settings),
        deployment=deployment_values(
            settings, planned.catalogue.default().id, planned.of_modules.port("held_search_keys", frozenset[Setting]())
        ),
        search_keys=planned.of_modules.port("search_keys", frozenset[Setting]()),
    )


@asynccontextmanager
async def open_runtime(planned: Plan) -> AsyncGenerator[Runtime]:
    """The stores are closed last."""
    settings = planned.settings
    async with (
        open_stores(settings, [one for module in planned.modules for one in module.documents]) as stores,
        build_user_catalogues(settings, planned.catalogue) as catalogues,
        open_fetcher(settings) as fetcher,
        open_sandboxes(settings, MongoChangeCursor(), MongoEventLog(stores.database), stores.stream) as sandboxes,
    ):
        database, own = stores.database, _user_settings(planned, catalogues)
        sessions, log = MongoSessionRepository(database), MongoEventLog(database)
        own_secrets = secrets_of(settings, planned.module_settings.values())
        secrets = (*own_secrets, planned.secret, *planned.of_modules.secrets)
        limiter, tools = RedisRateLimiter(stores.redis), list[ToolSpec]()
        of_team = [tool.spec for tool in team_tools()]
        rules = OptionRules((), tools, settings.session_defaults, planned.presets, of_team)
        ledger = MongoRunLedger(
            database, runs_per_user=settings.max_runs_per_user, unseen_most=settings.max_waiting_messages
        )
        transcripts = MongoTranscripts(database)
        users = MongoUsers(database)
        connections = AuthenticatedConnections(users, stores.notifier, planned.clock)
        given = {
            **planned.of_modules.ports,
            "mask": Mask(secrets),
            "open_settings": own.open_settings,
            "effective_settings": own.open_effective_settings,
            "tools": tools,
            "database": database,
            "sessions": sessions,
            "stream": stores.stream,
            "notifier": stores.notifier,
            "limiter": limiter,
            "limits": limits_of(settings),
            "rules_of": UserRules(own.open_effective_settings, rules),
            "clock": planned.clock,
            "fetcher": fetcher,
            "redis": stores.redis,
            "log": log,
            "secret_box": own.box,
            "fetch_proxy": settings.fetch_proxy.get_secret_value(),
            "endpoints": sandboxes.endpoints,
            "sandboxes": sandboxes.sandboxes,
            "sandbox_tools": sandboxes.tools,
            "running_sandboxes": sandboxes.running,
            "signing": Signing(secret=planned.secret, algorithm=settings.jwt_algorithm),
            "connections": connections,
            "is_local": settings.is_local,
            "ledger": ledger,
            "transcripts": transcripts,
        }
        async with open_modules(planned.modules, planned.module_settings, given) as modules:
            # Hosts of users are known once their module is open; those opened before it reach them by then.
            sandboxes.routes.hosts = modules.port("remote_hosts", cast("RemoteHosts | None", None))
            waits = MongoWaits(database)
            ports = AgentPorts(
                conversations=Conversations(
                    ledger=ledger,
                    log=log,
                    stream=stores.stream,
                    notifier=stores.notifier,
                    sessions=sessions,
                    titles=MongoTitles(database),
                    transcripts=transcripts,
                    kept_calls=MongoKeptCalls(database, most=settings.max_model_calls_mb_per_user * 1024**2),
                ),
                effective_settings=own.open_effective_settings,
                sandbox=sandboxes,
                modules=modules,
                link_file=LinkFile(
                    OwnSandbox(sessions, sandboxes.sandboxes, queue_s=None), sandboxes.workspace, planned.links
                ),
                secrets=secrets,
                custom_tools=planned.custom_tools,
            )
            async with (
                planned.clock.following(database),
                open_agent(settings, planned.catalogue, planned.presets, ports, planned.clock) as agent,
                background_task(
                    FinishDeletions(MongoDeletions(), sandboxes.sandboxes).delete_until_cancelled(), "deletions"
                ),
                background_task(
                    ExpireWaits(waits=waits, stream=stores.stream, notifier=stores.notifier).expire_until_cancelled(),
                    "waits",
                ),
                _running(modules.tasks),
                background_task(ResealSecrets(own.store, own.box)(), "secrets"),
            ):
                # Modules are open before the agent, and know its tools by their rules once it is.
                tools += agent.tools
                yield Runtime(
                    stores=stores,
                    sandboxes=sandboxes,
                    sessions=sessions,
                    log=log,
                    ledger=ledger,
                    waits=waits,
                    limiter=limiter,
                    users=users,
                    connections=connections,
                    rules=rules,
                    agent=agent,
                    own=own,
                    modules=modules,
                    metrics=ProcessMetrics(database),
                )


@asynccontextmanager
async def _running(tasks: Mapping[str, Task]) -> AsyncGenerator[None]:
    async with AsyncExitStack() as stack:
        for name, task in tasks.items():
            await stack.enter_async_context(background_task(task(), name))
        yield
