"""Files of the process runtime on disk, by which it survives the manager.

folder/workspaces/<session id>      the workspace, owned by a uid of its own on the host
folder/archives/<session id>/       its snapshots
folder/uids/<uid>                   is given to a workspace
folder/gone/                        what is being removed
folder/live/<sandbox id>/           identity.json, size.json, state.json, session, verdict, logs, etc/, door/ with its
                                    socket;
                                    all of it the manager's own
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from sandbox_manager.domain.configuration import Size
from sandbox_manager.domain.errors import StartFailedError, WorkspaceExistsError
from sandbox_manager.domain.identifiers import (
    InvalidIdentifierError,
    parse_generation,
    parse_sandbox_id,
    parse_session_id,
)
from sandbox_manager.domain.sandbox import Identity, pool_session
from sandbox_manager.infrastructure.runtimes.process.disposal import Disposal
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef
from sandbox_manager.infrastructure.runtimes.process.uids import Uids

_log = logging.getLogger(__name__)

_REMOVE_S = 10.0
_CARRY_ON_S = 0.5
_STATE_BYTES = 64 * 1024
_FOREIGN = (
    "The workspace belongs to user {owner} of this host: its folder was used by that user's manager before, and one "
    "that runs as root can't give it to a sandbox. Run the manager as that user again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The processes of a running sandbox: the first inside, the one outside that waits for it, its network, its log.
    `network_namespace` is the number of the one the first was in at its start."""

    first: ProcessRef | None
    outer: ProcessRef
    network: ProcessRef | None
    log: ProcessRef | None = None
    network_namespace: int | None = None

    @property
    def root(self) -> ProcessRef:
        """The process that all others inside descend from."""
        return self.first or self.outer

    @property
    def is_alive(self) -> bool:
        """Whether it lives: the outer process ends with the tool API, the first one inside only with all that it
        started."""
        return self.root.is_alive and self.outer.is_alive

    @property
    def processes(self) -> list[ProcessRef]:
        return [one for one in (self.first, self.network, self.outer, self.log) if one is not None]


@dataclass(frozen=True, slots=True)
class Live:
    """Folder of one live sandbox."""

    folder: Path

    @property
    def log(self) -> Path:
        return self.folder / "sandbox.log"

    @property
    def etc(self) -> Path:
        return self.folder / "etc"

    @property
    def endpoint(self) -> Path:
        return self.folder / "door"

    @property
    def session(self) -> Path:
        """The file with the session whose workspace it has, if it was claimed since its start."""
        return self.folder / "session"

    @property
    def verdict(self) -> Path:
        """The file with the reason why the manager ended it, if it did."""
        return self.folder / "verdict"

    @property
    def home(self) -> Path:
        """The home folder of a sandbox without isolation."""
        return self.folder / "home"


