"""The browser tools with the real, visible Chrome and pages of our own."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
import time
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest
import pytest_asyncio

from support.browsers import Browser, display_of, index_of, open_browser, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOME = """<title>Home</title><h1>Welcome 欢迎</h1><a href="/form">To the form</a>
<a href="/other" target="_blank">In a new tab</a><button onclick="alert('Careful!');
document.title='Warned'">Warn</button>
<a href="/file.txt" download>Take the file</a><div style="height:3000px"></div><button>At the end</button>"""
FORM = """<title>Form</title><form action="/answer"><label>Name <input name="name" value="old"></label>
<select name="fruit" aria-label="Fruit"><option>Apple</option><option>Pear</option></select>
<input type="checkbox" name="agree" aria-label="Agree"><button>Send</button><button disabled>Locked</button></form>
<div id="host"></div><script>document.getElementById('host').attachShadow({mode:'open'}).innerHTML=
'<button onclick="document.title=&quot;Shadow pressed&quot;">In the shadow</button>'</script>"""
NOISE = """<title>Noise</title><canvas id=c width=1280 height=2000></canvas><script>
const x=c.getContext('2d'),d=x.createImageData(1280,2000);let s=1;
for(let i=0;i<d.data.length;i++){s=(s*1103515245+12345)&0x7fffffff;d.data[i]=s>>16}x.putImageData(d,0,0)</script>"""


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path == "/slow":
            time.sleep(1)  # a page that takes its time
        fields = parse_qs(address.query)
        body = {
            "/": HOME,
            "/form": FORM,
            "/other": "<title>Other</title><p>The other page",
            "/answer": f"<title>Answer</title><p>{sorted(fields.items())}",
            "/slow": "<title>Slow</title><p>At last",
            "/noise": NOISE,
            "/busy": "<title>Busy</title><button onclick='for(;;);'>Work</button>",
            "/long": "<title>Long</title>" + "<button>b</button>" * 500 + "<p>" + "word " * 20_000,
            "/file.txt": "content of the file",
        }.get(address.path)
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Type", "text/plain" if address.path == "/file.txt" else "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((body or "<title>Nothing</title>").encode())

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_browser(Pages) as opened:
        yield opened


async def test_a_page_is_opened_and_described_with_a_picture(browser: Browser) -> None:
    result = await browser.open("/")

    assert result.success
    assert "Welcome 欢迎" in result.output
    assert "<a> To the form" in result.output
    assert "At the end" not in result.output.split("Text of the page")[0]
    display = display_of(result)
    assert (display.url, display.title, display.action) == (browser.site + "/", "Home", "navigate")
    assert base64.b64decode(display.image or "").startswith(b"\xff\xd8\xff")
    assert display.image_media_type == "image/jpeg"


async def test_a_form_is_filled_and_sent(browser: Browser) -> None:
    view = await browser.open("/form")
    assert (await browser.call("type", index=index_of(view, "Name"), text="王小明")).success
    chosen = await browser.call("type", index=index_of(view, "Fruit"), text="pear")
    assert "'Pear'" in chosen.output
    view = await browser.call("click", index=index_of(chosen, "Agree"))
    assert "(checked)" in view.output
    result = await browser.call("click", index=index_of(view, "Send"))

    assert result.success
    assert display_of(result).title == "Answer"
    assert "('agree', ['on']), ('fruit', ['Pear']), ('name', ['王小明'])" in result.output


async def test_enter_submits_what_was_typed_and_back_returns(browser: Browser) -> None:
    view = await browser.open("/form")
    result = await browser.call("type", index=index_of(view, "Name"), text="more", clear=False, submit=True)
    assert "('name', ['oldmore'])" in result.output

    assert display_of(await browser.call("back")).title == "Form"


async def test_keys_reach_the_page(browser: Browser) -> None:
    view = await browser.open("/form")
    await browser.call("click", index=index_of(view, "Name"))
    await browser.call("key", key="Control+A")
    await browser.call("key", key="x")
    await browser.call("key", key="Shift+Y")
    result = await browser.call("key", key="Enter")

    assert "('name', ['xY'])" in result.output


async def test_a_point_is_clicked(browser: Browser) -> None:
    await browser.open("/form")
    result = await browser.call("click", x=5000, y=5)
    assert result.success

    assert (await browser.call("click", x=80, y=20)).success


@pytest.mark.thorough
async def test_an_element_in_a_shadow_tree_is_clicked(browser: Browser) -> None:
    view = await browser.open("/form")
    result = await browser.call("click", index=index_of(view, "In the shadow"))

    assert display_of(result).title == "Shadow pressed"


@pytest.mark.thorough
async def test_scrolling_shows_what_is_below(browser: Browser) -> None:
    await browser.open("/")
    result = await browser.call("scroll", direction="down", pages=20)

    assert "At the end" in result.output.split("Text of the page")[0]
    assert " 0 pixels below" in result.output


async def test_a_new_tab_is_followed(browser: Browser) -> None:
    view = await browser.open("/")
    result = await browser.call("click", index=index_of(view, "In a new tab"))

    assert "new tab" in result.output
    assert display_of(result).title == "Other"


@pytest.mark.thorough
async def test_a_dialog_is_answered_and_told(browser: Browser) -> None:
    view = await browser.open("/")
    result = await browser.call("click", index=index_of(view, "Warn"))

    assert "alert dialog, which was accepted: Careful!" in result.output
    assert display_of(result).title == "Warned"


async def test_a_download_lands_in_the_workspace(browser: Browser) -> None:
    view = await browser.open("/")
    await browser.call("click", index=index_of(view, "Take the file"))
    saved = browser.settings.workspace / "downloads" / "file.txt"
    await until(saved.exists, 5)

    assert saved.read_text() == "content of the file"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://nowhere.invalid/", "ERR_NAME_NOT_RESOLVED"),
        pytest.param("http://127.0.0.1:1/", "ERR_UNSAFE_PORT", marks=pytest.mark.thorough),
        ("javascript:alert(1)", "javascript: can't be opened"),
        pytest.param("file:///no/such/file", "ERR_FILE_NOT_FOUND", marks=pytest.mark.thorough),
        pytest.param("not an address", "is not an address", marks=pytest.mark.thorough),
    ],
)
async def test_what_can_not_be_opened_is_a_result_the_model_reads(browser: Browser, url: str, says: str) -> None:
    result = await browser.call("navigate", url=url)

    assert not result.success
    assert says in result.output
    assert (await browser.open("/other")).success


@pytest.mark.thorough
async def test_a_server_that_never_answers_is_given_up(browser: Browser) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        result = await browser.call("navigate", deadline_s=9, url=f"127.0.0.1:{port}")

        assert "did not answer within" in result.output
        assert (await browser.open("/slow")).success


async def test_an_old_index_is_refused_after_the_page_changed(browser: Browser) -> None:
    await browser.open("/")
    result = await browser.call("click", index=4000)
    assert not result.success
    assert "View the page again" in result.output

    disabled = await browser.call("click", index=index_of(await browser.open("/form"), "Locked"))
    assert "is disabled" in disabled.output


@pytest.mark.thorough
async def test_text_elements_and_picture_are_bounded(browser: Browser) -> None:
    long = await browser.open("/long")
    assert len(long.output) < 16_000
    assert "more elements are not listed" in long.output

    noise = display_of(await browser.open("/noise"))
    assert 0 < len(base64.b64decode(noise.image or "")) <= 150 * 1024


@pytest.mark.thorough
async def test_a_page_that_never_stops_computing_is_left_behind(browser: Browser) -> None:
    view = await browser.open("/busy")
    stuck = await browser.call("click", deadline_s=6, index=index_of(view, "Work"))
    assert not stuck.success
    assert "does not respond" in stuck.output

    result = await browser.open("/other")
    assert display_of(result).title == "Other"
    assert "its tab was closed" in result.output


@pytest.mark.thorough
async def test_it_goes_on_after_chrome_was_killed(browser: Browser) -> None:
    await browser.open("/")
    folder = str(browser.settings.profile)
    for process in psutil.process_iter(["cmdline"]):
        words: list[str] = process.info["cmdline"] or []
        if any(folder in word for word in words) and any("--remote-debugging-port" in word for word in words):
            os.kill(process.pid, signal.SIGKILL)
    first = await browser.open("/other")
    result = first if first.success else await browser.open("/other")

    assert display_of(result).title == "Other"
