"""Folders, ports and look of the desktop."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class DesktopSettings:
    """Everything the desktop depends on; the defaults are those of a sandbox.

    `cdp_port` 0 lets Chrome choose a free one. `user` (an id, used as group as well) is for a supervisor that runs
    as root: Chrome refuses to keep its sandbox as root.
    """

    run_dir: Path = Path("/run/sandbox")
    home: Path = Path("/home/agent")
    workspace: Path = Path("/workspace")
    authorities: Path = Path("/usr/local/share/ca-certificates")
    width: int = 1280
    height: int = 800
    cdp_port: int = 9222
    start_page: str = "about:blank"
    user: int | None = None
    search_path: str | None = None
    start_timeout_s: float = 30.0
    stop_grace_s: float = 2.0

    @property
    def vnc_socket(self) -> Path:
        """The unix socket Xvnc speaks RFB on."""
        return self.run_dir / "vnc.sock"

    @property
    def profile(self) -> Path:
        """Chrome's own profile."""
        return self.home / ".config" / "sandbox-chrome"
