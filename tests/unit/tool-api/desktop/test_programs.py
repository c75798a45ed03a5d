"""How the desktop's programs are found and called."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tool_api.desktop import programs
from tool_api.desktop.settings import DesktopSettings


def put(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.mark.parametrize("name", ["chromium", "google-chrome-stable", "google-chrome", "chrome"])
def test_any_chrome_will_do(tmp_path: Path, name: str) -> None:
    found = programs.find_programs(put(tmp_path, "Xvnc", "openbox", name))

    assert found.browser == str(tmp_path / name)
    assert found.missing is None


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    found = programs.find_programs(put(tmp_path, "Xvnc"))

    assert found.missing == "not installed: openbox, Chrome or Chromium"


def test_xvnc_listens_on_its_unix_socket_alone() -> None:
    command = programs.xvnc_command("/usr/bin/Xvnc", DesktopSettings(), 7)
    pairs = list(itertools.pairwise(command))

    assert ("-rfbunixpath", "/run/sandbox/vnc.sock") in pairs
    assert ("-rfbport", "-1") in pairs
    assert ("-nolisten", "tcp") in pairs


def test_chrome_keeps_its_sandbox() -> None:
    command = programs.browser_command("/usr/bin/chromium", DesktopSettings())

    assert not [word for word in command if "sandbox" in word and not word.startswith("--user-data-dir")]
    assert "--remote-debugging-port=9222" in command


def test_the_programs_see_nothing_of_the_supervisors_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_PUBLIC_KEY", "key")
    environment = programs.environment(DesktopSettings(), ":3")

    assert "SANDBOX_PUBLIC_KEY" not in environment
    assert (environment["DISPLAY"], environment["HOME"]) == (":3", "/home/agent")
