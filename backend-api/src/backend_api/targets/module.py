"""Computers of users, as a module of the gateway."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing

from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database
from backend_api.kit.untrusted.resolver import SystemResolver
from backend_api.module import Module, Parts
from backend_api.sandboxes.ports import ReadChoices
from backend_api.settings.ports import SecretBox
from backend_api.targets.application.change_targets import ChangeTargets, TargetRules
from backend_api.targets.application.choose_target import ChooseTarget
from backend_api.targets.application.configurations import Configurations
from backend_api.targets.application.reseal_targets import ResealTargets
from backend_api.targets.capability import target_capability
from backend_api.targets.domain import SshAccess, Target
from backend_api.targets.http import router
from backend_api.targets.mongo import MongoTargets, TargetDocument
from backend_api.targets.ssh.connecting import Addresses
from backend_api.targets.ssh.connections import HostConnections
from backend_api.targets.ssh.hosts import SshHosts
from backend_api.targets.ssh.keys import AsyncsshKeys
from backend_api.targets.ssh.trial import SshTrials


class TargetSettings(BaseSettings):
    """Settings read from the environment. Users of a server that others use as well reach hosts at public addresses
    only, unless configured otherwise, as the server's own network is not theirs."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    ssh_targets: SshAccess | None = None


@asynccontextmanager
async def open_targets(
    *,
    settings: TargetSettings,
    database: Database,
    secret_box: SecretBox,
    limiter: RateLimiter,
    limits: Limits,
    clock: Callable[[], float],
    sandbox_choices: ReadChoices,
    is_local: bool = False,
) -> AsyncGenerator[Parts]:
    """Open the targets. Ports: `change_targets`; `session_targets`, by which sessions choose; `remote_hosts`; and
    `sandbox_configurations`, the images and sizes of sessions' sandboxes."""
    access: SshAccess = settings.ssh_targets or ("any" if is_local else "public")
    rules = TargetRules(ssh=access, can_use_agent=is_local and bool(os.environ.get("SSH_AUTH_SOCK")))
    targets = MongoTargets(database)
    configurations = Configurations(choices=sandbox_choices)
    with closing(SystemResolver()) as resolver:
        addresses = Addresses(access=access, resolve=resolver)
        async with HostConnections(addresses) as connections:

            async def target_of(session_id: SessionId) -> Target | None:
                return await targets.of_session(session_id)

            change = ChangeTargets(
                targets=targets,
                keys=AsyncsshKeys(),
                try_host=SshTrials(addresses),
                box=secret_box,
                rules=rules,
                configurations=configurations,
                limiter=limiter,
                limits=limits,
                clock=clock,
            )
            yield Parts(
                ports={
                    "change_targets": change,
                    "session_targets": ChooseTarget(targets=targets, rules=rules, configurations=configurations),
                    "remote_hosts": SshHosts(store=targets, connections=connections, box=secret_box, access=access),
                    "sandbox_configurations": targets.configuration_of,
                },
                capabilities=[target_capability(target_of)],
                tasks={
                    "connections to remote hosts": connections.close_idle_until_cancelled,
                    "keys of remote hosts": ResealTargets(targets, secret_box),
                },
            )


TARGETS = Module(
    name="targets",
    description="Computers beside the usual one: sandboxes of another image or size, and remote hosts over SSH.",
    settings=TargetSettings,
    documents=[TargetDocument],
    routes=[router],
    open=open_targets,
)
