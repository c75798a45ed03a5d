"""The desktop with a real X server, window manager and Chrome."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from contracts.tools import ServiceState
from support.desktops import desktop_settings
from tool_api.desktop.settings import DesktopSettings
from tool_api.desktop.supervisor import Desktop

ALL_READY = dict.fromkeys(("xvnc", "window_manager", "browser"), ServiceState.READY)
SETTLE_S = 40.0


@pytest.fixture
def settings() -> Iterator[DesktopSettings]:
    with desktop_settings() as made:
        yield made


@pytest.fixture
async def desktop(settings: DesktopSettings) -> AsyncIterator[Desktop]:
    async with Desktop(settings) as started:
        assert await started.wait_settled(SETTLE_S), started.reason
        yield started


def mine(settings: DesktopSettings) -> list[psutil.Process]:
    """Processes of this desktop, known by their folder."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if any(str(settings.run_dir.parent) in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def process_of(settings: DesktopSettings, word: str) -> psutil.Process:
    return next(one for one in mine(settings) if any(word in part for part in one.cmdline()))


def renderers_of(settings: DesktopSettings) -> list[psutil.Process]:
    """Chrome's renderers are forked by helpers, so their own command line may not name the folder."""
    below = {child for one in mine(settings) for child in one.children(recursive=True)} | set(mine(settings))
    return [one for one in below if "--type=renderer" in " ".join(one.cmdline())]


def states_of(settings: DesktopSettings) -> set[str]:
    """Of the programs and all they started."""
    programs = [one for one in mine(settings) if one.ppid() == os.getpid()]
    return {one.status() for program in programs for one in (program, *program.children(recursive=True))}


async def until(condition: Callable[[], object], timeout_s: float = 20.0) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.02)


async def test_it_settles_with_every_service_ready_and_chromes_own_sandbox_on(
    desktop: Desktop, settings: DesktopSettings
) -> None:
    assert desktop.states() == ALL_READY
    assert desktop.has_desktop
    assert settings.vnc_socket.is_socket()
    assert (await desktop.cdp_address(1)) is not None
    assert not any("--no-sandbox" in process.cmdline() for process in mine(settings))
    await until(lambda: renderers_of(settings))

    def are_sealed() -> bool:
        """A renderer seals itself a moment after its start."""
        return all("Seccomp:\t2" in Path(f"/proc/{one.pid}/status").read_text() for one in renderers_of(settings))

    await until(are_sealed)


@pytest.mark.thorough
async def test_chrome_that_dies_is_started_again(desktop: Desktop, settings: DesktopSettings) -> None:
    before = await desktop.cdp_address(1)
    os.kill(process_of(settings, "--remote-debugging-port").pid, signal.SIGKILL)
    await until(lambda: desktop.states()["browser"] is ServiceState.STARTING)

    assert await desktop.wait_settled(SETTLE_S)
    assert desktop.states() == ALL_READY
    assert await desktop.cdp_address(1) != before


async def test_an_x_server_that_dies_takes_the_others_along_and_all_come_back(
    desktop: Desktop, settings: DesktopSettings
) -> None:
    os.kill(process_of(settings, "-rfbunixpath").pid, signal.SIGKILL)
    await until(lambda: not desktop.has_desktop)

    assert await desktop.wait_settled(SETTLE_S)
    assert desktop.states() == ALL_READY


@pytest.mark.thorough
async def test_it_rests_as_a_whole_until_somebody_needs_it(desktop: Desktop, settings: DesktopSettings) -> None:
    await desktop.rest()

    resting = desktop.rests
    held = states_of(settings)
    await desktop.cdp_address(1)

    assert resting
    assert held == {psutil.STATUS_STOPPED}
    await until(lambda: psutil.STATUS_STOPPED not in states_of(settings))
    assert not desktop.rests


@pytest.mark.thorough
async def test_one_that_is_needed_while_it_comes_to_rest_goes_on(desktop: Desktop, settings: DesktopSettings) -> None:
    resting = asyncio.create_task(desktop.rest())
    await until(lambda: psutil.STATUS_STOPPED in states_of(settings), 5)
    desktop.wake()
    await resting

    await until(lambda: psutil.STATUS_STOPPED not in states_of(settings), 5)


