"""What the process runtime keeps on disk, so that it survives the manager.

folder/workspaces/<session id>      the workspace, owned by the session's uid on the host
folder/archives/<session id>/       its snapshots
folder/uids/<uid>                   names the session that has this uid
folder/live/<sandbox id>/           identity.json, state.json, logs, etc/, door/ with its socket; the manager's own
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import secrets
import shutil
import stat
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandbox_manager.domain.errors import StartFailedError, WorkspaceExistsError
from sandbox_manager.domain.sandbox import Identity, pool_session
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

_UIDS_PER_FOLDER = 1000
_FIRST_UID = 200_000
_FOLDERS = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The processes of a running sandbox: the first inside, the one outside that waits for it, its network, its log."""

    first: ProcessRef | None
    outer: ProcessRef
    network: ProcessRef | None
    log: ProcessRef | None = None

    @property
    def root(self) -> ProcessRef:
        """The one all others inside descend from."""
        return self.first or self.outer

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
    def door(self) -> Path:
        return self.folder / "door"

    @property
    def home(self) -> Path:
        """Of what runs without isolation."""
        return self.folder / "home"


class Store:
    """The folder of one deployment. Runs as root when every sandbox gets a uid of its own."""

    def __init__(self, folder: Path, stack: str) -> None:
        self._folder = folder
        self._stack = stack
        self._own_uids = os.geteuid() == 0
        self._first_uid = _FIRST_UID + zlib.crc32(str(folder).encode()) % _FOLDERS * _UIDS_PER_FOLDER
        for name in ("workspaces", "archives", "uids", "live"):
            (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)

    def place(self) -> str:
        """A name this folder was given by whoever used it first, with this host's: a folder may be seen by several."""
        named = self._folder / "place"
        if not named.exists():
            draft = self._folder / f"place.{secrets.token_hex(4)}.new"
            draft.write_text(secrets.token_hex(8))
            with contextlib.suppress(FileExistsError):
                os.link(draft, named)
            draft.unlink()
        return f"{named.read_text()}@{platform.node()}"

    def live(self, sandbox_id: str) -> Live:
        return Live(self._folder / "live" / sandbox_id)

    def workspace(self, session_id: str) -> Path:
        return self._folder / "workspaces" / session_id

    def archives(self, session_id: str) -> Path:
        return self._folder / "archives" / session_id

    def make(self, identity: Identity) -> tuple[Live, int | None]:
        """Folders of a new sandbox and its session's uid (None: the manager's own)."""
        live = self.live(identity.sandbox_id)
        live.folder.mkdir(mode=0o700)
        _write(live.folder / "identity.json", {"stack": self._stack, **asdict(identity)})
        live.etc.mkdir(mode=0o755)
        live.door.mkdir(mode=0o700)
        return live, self.make_workspace(identity.session_id)

    def make_workspace(self, session_id: str) -> int | None:
        """The folder, unless it is there; answers its owner's uid (None: the manager's own)."""
        uid = self._uid(session_id) if self._own_uids else None
        workspace = self.workspace(session_id)
        if not workspace.exists():
            workspace.mkdir(mode=0o700)
            if uid is not None:
                os.chown(workspace, uid, uid)
        return uid

    def remember(self, sandbox_id: str, state: State) -> None:
        _write(self.live(sandbox_id).folder / "state.json", asdict(state))

    def identities(self) -> list[Identity]:
        """All live sandboxes of this stack."""
        found: list[Identity] = []
        for folder in (self._folder / "live").iterdir():
            known = _read(folder / "identity.json")
            if known and known.pop("stack", None) == self._stack:
                found.append(Identity(**known))
        return found

    def state(self, sandbox_id: str) -> State | None:
        known = _read(self.live(sandbox_id).folder / "state.json")
        if known is None:
            return None
        first, outer, network, log = known["first"], known["outer"], known["network"], known.get("log")
        return State(
            first=ProcessRef(**first) if first else None,
            outer=ProcessRef(**outer),
            network=ProcessRef(**network) if network else None,
            log=ProcessRef(**log) if log else None,
        )

    def hand_over(self, identity: Identity) -> None:
        """Make the workspace a pooled sandbox was started with, and its uid, the session's.

        The uid goes first: cut off in between, the session begins with an empty folder of its own uid.
        """
        old = pool_session(identity.sandbox_id)
        place = self.workspace(identity.session_id)
        if place.exists() or self._uid_file(identity.session_id) is not None:
            raise WorkspaceExistsError
        owner = self._uid_file(old)
        if owner is not None:
            draft = owner.with_suffix(".new")
            draft.write_text(identity.session_id)
            draft.replace(owner)
        self.workspace(old).rename(place)

    def forget(self, identity: Identity, *, keep_workspace: bool) -> None:
        """Remove the folders of a sandbox none of whose processes lives, with a workspace nobody took over."""
        _remove_tree(self.live(identity.sandbox_id).folder)
        for session_id in {pool_session(identity.sandbox_id), *([] if keep_workspace else [identity.session_id])}:
            self.remove_workspace(session_id)

    def remove_workspace(self, session_id: str) -> None:
        """Remove a workspace no sandbox runs on, its archives, and give its uid back."""
        _remove_tree(self.workspace(session_id))
        _remove_tree(self.archives(session_id))
        taken = self._uid_file(session_id)
        if taken is not None:
            taken.unlink(missing_ok=True)

    def _uid_file(self, session_id: str) -> Path | None:
        for taken in (self._folder / "uids").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if taken.name.isdigit() and taken.read_text() == session_id:
                    return taken
        return None

    def _uid(self, session_id: str) -> int:
        uids = self._folder / "uids"
        taken = self._uid_file(session_id)
        if taken is not None:
            return int(taken.name)
        for uid in range(self._first_uid, self._first_uid + _UIDS_PER_FOLDER):
            with contextlib.suppress(FileExistsError), (uids / str(uid)).open("x") as free:
                free.write(session_id)
                return uid
        raise StartFailedError("No user id is left for another workspace; delete sessions.", retryable=False)


def _write(path: Path, content: dict[str, Any]) -> None:
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(content))
    draft.replace(path)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def _remove_tree(folder: Path) -> None:
    # Neither rmtree nor walk follows a symlink; what was made unreadable inside is opened up first.
    if not folder.exists():
        return
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        _remove_tree(folder)  # another manager removes it too
    except PermissionError:
        folder.chmod(stat.S_IRWXU)
        for place, folders, _ in os.walk(folder):
            for name in folders:
                if not Path(place, name).is_symlink():
                    Path(place, name).chmod(stat.S_IRWXU)
        shutil.rmtree(folder)
