"""Tabs, scripts, the console, files in and out and a restart, with the real Chrome and pages that mean no good."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import pytest_asyncio

from contracts.tools import FileDisplay
from support.browsers import Browser, display_of, index_of, open_browser, until

pytestmark = [pytest.mark.thorough, pytest.mark.asyncio(loop_scope="module")]
ROOM = 5_000_000

UPLOAD = """<title>Upload</title><label>File <input type=file id=f style="display:none"
onchange="document.title=[...this.files].map(f=>f.name+f.size).join()"></label>
<button onclick="f.click()">Choose</button><button>Nothing</button>"""
LISTS = """<title>Lists</title><select aria-label=One onchange="document.title=this.value"><option>Apple<option>Pear
<option disabled>Plum</select><select multiple aria-label=Many
onchange="document.title=[...this.selectedOptions].map(o=>o.text)"><option>Red<option>Green<option>Blue</select>
<button onmouseover="document.title='Hovered'">Menu</button>"""
EVIL = """<title>Evil</title><form><input name=matches><input name=querySelector><button>In the form</button></form>
<button onclick="for(let i=0;i<100;i++)window.open('/home')">Tabs</button><button
onclick="alert('gone?');window.close()">Close</button>
<button onclick="window.open('/alerts')">Alerts</button>
<script>onbeforeunload=(e)=>{e.preventDefault();return 'stay'}</script>"""
CONSOLE = """<title>Console</title><script>console.log('ready',7,{a:1});console.warn('careful');
console.error('broken');setTimeout(()=>{throw new Error('thrown')})</script>"""
PAGES = {
    "/home": "<title>Home</title><a href='/notes.html'>Notes</a>",
    "/notes.html": "<title>Notes</title>text of the notes",
    "/upload": UPLOAD,
    "/lists": LISTS,
    "/evil": EVIL,
    "/alerts": "<title>Alerts</title><script>alert('at once')</script><p>After it",
    "/console": CONSOLE,
    "/flood": "<title>Flood</title><script>const s='x'.repeat(1e6);for(let i=0;i<100;i++)console.log(s)</script>",
    "/giant": "<title>Giant</title><script>console.log('x'.repeat(6e7));console.log('small')</script>",
    "/frames": "<title>Frames</title><iframe srcdoc='<button>Inside</button>'></iframe>"
    "<iframe src='http://localhost:PORT/home'></iframe>",
}


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGES.get(self.path, "").replace("PORT", self.headers["Host"].rpartition(":")[2]).encode()
        self.send_response(404 if self.path == "/missing" else 302 if self.path == "/moved" else 200)
        if self.path == "/moved":
            self.send_header("Location", "/named")
        if self.path == "/named":
            body = b"content"
            self.send_header("Content-Disposition", 'attachment; filename="../../.bash\x7frc"')
        if self.path == "/endless":
            self.send_header("Content-Type", "application/octet-stream")
        else:
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(10 * 1024**3 if self.path == "/huge" else len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
            while self.path in ("/huge", "/endless"):
                self.wfile.write(b"x" * 65536)
        except OSError:
            return

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_browser(Pages, ROOM) as opened:
        yield opened


def number_of(output: str, title: str) -> int:
    line = next(line for line in output.splitlines() if line.startswith("[") and title in line)
    return int(line[1 : line.index("]")])


async def test_tabs_are_opened_listed_shown_and_closed(browser: Browser) -> None:
    await browser.open("/home")
    opened = await browser.call("tab_open", url=browser.site + "/lists")
    assert display_of(opened).title == "Lists"
    listed = await browser.call("tabs")
    lists, home = number_of(listed.output, "Lists"), number_of(listed.output, "Home")
    assert f"{browser.site}/lists (shown)" in listed.output

    assert display_of(await browser.call("tab_switch", tab=home)).title == "Home"
    assert display_of(await browser.call("view")).title == "Home"
    closed = await browser.call("tab_close", tab=lists)
    assert "Lists" not in closed.output
    again = await browser.call("tab_switch", tab=lists)
    assert not again.success
    assert f"There is no tab {lists}" in again.output


async def test_the_last_tab_is_closed_for_an_empty_one(browser: Browser) -> None:
    listed = await browser.call("tabs")
    for _ in range(listed.output.count("\n[") - 1):
        listed = await browser.call("tab_close", tab=number_of(listed.output, "["))
    closed = await browser.call("tab_close", tab=number_of(listed.output, "["))

    assert "about:blank" in closed.output
    assert (await browser.open("/home")).success


async def test_a_list_takes_what_it_has_and_says_what_it_has(browser: Browser) -> None:
    view = await browser.open("/lists")
    chosen = await browser.call("select", index=index_of(view, "One"), options=["pear"])
    assert display_of(chosen).title == "Pear"
    both = await browser.call("select", index=index_of(chosen, "Many"), options=["Red", "Blue"])
    assert display_of(both).title == "Red,Blue"

    refused = await browser.call("select", index=index_of(both, "One"), options=["Plum"])
    assert "has no option 'Plum' to choose. It has: 'Apple', 'Pear'" in refused.output
    assert "one option only" in (await browser.call("select", index=0, options=["Apple", "Pear"])).output
    assert "not a native list" in (await browser.call("select", index=index_of(both, "Menu"), options=["x"])).output


async def test_the_mouse_moves_over_an_element(browser: Browser) -> None:
    view = await browser.open("/lists")

    assert display_of(await browser.call("move", index=index_of(view, "Menu"))).title == "Hovered"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("1 + 1", "as number:\n2"),
        ("'text'", 'as string:\n"text"'),
        ("({a: [1, {b: null}], f() {}})", '{"a":[1,{"b":null}],"f":"[function f]"}'),
        ("const n = await Promise.resolve(5); n * 2", "as number:\n10"),
        ("undefined", "returned nothing"),
        ("const o = {}; o.self = o; o", "[seen above]"),
        ("10n ** 20n", "100000000000000000000n"),
        ("new Map([[1, 'a']])", '{"Map":[[1,"a"]]}'),
        ("document.querySelector('button')", "<button"),
    ],
)
async def test_what_a_script_returns_is_typed(browser: Browser, script: str, says: str) -> None:
    await browser.open("/lists")
    result = await browser.call("script", script=script)

    assert result.success
    assert says in result.output
    assert display_of(result).url == browser.site + "/lists"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("null.x", "TypeError"),
        ("throw {reason: 1}", "The script threw"),
        ("syntax error", "SyntaxError"),
        ("for(;;);", "did not end within 1 s"),
        ("new Promise(() => {})", "did not end within 1 s"),
        ("'x'.repeat(9e6)", "result is too large"),
    ],
)
async def test_a_script_that_fails_says_why_and_the_next_one_runs(browser: Browser, script: str, says: str) -> None:
    await browser.open("/home")
    result = await browser.call("script", script=script, timeout_s=1 if "did not end" in says else 10)
    assert not result.success
    assert says in result.output, result.output

    assert "as number:\n4" in (await browser.call("script", script="2 + 2")).output


async def test_a_long_result_is_cut(browser: Browser) -> None:
    await browser.open("/home")
    text = await browser.call("script", script="'x'.repeat(1e6)")
    assert len(text.output) < 25_000
    assert "the first 20000 of 1000002 characters" in text.output

    assert len((await browser.call("script", script="[...Array(1e6).keys()]")).output) < 25_000


async def test_a_script_may_leave_or_close_its_page(browser: Browser) -> None:
    await browser.open("/home")
    left = await browser.call("script", script="location.href = '/lists'; 1")
    assert left.success
    await browser.call("script", script="open('/home'); 1")
    closed = await browser.call("script", script="close(); new Promise(() => {})", timeout_s=3)
    assert "clos" in closed.output

    assert (await browser.open("/home")).success


async def test_the_console_is_read_by_level(browser: Browser) -> None:
    await browser.open("/console")
    every = await browser.call("console")
    assert "[log] ready 7 Object" in every.output
    assert "[warning] careful" in every.output
    assert "[exception] Error: thrown" in every.output

    errors = await browser.call("console", level="errors")
    assert "broken" in errors.output
    assert "careful" not in errors.output
    assert "The newest 1 of 4" in (await browser.call("console", limit=1)).output


@pytest.mark.parametrize("path", ["/flood", "/giant"])
async def test_a_flooded_console_is_bounded_and_the_browser_goes_on(browser: Browser, path: str) -> None:
    await browser.open(path)
    result = await browser.call("console")
    assert len(result.output) < 25_000

    assert (await browser.call("console")).success
    assert (await browser.open("/home")).success


async def test_a_file_goes_into_a_hidden_field_or_by_a_button(browser: Browser) -> None:
    (browser.settings.workspace / "a.txt").write_text("abc")
    view = await browser.open("/upload")
    direct = await browser.call("upload", index=index_of(view, "<input file>"), paths=["a.txt"])
    assert display_of(direct).title == "a.txt3"
    view = await browser.open("/upload")
    clicked = await browser.call("click", index=index_of(view, "Choose"))
    assert "browser_upload" in clicked.output
    button = await browser.call("upload", index=index_of(clicked, "Choose"), paths=["a.txt"])
    assert display_of(button).title == "a.txt3"

    none = await browser.call("upload", index=index_of(button, "Nothing"), paths=["a.txt"])
    assert "does not ask for a file" in none.output


@pytest.mark.parametrize("path", ["../etc/passwd", "/etc/passwd", "missing.txt", "link.txt", "folder"])
async def test_only_files_of_the_workspace_are_uploaded(browser: Browser, path: str) -> None:
    workspace = browser.settings.workspace
    (workspace / "folder").mkdir(exist_ok=True)
    (workspace / "link.txt").unlink(missing_ok=True)
    (workspace / "link.txt").symlink_to("/etc/passwd")
    view = await browser.open("/upload")
    result = await browser.call("upload", index=index_of(view, "<input file>"), paths=[path])

    assert not result.success
    assert display_of(await browser.call("view")).title == "Upload"


async def test_a_page_is_downloaded_as_a_file_and_never_replaces_one(browser: Browser) -> None:
    await browser.open("/home")
    first = await browser.call("download", url=browser.site + "/notes.html")
    assert first.output == f"Downloaded downloads/notes.html, {len(PAGES['/notes.html'])} bytes."
    assert first.changed_paths == ["downloads/notes.html"]
    assert isinstance(first.display, FileDisplay)
    view = await browser.call("view")
    assert display_of(view).title == "Home"
    second = await browser.call("download", index=index_of(view, "Notes"))

    assert "downloads/notes (2).html" in second.output
    assert (browser.settings.workspace / "downloads/notes (2).html").read_text() == PAGES["/notes.html"]


async def test_a_server_names_a_file_only_within_the_folder(browser: Browser) -> None:
    result = await browser.call("download", url=browser.site + "/moved")

    assert result.success
    path = result.changed_paths[0]
    assert path.startswith("downloads/")
    assert not path.removeprefix("downloads/").startswith(".")
    assert (browser.settings.workspace / path).read_text() == "content"


@pytest.mark.parametrize("path", ["/huge", "/endless"])
async def test_a_download_that_is_too_large_is_stopped(browser: Browser, path: str) -> None:
    result = await browser.call("download", url=browser.site + path)
    assert not result.success
    assert "is larger than the 4.8 MB that may be downloaded" in result.output
    incoming = browser.settings.workspace / "downloads" / ".incoming"
    # Chrome makes the folder when it writes, which it may not have come to.
    await until(lambda: not incoming.exists() or not list(incoming.iterdir()), 5)

    assert (await browser.open("/home")).success


async def test_what_can_not_be_downloaded_says_so(browser: Browser) -> None:
    assert "answered 404" in (await browser.call("download", url=browser.site + "/missing")).output
    view = await browser.open("/lists")
    assert "No download began" in (await browser.call("download", deadline_s=9, index=index_of(view, "Menu"))).output


async def test_a_page_opens_no_more_tabs_than_there_may_be(browser: Browser) -> None:
    view = await browser.open("/evil")
    await browser.call("script", script="for (let i = 0; i < 100; i++) open('/home'); 1")
    listed = await browser.call("tabs")
    assert 1 <= listed.output.count("\n[") <= 20

    restarted = await browser.call("restart")
    assert restarted.success
    assert "Evil" in restarted.output
    assert "[" in restarted.output
    assert view.success


async def test_beyond_twenty_tabs_none_is_opened_by_a_call_and_those_of_pages_are_closed(browser: Browser) -> None:
    await browser.open("/home")
    opened = await browser.call("tab_open")
    for _ in range(25):
        opened = await browser.call("tab_open") if opened.success else opened
    assert "20 tabs are open" in opened.output
    try:
        await browser.open("/home")
        # Longer than a window has until it counts as blocked.
        script = await browser.call("script", script="open('/lists'); await new Promise((r) => setTimeout(r, 1500)); 1")
        said = script.output + (await browser.call("view")).output
        assert "opened more tabs than the 20" in said
        listed = await browser.call("tabs")
        assert listed.output.count("\n[") == 20
        assert "/lists" not in said + listed.output
    finally:
        assert (await browser.call("restart")).success


async def test_dialogs_of_a_new_tab_and_of_leaving_hold_nothing_up(browser: Browser) -> None:
    view = await browser.open("/evil")
    alerts = await browser.call("click", index=index_of(view, "Alerts"))
    assert "at once" in alerts.output
    assert display_of(alerts).title == "Alerts"
    await browser.open("/evil")

    assert display_of(await browser.open("/home")).title == "Home"


async def test_a_form_whose_fields_are_named_as_methods_is_listed(browser: Browser) -> None:
    assert "In the form" in (await browser.open("/evil")).output


async def test_a_page_that_closes_itself_leaves_the_others(browser: Browser) -> None:
    await browser.open("/home")
    await browser.call("script", script="open('/evil'); 1")
    view = await browser.call("view")
    result = await browser.call("click", index=index_of(view, "Close"))

    assert result.success
    assert display_of(result).title == "Home"


async def test_frames_of_other_sites_are_named_as_not_listed(browser: Browser) -> None:
    await browser.open("/frames")
    async with asyncio.timeout(5):
        while "Frames of other sites, 1 here" not in (seen := await browser.call("view")).output:
            await asyncio.sleep(0.1)

    assert "Inside" in seen.output


async def test_a_hung_browser_is_started_anew_and_its_tabs_are_told(browser: Browser) -> None:
    view = await browser.open("/lists")
    await browser.call("script", script="setTimeout(() => { for(;;); }, 10); 1", timeout_s=1, deadline_s=6)
    result = await browser.call("restart")

    assert result.success
    assert "Lists" in result.output
    assert view.success
    assert display_of(await browser.open("/home")).title == "Home"