class Store:
    """The folder of one deployment. Runs as root when every sandbox gets a uid of its own."""

    def __init__(self, folder: Path, stack: str) -> None:
        self._folder = folder
        self._stack = stack
        self._own_uids = os.geteuid() == 0
        self._uids = Uids(folder)
        for name in ("workspaces", "archives", "uids", "live"):
            (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        self._disposal = Disposal(folder, self._uids.free)

    def place(self) -> str:
        """A name that the folder got at its first use, with this host's: several hosts may see one folder."""
        named = self._folder / "place"
        if not named.exists():
            draft = self._folder / f"place.{secrets.token_hex(4)}.new"
            draft.write_text(secrets.token_hex(8))
            with contextlib.suppress(FileExistsError):
                os.link(draft, named)
            draft.unlink()
        return f"{named.read_text()}@{platform.node()}"

    def live(self, sandbox_id: str) -> Live:
        """Raises `InvalidIdentifierError`."""
        return Live(self._folder / "live" / parse_sandbox_id(sandbox_id))

    def workspace(self, session_id: str) -> Path:
        """Raises `InvalidIdentifierError`."""
        return self._folder / "workspaces" / parse_session_id(session_id)

    def archives(self, session_id: str) -> Path:
        """Raises `InvalidIdentifierError`."""
        return self._folder / "archives" / parse_session_id(session_id)

    def make(self, identity: Identity, size: Size | None = None) -> tuple[Live, int | None]:
        """Folders of a new sandbox and its session's uid (None: the manager's own). Its size is kept, unless it is the
        default."""
        live = self.live(identity.sandbox_id)
        live.folder.mkdir(mode=0o700)
        _write(live.folder / "identity.json", {"stack": self._stack, **asdict(identity)})
        if size is not None:
            _write(live.folder / "size.json", asdict(size))
        live.etc.mkdir(mode=0o755)
        live.endpoint.mkdir(mode=0o700)
        return live, self.make_workspace(identity.session_id)

    def make_workspace(self, session_id: str) -> int | None:
        """Make the folder, unless it exists; returns its owner's uid (None: the manager's own).

        Raises `StartFailedError` if it belongs to another user of this host, or no uid is left.
        """
        workspace = self.workspace(session_id)
        owner = workspace.lstat().st_uid if workspace.exists() else None
        if not self._own_uids:
            uid = None
        elif owner is not None and self._uids.keep(owner):
            return owner
        elif owner in (None, 0):  # root's is one whose making was cut off
            uid = self._uids.give()
        else:
            raise StartFailedError(_FOREIGN.format(owner=owner), retryable=False)
        if owner is None:
            workspace.mkdir(mode=0o700)
        if uid is not None:
            os.chown(workspace, uid, uid)
        return uid

    def remember(self, sandbox_id: str, state: State) -> None:
        _write(self.live(sandbox_id).folder / "state.json", asdict(state))

    def identities(self) -> list[Identity]:
        """The live sandboxes of this stack; invalid entries are logged and passed over."""
        found: list[Identity] = []
        for folder in (self._folder / "live").iterdir():
            known = _read(folder / "identity.json")
            if known is None or known.pop("stack", None) != self._stack:
                continue
            try:
                identity = Identity(
                    sandbox_id=str(known["sandbox_id"]),
                    session_id=str(known["session_id"]),
                    user_id=str(known["user_id"]),
                    generation=parse_generation(known["generation"]),
                )
            except (InvalidIdentifierError, KeyError):
                _log.warning("folder of an unknown sandbox ignored", extra={"folder": folder.name})
                continue
            if identity.sandbox_id == folder.name:
                found.append(identity)
        return found

    def size(self, sandbox_id: str) -> Size | None:
        """The size of a sandbox; None for the default, and if no valid one is stored."""
        known = _read(self.live(sandbox_id).folder / "size.json")
        try:
            return Size(**known) if known else None
        except TypeError:
            return None

    def is_live(self, sandbox_id: str) -> bool:
        """Whether its folder exists, which is made before any of its processes and removed after the last."""
        return os.path.lexists(self.live(sandbox_id).folder)

    def state(self, sandbox_id: str) -> State | None:
        """The state of a sandbox; None if none is stored, or an invalid one."""
        known = _read(self.live(sandbox_id).folder / "state.json")
        try:
            first, outer, network, log = (
                _reference((known or {}).get(name)) for name in ("first", "outer", "network", "log")
            )
        except (TypeError, ValueError, KeyError):
            _log.warning("unreadable state of a sandbox ignored", extra={"sandbox_id": sandbox_id})
            return None
        number = (known or {}).get("network_namespace")
        namespace = number if isinstance(number, int) else None
        return (
            None
            if outer is None
            else State(first=first, outer=outer, network=network, log=log, network_namespace=namespace)
        )

    def assign_workspace(self, identity: Identity) -> None:
        """Make the workspace a pooled sandbox was started with, which keeps its uid, the session's."""
        place = self.workspace(identity.session_id)
        if place.exists():
            raise WorkspaceExistsError
        self.workspace(pool_session(identity.sandbox_id)).rename(place)
        self.live(identity.sandbox_id).session.write_text(identity.session_id)

    def session_of(self, identity: Identity) -> str:
        """The session whose workspace a sandbox has now, by the identity it was started with."""
        with contextlib.suppress(OSError, InvalidIdentifierError):
            return parse_session_id(self.live(identity.sandbox_id).session.read_text())
        return identity.session_id

    def forget(self, identity: Identity, *, keep_workspace: bool) -> None:
        """Remove the folders of a sandbox without living processes, with an unclaimed workspace.

        Raises `OSError` if something is left; calling it again continues.
        """
        until = time.monotonic() + _REMOVE_S
        for session_id in {pool_session(identity.sandbox_id), *([] if keep_workspace else [identity.session_id])}:
            self._remove_workspace(session_id, until)
        self._disposal.remove("live", parse_sandbox_id(identity.sandbox_id), until)  # last: the others are found by it

    def remove_workspace(self, session_id: str) -> None:
        """Remove a workspace no sandbox runs on and its archives; its uid is free then. Raises `OSError`."""
        self._remove_workspace(session_id, time.monotonic() + _REMOVE_S)

    def _remove_workspace(self, session_id: str, until: float) -> None:
        name = parse_session_id(session_id)
        for kind in ("workspaces", "archives"):
            self._disposal.remove(kind, name, until)

    def carry_on(self) -> None:
        """Go on for a moment with removals that were cut off."""
        self._disposal.carry_on(_CARRY_ON_S)

    def free_unused_uids(self) -> None:
        """Free uids that a manager gave out before it was cut off; none while another manager moves workspaces, whose
        owners may be missed then."""
        if not self._own_uids:
            return
        try:
            used = self._owners("workspaces") | self._owners("gone")
        except FileNotFoundError:
            return
        self._uids.free_unused(used)

    def _owners(self, kind: str) -> set[int]:
        with os.scandir(self._folder / kind) as entries:
            return {one.stat(follow_symlinks=False).st_uid for one in entries}


def _write(path: Path, content: dict[str, Any]) -> None:
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(content))
    draft.replace(path)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        with path.open("rb") as file:
            known = json.loads(file.read(_STATE_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", known) if isinstance(known, dict) else None


def _reference(known: Any) -> ProcessRef | None:
    """The process in a stored state. Raises `ValueError` and the like for an invalid one."""
    if known is None:
        return None
    pid, started = known["pid"], known["started"]
    if not (isinstance(pid, int) and isinstance(started, int) and pid > 1):
        raise ValueError("this does not name a process")
    return ProcessRef(pid, started)
