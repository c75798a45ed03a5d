"""Workspaces of process sandboxes as a whole, packed and unpacked by a program shut in beside the two folders."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import threading
from pathlib import Path

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.workspace import ArchiveBounds, Packed, SnapshotRefusedError
from sandbox_manager.infrastructure.runtimes import archiving
from sandbox_manager.infrastructure.runtimes.process.options import ProcessOptions
from sandbox_manager.infrastructure.runtimes.process.python_home import python_arguments
from sandbox_manager.infrastructure.runtimes.process.store import Store
from sandbox_manager.infrastructure.runtimes.threads import Pools

_log = logging.getLogger(__name__)

_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_LATE = "The files could not be packed or unpacked in time; try again."
_RIGHTS = ("DAC_OVERRIDE", "CHOWN", "FOWNER")


class ProcessArchives:
    """`WorkspaceArchives`; the archives lie beside the workspaces, where no sandbox sees them."""

    def __init__(self, options: ProcessOptions, store: Store, pools: Pools, *, isolated: bool) -> None:
        self._options, self._store, self._pools, self._isolated = options, store, pools, isolated

    async def pack(self, session_id: str, user_id: str, snapshot_id: str, bounds: ArchiveBounds) -> Packed:
        if not self._store.workspace(session_id).exists():
            raise SnapshotRefusedError("There are no files yet.")
        return archiving.packed(await self._run("pack", session_id, snapshot_id, bounds))

    async def unpack(self, session_id: str, user_id: str, snapshot_id: str, bounds: ArchiveBounds) -> None:
        await self._pools.calls.run_call(lambda: self._store.make_workspace(session_id))
        await self._run("unpack", session_id, snapshot_id, bounds)

    async def mend(self, session_id: str, user_id: str) -> None:
        if self._store.workspace(session_id).exists():
            await self._run("mend", session_id, "none", archiving.NO_BOUNDS)

    async def drop(self, session_id: str, user_id: str, snapshot_id: str) -> None:
        if self._store.archives(session_id).exists():
            await self._run("drop", session_id, snapshot_id, archiving.NO_BOUNDS)

    async def remove(self, session_id: str, user_id: str) -> None:
        try:
            await self._pools.waiting.run_call(lambda: self._store.remove_workspace(session_id))
        except OSError as error:
            raise EngineUnavailableError(f"The workspace could not be removed: {error.strerror}.") from error

    async def _run(self, verb: str, session_id: str, snapshot_id: str, bounds: ArchiveBounds) -> dict[str, object]:
        workspace, archives = self._store.workspace(session_id), self._store.archives(session_id)
        inside = ("/workspace", "/archives") if self._isolated else (str(workspace), str(archives))
        program = [str(self._options.python), *archiving.arguments(verb, *inside, snapshot_id, bounds)]
        command = [*self._bwrap_command(workspace, archives), "--", *program] if self._isolated else program
        running = _Program(command, archives)
        return archiving.answer(await self._pools.packing.run_program(running.output, running.stop))

    def _bwrap_command(self, workspace: Path, archives: Path) -> list[str]:
        # As root without a user namespace, so that files keep their owners; else as the one user there is.
        as_root = os.geteuid() == 0
        rights = [part for one in _RIGHTS for part in ("--cap-add", f"CAP_{one}")] if as_root else []
        shut = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        walls = ["bwrap", *shut, *([] if as_root else ["--unshare-user"]), "--die-with-parent", "--clearenv"]
        walls += ["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
        for name in _LINKS:
            link = Path("/", name)
            if link.is_symlink():
                walls += ["--symlink", str(link.readlink()), str(link)]
            elif link.is_dir():
                walls += ["--ro-bind", str(link), str(link)]
        walls += python_arguments(self._options.python)
        walls += ["--proc", "/proc", "--dev", "/dev", "--bind", str(workspace), "/workspace"]
        return [*walls, "--bind", str(archives), "/archives", "--chdir", "/", "--cap-drop", "ALL", *rights]


class _Program:
    """One call of the archive program, in a process group of its own."""

    def __init__(self, command: list[str], archives: Path) -> None:
        self._command, self._archives = command, archives
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._is_stopped = False

    def output(self) -> str:
        """The program's output. Raises `EngineUnavailableError`, also if it was stopped."""
        try:
            self._archives.mkdir(mode=0o700, parents=True, exist_ok=True)
            output, errors = self._collect(self._start_process())
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineUnavailableError(_LATE) from error
        if self._is_stopped:
            raise EngineUnavailableError(_LATE)
        if errors is not None:
            _log.error("archive program failed", extra={"output": errors[-2000:]})
        return output

    def stop(self) -> None:
        """Stop the call, from any thread, at any time: its process is killed, and it begins nothing more."""
        with self._lock:
            self._is_stopped = True
            if self._process is not None:
                _kill_group(self._process)

    def _start_process(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._is_stopped:
                raise EngineUnavailableError(_LATE)
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(self._command, stdout=pipe, stderr=pipe, text=True, process_group=0)
            return self._process

    def _collect(self, process: subprocess.Popen[str]) -> tuple[str, str | None]:
        """The process's output, and its errors if it failed."""
        try:
            output, errors = process.communicate(timeout=archiving.DEADLINE_S)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            process.communicate()  # until all of the group let go of the output
            raise
        finally:
            with self._lock:
                self._process = None
        return output, errors if process.returncode != 0 else None


def _kill_group(process: subprocess.Popen[str]) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
