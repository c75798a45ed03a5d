"""Creating, changing, testing and deleting targets."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any

from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.kit.stored_time import to_millisecond
from backend_api.sandboxes.domain.choices import SandboxConfiguration
from backend_api.settings.domain.errors import SecretUnreadableError
from backend_api.settings.ports import SecretBox
from backend_api.targets.application.configurations import Configurations
from backend_api.targets.domain import (
    HOST_PREFIX,
    MAX_TARGETS,
    SANDBOX_PREFIX,
    SandboxTarget,
    SshAccess,
    SshHost,
    Target,
    TargetId,
    Trial,
)
from backend_api.targets.errors import HostKeyUnconfirmedError, RemoteHostsOffError
from backend_api.targets.ports import SshKeys, Targets, TryHost

_NAME = re.compile(r"(?!-)[A-Za-z0-9_.-]{1,253}")
_USER = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.@+-]{0,63}\$?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The private key of a new host: one that the user pasted, or None to generate one."""

    private: str | None = None
    passphrase: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRules:
    """The remote hosts that the deployment allows."""

    ssh: SshAccess
    can_use_agent: bool = False

    def check(self, host: SshHost) -> None:
        """Raises `InvalidError`, `RemoteHostsOffError`."""
        if self.ssh == "off":
            raise RemoteHostsOffError("Remote hosts are turned off on this server (SSH_TARGETS).")
        if not _is_address(host.host):
            raise InvalidError("Not a host name or IP address, such as build.example.org.", field="body.host")
        if not _USER.fullmatch(host.username):
            raise InvalidError("Not a valid user name.", field="body.username")
        if host.folder and not host.folder.startswith(("/", "~/")):
            raise InvalidError("A working folder must begin with / or ~/.", field="body.folder")
        if not host.folder.isprintable():
            raise InvalidError("A working folder may have printable characters only.", field="body.folder")
        if host.sign_in_by == "agent" and not self.can_use_agent:
            reason = "Only a server in local mode can use its SSH agent (SSH_AUTH_SOCK)."
            raise InvalidError(reason, field="body.sign_in_by")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return _NAME.fullmatch(host) is not None
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTargets:
    """Changes of users' targets."""

    targets: Targets
    keys: SshKeys
    try_host: TryHost
    box: SecretBox
    rules: TargetRules
    configurations: Configurations
    limiter: RateLimiter
    limits: Limits
    clock: Callable[[], float]

    async def of(self, user_id: UserId) -> Sequence[Target | SandboxTarget]:
        """All targets of a user."""
        return await self.targets.of(user_id)

    async def add_host(self, user_id: UserId, name: str, host: SshHost, key: Key) -> Target:
        """Add a host. Raises `InvalidError`, `RemoteHostsOffError`, `SecretsOffError`, `TargetQuotaError`."""
        self.rules.check(host)
        now = self._now()
        target_id = TargetId(f"{HOST_PREFIX}{secrets.token_hex(12)}")
        bare = Target(id=target_id, user_id=user_id, name=name, ssh=host, created_at=now, updated_at=now)
        target = self._with_key(bare, key)
        await self._hit(user_id)
        await self.targets.add(target, at_most=MAX_TARGETS)
        return target

    async def add_sandbox(self, user_id: UserId, name: str, made_of: SandboxConfiguration) -> SandboxTarget:
        """Add a sandbox. Raises `InvalidError` for a choice that is not allowed, `TargetQuotaError`,
        `SandboxUnavailableError`."""
        await self._hit(user_id)
        await self.configurations.check(made_of)
        now = self._now()
        target_id = TargetId(f"{SANDBOX_PREFIX}{secrets.token_hex(12)}")
        target = SandboxTarget(
            id=target_id, user_id=user_id, name=name, made_of=made_of, created_at=now, updated_at=now
        )
        await self.targets.add(target, at_most=MAX_TARGETS)
        return target

    async def change(
        self, user_id: UserId, target_id: TargetId, wanted: Mapping[str, Any], key: Key | None
    ) -> Target | SandboxTarget:
        """Change a target. Raises `InvalidError`, `TargetNotFoundError`, `TargetChangedError`,
        `HostKeyUnconfirmedError`, `SecretsOffError`, `SandboxUnavailableError`."""
        await self._hit(user_id)
        former = await self.targets.get(target_id, user_id)
        if isinstance(former, SandboxTarget):
            return await self._change_sandbox(former, wanted, key)
        for name in ("image", "size"):
            if name in wanted:
                raise InvalidError("A remote host has no image or size: leave them out.", field=f"body.{name}")
        return await self._change_host(former, wanted, key)

    async def _change_sandbox(self, former: SandboxTarget, wanted: Mapping[str, Any], key: Key | None) -> SandboxTarget:
        """Change a sandbox. Running sandboxes stay as they are; the next ones of its conversations use the change."""
        other = next((name for name in wanted if name not in ("name", "image", "size")), "private_key" if key else None)
        if other is not None:
            raise InvalidError(
                "This belongs to a remote host; a sandbox has an image and a size.", field=f"body.{other}"
            )
        chosen = {name: value for name, value in wanted.items() if name != "name"}
        made_of = replace(former.made_of, **chosen)
        if chosen:
            await self.configurations.check(made_of)
        name = wanted.get("name", former.name)
        target = replace(former, name=name, made_of=made_of, version=former.version + 1, updated_at=self._now())
        await self.targets.put(target)
        return target

    async def _change_host(self, former: Target, wanted: Mapping[str, Any], key: Key | None) -> Target:
        """Change a host. Another address is another machine: the confirmed key of the former one no longer counts."""
        target = replace(
            former, version=former.version + 1, updated_at=self._now(), name=wanted.get("name", former.name)
        )
        own = {name: value for name, value in wanted.items() if name not in ("name", "confirmed_fingerprint")}
        confirmed = wanted.get("confirmed_fingerprint")
        target = replace(target, ssh=self._changed(former.ssh, own, confirmed))
        if key is not None or (own.get("sign_in_by", former.ssh.sign_in_by) != former.ssh.sign_in_by):
            target = self._with_key(target, key or Key())
        await self.targets.put(target)
        return target

    def _changed(self, former: SshHost, own: Mapping[str, Any], confirmed: str | None) -> SshHost:
        host = replace(former, **own)
        self.rules.check(host)
        if (host.host, host.port) != (former.host, former.port):
            host = replace(host, host_key=None, seen_key=None)
        if confirmed is None:
            return host
        if host.seen_key is None or host.seen_key.fingerprint != confirmed:
            shown = host.seen_key.fingerprint if host.seen_key else "none yet"
            raise HostKeyUnconfirmedError(
                f"The confirmed key is not the one that {host.host} presented last ({shown}). Test it again and "
                "compare the fingerprints."
            )
        return replace(host, host_key=host.seen_key)

    async def delete(self, user_id: UserId, target_id: TargetId) -> None:
        """Delete a target. Conversations on a host can't work on it any more; those on a sandbox continue with the
        usual one. Raises `TargetNotFoundError`."""
        await self.targets.delete(target_id, user_id)

    async def test(self, user_id: UserId, target_id: TargetId) -> Trial:
        """Test a target; returns the steps and their results. The key that the host showed is stored for the user to
        confirm. Raises `TargetNotFoundError`, `InvalidError`, `RemoteHostsOffError`."""
        await self.limiter.hit(f"target-tests:{user_id}", limit=self.limits.key_tests_per_minute, window_s=60)
        target = await self.targets.get(target_id, user_id)
        if isinstance(target, SandboxTarget):
            return await self.configurations.trial(target.made_of)
        self.rules.check(target.ssh)
        trial = await self.try_host(target, private_key(self.box, target))
        if trial.host_key is not None and trial.host_key != target.ssh.seen_key:
            seen = replace(target.ssh, seen_key=trial.host_key)
            await self.targets.put(
                replace(target, ssh=seen, version=target.version + 1, updated_at=self._now()),
            )
        return trial

    def _with_key(self, target: Target, key: Key) -> Target:
        if target.ssh.sign_in_by == "agent":
            return replace(target, ssh=replace(target.ssh, public_key=None), sealed=None)
        pair = self.keys.generate(target.name) if key.private is None else self.keys.read(key.private, key.passphrase)
        sealed = self.box.seal(pair.private, bound_to=target.bound_to)
        return replace(target, ssh=replace(target.ssh, public_key=pair.public), sealed=sealed)

    async def _hit(self, user_id: UserId) -> None:
        await self.limiter.hit(f"targets:{user_id}", limit=self.limits.settings_per_minute, window_s=60)

    def _now(self) -> datetime:
        return to_millisecond(datetime.fromtimestamp(self.clock(), UTC))


def private_key(box: SecretBox, target: Target) -> str | None:
    """The private key; None if an agent signs. Raises `InvalidError` if it can't be decrypted any more."""
    if target.sealed is None:
        return None
    try:
        return box.open(target.sealed, bound_to=target.bound_to)
    except SecretUnreadableError as error:
        reason = "The key of this computer can't be decrypted with the server's current SECRETS_KEY. Set a new key."
        raise InvalidError(reason, field="body.private_key") from error
