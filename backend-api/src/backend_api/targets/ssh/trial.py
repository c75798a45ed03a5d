"""Tests a host, step by step."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

import asyncssh

from backend_api.sandboxes.domain.errors import SandboxLostError, SandboxUnavailableError
from backend_api.targets.domain import HostKey, KeyState, SshHost, Target, Trial, TrialStep
from backend_api.targets.errors import HostKeyChangedError, HostKeyUnconfirmedError, HostUnreachableError
from backend_api.targets.ssh.connecting import Addresses, open_socket, sign_in
from backend_api.targets.ssh.connections import open_folder
from backend_api.targets.ssh.outputs import output_of
from backend_api.targets.ssh.shells import MAX_SAID_BYTES, quoted

StepName = Literal["address", "connection", "host_key", "sign_in", "shell", "folder", "files"]
SHELL_S = 10.0
_LOOK = """
command -v bash >/dev/null 2>&1 || { echo "there is none"; exit 1; }
bash -c 'echo "Bash $BASH_VERSION"'; uname -sr
"""


@dataclass(slots=True)
class _Found:
    steps: list[TrialStep] = field(default_factory=list[TrialStep])
    host_key: HostKey | None = None
    key_state: KeyState | None = None
    latency_ms: int | None = None
    shell: str | None = None
    folder: str | None = None

    def add(self, name: StepName, detail: str, *, ok: bool = True) -> None:
        self.steps.append(TrialStep(name=name, ok=ok, detail=detail))

    def trial(self, code: str | None = None) -> Trial:
        return Trial(
            steps=(*self.steps,),
            code=code,
            host_key=self.host_key,
            key_state=self.key_state,
            latency_ms=self.latency_ms,
            shell=self.shell,
            folder=self.folder,
        )


@dataclass(frozen=True, slots=True)
class SshTrials:
    """`TryHost`."""

    addresses: Addresses

    async def __call__(self, target: Target, private_key: str | None) -> Trial:
        found = _Found()
        names: list[StepName] = ["address", "connection", "host_key", "sign_in", "shell", "folder", "files"]
        try:
            await self._try(target, target.ssh, private_key, found)
        except (SandboxUnavailableError, SandboxLostError) as error:
            found.add(names[len(found.steps)], error.detail, ok=False)
            return found.trial(error.code)
        return found.trial()

    async def _try(self, target: Target, host: SshHost, private_key: str | None, found: _Found) -> None:
        addresses = await self.addresses.of(host.host, host.port, target.user_id)
        found.add("address", ", ".join(addresses))
        began = time.perf_counter()
        sock = await open_socket(addresses, host)
        found.latency_ms = round((time.perf_counter() - began) * 1000)
        found.add("connection", f"port {host.port} answers")
        try:
            ssh = await sign_in(host, sock, private_key)
        except (HostKeyUnconfirmedError, HostKeyChangedError) as error:
            found.host_key = getattr(error, "seen", None)
            found.key_state = "unknown" if host.host_key is None else "changed"
            raise
        try:
            await self._look(ssh, target, host, found)
        finally:
            ssh.abort()
            with suppress(asyncssh.Error, OSError):
                await ssh.wait_closed()

    async def _look(self, ssh: asyncssh.SSHClientConnection, target: Target, host: SshHost, found: _Found) -> None:
        found.host_key, found.key_state = host.host_key, "pinned"
        found.add("host_key", host.host_key.fingerprint if host.host_key else "")
        found.add("sign_in", host.username)
        try:
            async with asyncio.timeout(SHELL_S):
                began = time.perf_counter()
                done = await output_of(ssh, quoted(_LOOK), MAX_SAID_BYTES)
                found.latency_ms = round((time.perf_counter() - began) * 1000)
        except (asyncssh.Error, OSError, TimeoutError) as error:
            raise HostUnreachableError("The host ran no command after the sign-in.") from error
        text = "".join(one if one.isprintable() else " " for one in done.content[:300].decode(errors="replace")).strip()
        if done.exit_code != 0:
            raise HostUnreachableError(f"Bash is needed on the host: {text or 'the command failed'}.")
        found.shell = text
        found.add("shell", text)
        _, found.folder = await open_folder(ssh, target)
        found.add("folder", found.folder)
        found.add("files", "SFTP")