@pytest.mark.thorough
async def test_what_dies_at_rest_is_told_at_once_and_started_again_only_once_it_wakes(
    desktop: Desktop, settings: DesktopSettings
) -> None:
    await desktop.rest()
    process_of(settings, "-rfbunixpath").kill()
    await until(lambda: desktop.states()["xvnc"] is ServiceState.STARTING)
    rests, started = desktop.rests, [one for one in mine(settings) if "-rfbunixpath" in one.cmdline()]

    desktop.wake()

    assert not rests
    assert started == []
    assert await desktop.wait_settled(SETTLE_S)
    assert desktop.states() == ALL_READY


@pytest.mark.thorough
async def test_one_that_rests_ends_without_being_waited_for(settings: DesktopSettings) -> None:
    async with Desktop(settings) as desktop:
        await desktop.wait_settled(SETTLE_S)
        await desktop.rest()

    assert not mine(settings)


async def test_leaving_ends_every_process(settings: DesktopSettings) -> None:
    async with Desktop(settings) as desktop:
        await desktop.wait_settled(SETTLE_S)
        assert mine(settings)

    await until(lambda: not mine(settings), 5)
    assert not desktop.has_desktop


async def test_without_the_programs_there_is_no_desktop_and_a_reason(settings: DesktopSettings, tmp_path: Path) -> None:
    async with Desktop(replace(settings, search_path=str(tmp_path))) as desktop:
        assert await desktop.wait_settled(1)

        assert not desktop.has_desktop
        assert set(desktop.states().values()) == {ServiceState.OFF}
        assert desktop.reason == "not installed: Xvnc, openbox, Chrome or Chromium"
        assert await desktop.cdp_address(1) is None


@pytest.mark.thorough
async def test_a_browser_that_never_starts_counts_as_failed_and_the_screen_stays(
    settings: DesktopSettings, tmp_path: Path
) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho no luck today\nexit 3\n")
    broken.chmod(0o755)
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o055)

    async with Desktop(replace(settings, search_path=f"{tmp_path}:/usr/bin")) as desktop:
        assert await desktop.wait_settled(SETTLE_S)

        assert desktop.has_desktop
        assert desktop.states()["browser"] is ServiceState.FAILED
        assert "no luck today" in (desktop.reason or "")


@pytest.mark.thorough
async def test_a_profile_that_can_not_be_cleared_leaves_the_screen_and_its_windows(settings: DesktopSettings) -> None:
    (settings.profile / "SingletonOdd").mkdir(parents=True)

    async with Desktop(settings) as desktop:
        assert await desktop.wait_settled(SETTLE_S)

        states = desktop.states()
        assert (states["xvnc"], states["window_manager"]) == (ServiceState.READY, ServiceState.READY)
        assert states["browser"] is ServiceState.FAILED
        assert "SingletonOdd" in (desktop.reason or "")


@pytest.mark.thorough
async def test_an_x_server_that_serves_nobody_is_no_display(settings: DesktopSettings) -> None:
    programs = settings.run_dir.parent / "programs"
    programs.mkdir()
    silent = programs / "Xvnc"
    silent.write_text('#!/bin/bash\necho 77 >&"$2"\nexec sleep 60\n')
    silent.chmod(0o755)

    async with Desktop(replace(settings, search_path=str(programs), start_timeout_s=0.2)) as desktop:
        assert await desktop.wait_settled(SETTLE_S)

        assert desktop.states()["xvnc"] is ServiceState.FAILED
        assert desktop.display is None


@pytest.mark.thorough
async def test_where_its_folders_can_not_be_made_there_is_no_desktop_and_a_reason(settings: DesktopSettings) -> None:
    async with Desktop(replace(settings, run_dir=Path("/proc/nowhere"))) as desktop:
        assert await desktop.wait_settled(1)

        assert not desktop.has_desktop
        assert "no folder for the desktop" in (desktop.reason or "")
