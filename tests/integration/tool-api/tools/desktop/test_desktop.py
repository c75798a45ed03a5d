"""The desktop tools on a real screen, with Chrome as the window that is used."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from pydantic import ValidationError

from support.desktop_tools import DesktopTools, open_bare_screen, open_desktop, picture_of, view_of
from support.rfb import RfbClient
from tool_api.tools.desktop.programs import xdotool
from tool_api.tools.desktop.screen import NO_DESKTOP

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = """<title>Desk 桌面</title><body style="margin:0;background:#fff">
<textarea id=t style="position:fixed;left:0;top:0;width:600px;height:200px"></textarea>
<div id=z style="position:fixed;left:0;top:250px;width:1000px;height:300px;background:#f00"></div>
<script>const log=[];for(const n of ['mousedown','mouseup','click','dblclick','contextmenu','wheel','mousemove'])
addEventListener(n,e=>{log.push([n,e.button,e.clientX,e.clientY,e.detail,e.ctrlKey,e.deltaY>0]);
if(n=='contextmenu')e.preventDefault()},{passive:false,capture:true});</script>"""
ALL_SCRIPTS = "Wörld <中文输入测试：我们今天一起去吃饭> かなカナ 한국어 😀\nسلام"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk() -> AsyncIterator[DesktopTools]:
    async with open_desktop(PAGE) as opened:
        async with asyncio.timeout(30):
            while (255, 0, 0) not in [color for _, color in await colors(opened)]:
                await asyncio.sleep(0.2)
        yield opened


async def colors(desk: DesktopTools) -> list[tuple[int, object]]:
    """Those of the screen, in few steps as a JPEG has many."""
    picture = picture_of(await desk.call("screenshot")).resize((64, 40))
    rounded = picture.point([255 if value > 200 else 0 for value in range(256)] * 3)
    return rounded.getcolors(64 * 40) or []


async def origin(desk: DesktopTools) -> tuple[int, int]:
    """Where the page begins on the screen."""
    found = await desk.page("[screenX + (outerWidth - innerWidth), screenY + (outerHeight - innerHeight)]")
    assert isinstance(found, list)
    return int(found[0]), int(found[1])


async def resize(socket: str, width: int, height: int) -> None:
    """As a viewer that wants another size of desktop."""
    reader, writer = await asyncio.open_unix_connection(socket)

    async def send(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    client = RfbClient(send=send, receive=lambda: reader.read(65_536))
    await client.connect()
    await send(struct.pack(">BxHi", 2, 1, -308))
    await send(struct.pack(">BxHHBxIHHHHI", 251, width, height, 1, 0, 0, 0, width, height, 0))
    await send(struct.pack(">BBHHHH", 3, 0, 0, 0, 10, 10))
    async with asyncio.timeout(10):
        await client.read(4)
    writer.close()
    await writer.wait_closed()


async def test_a_screenshot_shows_the_desktop_and_says_its_pixels(desk: DesktopTools) -> None:
    result = await desk.call("screenshot")

    assert result.success
    assert "1280x800 pixels" in result.output
    view = view_of(result)
    assert (view.width, view.height, view.action) == (1280, 800, "screenshot")
    picture = picture_of(result)
    assert picture.size == (1280, 800)
    x, y = await origin(desk)
    red = picture.getpixel((x + 100, y + 300))
    assert isinstance(red, tuple)
    assert red[0] > 200
    assert red[1] < 60


@pytest.mark.thorough
async def test_a_part_is_shown_in_its_own_pixels(desk: DesktopTools) -> None:
    result = await desk.call("screenshot", region=[100, 100, 400, 300])

    assert picture_of(result).size == (300, 200)
    assert view_of(result).pointer_x is None
    outside = await desk.call("screenshot", region=[5000, 100, 6000, 300])
    assert not outside.success
    assert "1280x800" in outside.output


async def test_a_click_is_where_it_was_asked_for_with_its_button_and_keys(desk: DesktopTools) -> None:
    x, y = await origin(desk)
    await desk.page("log.length = 0")

    result = await desk.call("mouse", action="click", x=x + 120, y=y + 300, keys="ctrl")
    await desk.call("mouse", action="click", button="right", x=x + 130, y=y + 310)
    await desk.call("mouse", action="double_click", x=x + 140, y=y + 320)

    assert result.success, result.output
    assert (view_of(result).pointer_x, view_of(result).pointer_y) == (x + 120, y + 300)
    log = await desk.page("log")
    assert isinstance(log, list)
    assert ["click", 0, 120, 300, 1, True, False] in log
    assert ["contextmenu", 2, 130, 310, 0, False, False] in log
    assert ["dblclick", 0, 140, 320, 2, False, False] in log


@pytest.mark.thorough
async def test_a_drag_goes_through_its_points_with_the_button_held(desk: DesktopTools) -> None:
    x, y = await origin(desk)
    await desk.page("log.length = 0")

    result = await desk.call("mouse", action="drag", x=x + 50, y=y + 300, path=[[x + 200, y + 350], [x + 300, y + 300]])

    assert result.success, result.output
    log = await desk.page("log.map(e => e.slice(0, 4).join())")
    assert isinstance(log, list)
    assert log.index("mousedown,0,50,300") < log.index("mousemove,0,200,350") < log.index("mouseup,0,300,300")


@pytest.mark.thorough
async def test_a_wheel_turns(desk: DesktopTools) -> None:
    x, y = await origin(desk)
    await desk.page("log.length = 0")

    await desk.call("mouse", action="scroll", x=x + 100, y=y + 300, direction="down", amount=4)

    # The page hears of each notch by itself.
    async with asyncio.timeout(5):
        while await desk.page("log.filter(e => e[0] == 'wheel' && e[6]).length") != 4:
            await asyncio.sleep(0.02)


async def test_a_text_of_any_script_is_written(desk: DesktopTools) -> None:
    x, y = await origin(desk)
    for text in ("Plain keys: ~!@#$%^&*()_+{}|\\<>?\nnext line", ALL_SCRIPTS):
        await desk.page("t.value = ''")
        await desk.call("mouse", action="click", x=x + 50, y=y + 50)

        result = await desk.call("keyboard", action="type", text=text)

        assert result.success, result.output
        assert await desk.page("t.value") == text


async def test_keys_are_pressed_together_and_held(desk: DesktopTools) -> None:
    x, y = await origin(desk)
    await desk.page("t.value = 'abc'")
    await desk.call("mouse", action="click", x=x + 50, y=y + 50)

    await desk.call("keyboard", action="press", keys="ctrl+a")
    await desk.call("keyboard", action="press", keys="x", repeat=3)
    assert await desk.page("t.value") == "xxx"
    held = await desk.call("keyboard", action="hold", keys="shift", seconds=0.1)
    assert held.success
    await desk.call("keyboard", action="type", text="y")
    assert await desk.page("t.value") == "xxxy"
    unknown = await desk.call("keyboard", action="press", keys="ctrl+no such key")
    assert not unknown.success
    assert "Page_Down" in unknown.output


@pytest.mark.thorough
async def test_a_text_that_nothing_takes_is_told_and_a_screen_without_windows_is_seen() -> None:
    async with open_bare_screen() as bare:
        result = await bare.call("keyboard", action="type", text="中文")
        windows = await bare.call("windows")

    assert not result.success
    assert "Click where it belongs" in result.output
    assert windows.output == "There is no window."


@pytest.mark.thorough
async def test_a_large_screen_is_shown_smaller_and_points_are_those_of_the_picture() -> None:
    async with open_bare_screen() as bare:
        assert bare.desktop is not None
        display = bare.desktop.display or ""
        await bare.call("screenshot")
        await resize(bare.desktop.vnc_socket or "", 2560, 1440)
        stale = await bare.call("mouse", action="move", x=1, y=1)
        shown = await bare.call("screenshot")
        moved = await bare.call("mouse", action="move", x=700, y=400)
        place = await xdotool(display, "getmouselocation")

    assert not stale.success
    assert "size has changed" in stale.output
    view = view_of(shown)
    assert (view.width, view.height) == picture_of(shown).size == (1429, 804)
    assert (view_of(moved).pointer_x, view_of(moved).pointer_y) == (700, 400)
    assert place.startswith("x:1254 y:717 ")


async def test_the_browser_and_the_desktop_are_used_one_at_a_time(desk: DesktopTools) -> None:
    async with desk.turn:
        waiting = await desk.call("mouse", deadline_s=9, action="move", x=1, y=1)
        looked = await desk.call("screenshot")

    assert not waiting.success
    assert "another call" in waiting.output
    assert looked.success


async def test_windows_are_listed_and_brought_to_the_front(desk: DesktopTools) -> None:
    result = await desk.call("windows")

    line = next(line for line in result.output.splitlines() if "Desk 桌面" in line)
    assert "has the focus" in line
    number = int(line.split(":")[0])
    focused = await desk.call("window", action="focus", window=number)
    assert focused.success, focused.output
    missing = await desk.call("window", action="close", window=4242)
    assert not missing.success
    assert "desktop_windows" in missing.output


async def test_a_point_outside_of_the_screen_is_refused_and_nothing_is_done(desk: DesktopTools) -> None:
    await desk.page("log.length = 0")

    result = await desk.call("mouse", action="click", x=1280, y=10)

    assert not result.success
    assert "1280x800" in result.output
    drag = await desk.call("mouse", action="drag", x=10, y=10, path=[[20, 20], [9000, 10]])
    assert not drag.success
    assert await desk.page("log.filter(e => e[0] != 'mousemove').length") == 0


async def test_while_a_person_has_control_the_agent_only_looks(desk: DesktopTools) -> None:
    await desk.page("log.length = 0")
    with desk.control.hold():
        refused = [
            await desk.call("mouse", action="click", x=100, y=400),
            await desk.call("keyboard", action="type", text="no"),
            await desk.call("window", action="close", window=1),
        ]
        looked = await desk.call("screenshot")

    assert not any(result.success for result in refused)
    assert all("taken control" in result.output for result in refused)
    assert looked.success
    assert await desk.page("log.filter(e => e[0] == 'mousedown').length") == 0


async def test_who_takes_control_ends_what_the_agent_is_doing(desk: DesktopTools) -> None:
    holding = asyncio.create_task(desk.call("keyboard", action="hold", keys="shift", seconds=10))
    async with asyncio.timeout(5):
        while not desk.turn.locked():
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)  # for the key to be down, so that it has to come up again
    with desk.control.hold():
        async with asyncio.timeout(5):
            result = await holding

    assert not result.success
    assert "interrupted" in result.output
    await desk.page("t.value = ''; t.focus()")
    assert desk.desktop is not None
    await xdotool(desk.desktop.display or "", "key", "q")
    async with asyncio.timeout(5):
        while await desk.page("t.value") != "q":
            await asyncio.sleep(0.05)


async def test_a_sandbox_without_a_desktop_says_so() -> None:
    none = DesktopTools(None, None)
    for name, arguments in (
        ("screenshot", {}),
        ("mouse", {"action": "click"}),
        ("keyboard", {"action": "type", "text": "a"}),
        ("windows", {}),
        ("window", {"action": "focus", "window": 1}),
    ):
        result = await none.call(name, **arguments)
        assert (result.success, result.output) == (False, NO_DESKTOP)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param("mouse", {"action": "move"}, marks=pytest.mark.thorough),
        pytest.param("mouse", {"action": "click", "x": 1}, marks=pytest.mark.thorough),
        ("mouse", {"action": "click", "x": -1, "y": 1}),
        pytest.param("mouse", {"action": "drag", "x": 1, "y": 1}, marks=pytest.mark.thorough),
        pytest.param("mouse", {"action": "scroll", "amount": 10**9}, marks=pytest.mark.thorough),
        pytest.param("keyboard", {"action": "type"}, marks=pytest.mark.thorough),
        pytest.param("keyboard", {"action": "type", "text": "a" * 5001}, marks=pytest.mark.thorough),
        ("keyboard", {"action": "type", "text": "bell\x07"}),
        pytest.param("keyboard", {"action": "press", "text": "a", "keys": "a"}, marks=pytest.mark.thorough),
        pytest.param("keyboard", {"action": "hold", "keys": "a", "seconds": float("inf")}, marks=pytest.mark.thorough),
        ("screenshot", {"region": [10, 10, 5, 20]}),
        pytest.param("window", {"action": "focus", "window": 2**40}, marks=pytest.mark.thorough),
    ],
)
async def test_arguments_that_can_not_be_meant_are_refused(name: str, arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        await DesktopTools(None, None).call(name, **arguments)
