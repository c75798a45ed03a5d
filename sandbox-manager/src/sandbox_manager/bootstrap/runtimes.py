"""The table of runtimes."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from sandbox_manager.bootstrap.assembly import Runtime
from sandbox_manager.bootstrap.settings import Settings
from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.docker.options import DockerOptions
from sandbox_manager.infrastructure.runtimes.docker.runtime import docker_runtime
from sandbox_manager.infrastructure.runtimes.packet_filter import HOST_FIB_TRIE, engine_host_trie
from sandbox_manager.infrastructure.runtimes.process.options import ProcessOptions
from sandbox_manager.infrastructure.runtimes.process.runtime import process_runtime
from sandbox_manager.infrastructure.runtimes.sandbox_profile import SandboxProfile

_log = logging.getLogger(__name__)


def _sandbox_profile(settings: Settings) -> SandboxProfile:
    return SandboxProfile(
        desktop=settings.inside.desktop,
        bash_timeout=settings.inside.bash_timeout,
        allowed_commands=settings.inside.allowed_commands,
        max_upload_bytes=settings.inside.max_upload_bytes,
        memory_bytes=settings.inside.memory_mb * 1024 * 1024,
        cpus=settings.inside.cpus,
        pids=settings.inside.pids,
        orphan_s=settings.lifecycle.tuning["orphan-s"],
        disk_bytes=settings.inside.disk_mb * 1024 * 1024,
        max_files=settings.lifecycle.tuning["files"],
    )


def _blocked_subnets(settings: Settings) -> tuple[str, ...]:
    given = [one for one in settings.inside.blocked_subnets.split(",") if one]
    return tuple(dict.fromkeys([*given, settings.docker.subnet_pool]))


def _docker(settings: Settings) -> AbstractAsyncContextManager[Runtime]:
    return docker_runtime(
        DockerOptions(
            stack=settings.lifecycle.stack,
            image=settings.docker.image,
            seccomp_profile=Path(settings.docker.seccomp_profile),
            subnet_pool=settings.docker.subnet_pool,
            blocked_subnets=_blocked_subnets(settings),
            host_fib_trie=engine_host_trie(),
            inside=_sandbox_profile(settings),
        )
    )


def _process(settings: Settings) -> AbstractAsyncContextManager[Runtime]:
    return process_runtime(
        ProcessOptions(
            stack=settings.lifecycle.stack,
            folder=(settings.process.data_dir / "sandboxes").absolute(),
            python=settings.tool_api.python.absolute(),
            python_path=tuple(folder.absolute() for folder in settings.tool_api.python_path),
            kernel_python=settings.tool_api.kernel_python and settings.tool_api.kernel_python.absolute(),
            unsafe=settings.process.unsafe,
            blocked_subnets=_blocked_subnets(settings),
            seccomp_profile=Path(settings.docker.seccomp_profile).absolute(),
            host_fib_trie=HOST_FIB_TRIE,
            inside=_sandbox_profile(settings),
        )
    )


@contextlib.asynccontextmanager
async def _auto(settings: Settings) -> AsyncGenerator[Runtime]:
    async with contextlib.AsyncExitStack() as stack:
        try:
            runtime = await stack.enter_async_context(_docker(settings))
            await runtime.check()
        except EngineUnavailableError as error:
            _log.info("docker not usable, sandboxes run as processes", extra={"reason": error.detail})
            runtime = await stack.enter_async_context(_process(settings))
        yield runtime


RUNTIMES: dict[str, Callable[[Settings], AbstractAsyncContextManager[Runtime]]] = {
    "docker": _docker,
    "process": _process,
    "auto": _auto,
}
