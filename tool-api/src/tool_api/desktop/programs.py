"""The programs of the desktop, and the command line of each."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tool_api.desktop.settings import DesktopSettings
from tool_api.programs.installed import find_program

BROWSERS = ("chromium", "google-chrome-stable", "google-chrome", "chrome")
OPENBOX_SETTINGS = Path(__file__).with_name("openbox.xml")
WINDOW_MANAGER_READY = "window-manager-ready"
_CDP_ADDRESS = re.compile(r"DevTools listening on (ws://\S+)")
QUIET_FLAGS = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-features=Translate,MediaRouter,OptimizationHints,GlobalMediaControls",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--hide-crash-restore-bubble",
    "--metrics-recording-only",
    "--noerrdialogs",
    "--no-pings",
    "--password-store=basic",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Paths of the installed programs, None for missing ones."""

    xvnc: str | None
    window_manager: str | None
    browser: str | None

    @property
    def missing(self) -> str | None:
        """The names of missing programs; None if all are installed."""
        wanted = {"Xvnc": self.xvnc, "openbox": self.window_manager, "Chrome or Chromium": self.browser}
        lacking = [name for name, path in wanted.items() if path is None]
        return f"not installed: {', '.join(lacking)}" if lacking else None


def find_programs(search_path: str | None) -> Programs:
    """Look on `search_path`, or where `find_program` does when it is None."""
    find = partial(find_program, search_path=search_path)

    return Programs(xvnc=find("Xvnc", "Xtigervnc"), window_manager=find("openbox"), browser=find(*BROWSERS))


def xvnc_command(path: str, settings: DesktopSettings, display_fd: int) -> list[str]:
    """Xvnc picks a free display, and writes its number to `display_fd` once it serves."""
    return [
        path,
        "-displayfd",
        str(display_fd),
        "-rfbunixpath",
        str(settings.vnc_socket),
        "-rfbunixmode",
        "0600",
        "-rfbport",
        "-1",
        "-nolisten",
        "tcp",
        "-SecurityTypes",
        "None",
        # Whoever gets here showed a token: viewers cut in their handshake must not lock out the next.
        "-UseBlacklist=0",
        "-AlwaysShared",
        "-AcceptSetDesktopSize",
        "-geometry",
        f"{settings.width}x{settings.height}",
        "-depth",
        "24",
        "-desktop",
        "sandbox",
        "-FrameRate",
        "30",
    ]


def window_manager_command(path: str) -> list[str]:
    """Openbox runs its start-up command once it manages the screen."""
    return [path, "--sm-disable", "--config-file", str(OPENBOX_SETTINGS), "--startup", f"echo {WINDOW_MANAGER_READY}"]


def browser_command(path: str, settings: DesktopSettings) -> list[str]:
    """Chrome, visible, with its own sandbox on and its control port on loopback only."""
    return [
        path,
        f"--user-data-dir={settings.profile}",
        f"--remote-debugging-port={settings.cdp_port}",
        *QUIET_FLAGS,
        "--disable-gpu",
        # Containers have a small /dev/shm; /tmp is bounded by the sandbox's own limit.
        "--disable-dev-shm-usage",
        "--start-maximized",
        "--window-position=0,0",
        f"--window-size={settings.width},{settings.height}",
        settings.start_page,
    ]


def printing_command(path: str, profile: Path) -> list[str]:
    """Chrome without a window, which can resolve no address."""
    return [
        path,
        "--headless",
        f"--user-data-dir={profile}",
        "--remote-debugging-port=0",
        *QUIET_FLAGS,
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-extensions",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--no-proxy-server",
        "about:blank",
    ]


def cdp_address(line: str) -> str | None:
    """The control address in Chrome's output line."""
    return found.group(1) if (found := _CDP_ADDRESS.search(line)) else None


def environment(settings: DesktopSettings, display: str | None = None) -> dict[str, str]:
    """The environment of the desktop's programs, without the supervisor's own settings."""
    kept = ("PATH", "LANG", "LC_ALL", "TZ", "XDG_DATA_DIRS", "FONTCONFIG_PATH", "SSL_CERT_FILE", "TMPDIR")
    values = {name: os.environ[name] for name in kept if name in os.environ}
    values |= {
        "HOME": str(settings.home),
        "XDG_CONFIG_HOME": str(settings.home / ".config"),
        "XDG_CACHE_HOME": str(settings.home / ".cache"),
        "XDG_RUNTIME_DIR": str(settings.run_dir),
        # There is no session bus: without this each of Chrome's services would look for one.
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        "NO_AT_BRIDGE": "1",
    }
    return values | {"DISPLAY": display} if display else values
