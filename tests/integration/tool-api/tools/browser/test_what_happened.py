"""What an action in the browser did is looked at afterwards and told as it is, with the real Chrome."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import pytest_asyncio

from contracts.tools import ToolResult
from support.browsers import Browser, display_of, index_of, open_browser, until

pytestmark = [pytest.mark.thorough, pytest.mark.asyncio(loop_scope="module")]

DIALOGS = """<title>Dialogs</title>
<button onclick="document.title = confirm('Delete all?') ? 'Deleted' : 'Kept'">Delete</button>
<button onclick="document.title = 'Name ' + prompt('Your name?', 'nobody')">Name</button>
<button onclick="alert('First'); document.title = confirm('Second?')">Two</button>
<select aria-label=Plan onchange="document.title = confirm('Change plan?')"><option>Free<option>Paid</select>
<input aria-label=Search onkeydown="if (event.key === 'Enter') document.title = confirm('Search?')">"""
PRINT = """<title>Print</title><button onclick="print(); document.title = 'Printed'">Print</button>
<button onclick="w = window.open(''); w.document.write('<title>Receipt</title>paid'); w.print()">Receipt</button>"""
LINKS = """<title>Links</title><a href=/report target=_blank>Report</a><a href=/report>Report here</a>
<a href=/slow-report target=_blank>Late report</a><a href=/endless target=_blank>Endless</a>
<a href=/broken>Broken</a><a href=/other target=_blank>Other</a><a href="#part">Part</a>
<button onclick="const w = window.open('/other'); setTimeout(() => w.close(), 50)">Flash</button>
<button>Nothing</button><button onclick="document.getElementById('p').textContent = 'changed'">Change</button>
<button onclick="history.pushState(null, '', '/pushed')">Push</button>
<button onclick="location.reload()">Reload</button><p id=p>text</p>"""
FIELDS = """<title>Fields</title><label>Code <input maxlength=4></label><label>Count <input type=number></label>
<label>Day <input type=date></label><label>Fixed <input readonly value=x></label>
<fieldset disabled><label>Off <input></label></fieldset><label>Agree <input type=checkbox></label>
<label>Card <input oninput="this.value = this.value.replace(/\\D/g, '')"></label>
<label>Secret <input type=password maxlength=5></label><label>Note <textarea></textarea></label>
<div contenteditable role=textbox aria-label=Page></div>
<div contenteditable role=textbox aria-label=Closed onbeforeinput="event.preventDefault()"></div>
<select aria-label=Stubborn onchange="this.selectedIndex = 0"><option>One<option>Two</select>"""
COVERED = """<title>Covered</title><button onclick="document.title = 'Bought'">Buy</button>
<label><input type=checkbox style="opacity: 0; position: absolute"><span>Agree here</span></label>
<div id=o aria-label="Cookie notice" style="position: fixed; inset: 0 0 300px 0; background: white; z-index: 9">
<button style="position: absolute; bottom: 0" onclick="o.remove()">Accept cookies</button></div>"""
LEAVE = """<title>Leave</title><input aria-label=Text oninput="onbeforeunload = (e) => e.preventDefault()">"""
LATE = """<title>Late</title><button onclick="setTimeout(() => { document.title = confirm('Still there?') }, 300)">Soon
</button><button onclick="setTimeout(() => window.open('/other'), 6000)">Pop up late</button>"""
FRAME = "<title>Frame</title><iframe src=/inner></iframe><button>Outer</button>"
INNER = "<title>Inner</title><a href=/slow-other>Onwards</a>"
FORM = """<title>Form</title><form action=/other><label>Mail <input type=email required name=m></label>
<label>Age <input type=number min=18 value=3></label><button>Send</button></form>
<form action=/other><label>Own <input required oninvalid="event.preventDefault()"></label><button>Own way</button>
</form>"""
DEAD = "<title>Dead</title><a href='http://127.0.0.1:1/gone'>Dead end</a><a href=/inline-pdf>Paper</a>"
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj
trailer<</Root 1 0 R>>"""
PAGES = {
    "/frame": FRAME,
    "/frames": "<title>Frames</title>" + "<iframe srcdoc='<p>Inner'></iframe>" * 12,
    "/inner": INNER,
    "/form": FORM,
    "/dead": DEAD,
    "/slow-other": "<title>Other</title>another page",
    "/dialogs": DIALOGS,
    "/print": PRINT,
    "/links": LINKS,
    "/fields": FIELDS,
    "/covered": COVERED,
    "/leave": LEAVE,
    "/late": LATE,
    "/other": "<title>Other</title>another page",
}
REPORT = b"r" * 2000


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path in ("/slow-report", "/slow-other"):
            time.sleep(1)  # a server that takes its time
        is_file = self.path in ("/report", "/slow-report", "/endless", "/broken")
        if self.path == "/inline-pdf":
            self.send_response(200)
            self.send_header("Content-Type", "application/pdf")
            self.end_headers()
            self.wfile.write(PDF)
            return
        body = REPORT if is_file else PAGES.get(self.path, "<title>Nothing</title>").encode()
        self.send_response(200)
        if is_file:
            self.send_header("Content-Disposition", 'attachment; filename="report.pdf"')
            self.send_header("Content-Length", str(5000 if self.path in ("/endless", "/broken") else len(body)))
        self.send_header("Content-Type", "application/pdf" if is_file else "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)
        if self.path == "/endless":
            self.rfile.read(1)  # until the browser lets go

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_browser(Pages) as opened:
        yield opened


async def clicked(browser: Browser, path: str, label: str, **arguments: Any) -> ToolResult:
    return await browser.call("click", index=index_of(await browser.open(path), label), **arguments)


@pytest.mark.parametrize(
    ("arguments", "title", "says"),
    [
        ({}, "Kept", "a confirm dialog, which was dismissed: Delete all?"),
        ({"dialog": "dismiss"}, "Kept", "which was dismissed: Delete all?"),
        ({"dialog": "accept"}, "Deleted", "which was accepted: Delete all?"),
    ],
)
async def test_a_question_is_answered_as_the_call_says(
    browser: Browser, arguments: dict[str, Any], title: str, says: str
) -> None:
    result = await clicked(browser, "/dialogs", "Delete", **arguments)
    assert says in result.output
    assert ("dialog=accept" in result.output) is not bool(arguments)
    assert display_of(result).title == title


@pytest.mark.parametrize(
    ("arguments", "title", "says"),
    [
        ({}, "Name null", "which was dismissed: Your name?"),
        ({"prompt_text": "Ann"}, "Name Ann", "which was accepted with the text 'Ann': Your name?"),
        ({"dialog": "accept"}, "Name nobody", "which was accepted with the text 'nobody': Your name?"),
        ({"dialog": "dismiss", "prompt_text": "Ann"}, "Name null", "which was dismissed: Your name?"),
    ],
)
async def test_a_prompt_is_given_a_text(browser: Browser, arguments: dict[str, Any], title: str, says: str) -> None:
    result = await clicked(browser, "/dialogs", "Name", **arguments)
    assert says in result.output
    assert display_of(result).title == title


async def test_dialogs_one_after_the_other_are_all_told(browser: Browser) -> None:
    result = await clicked(browser, "/dialogs", "Two", dialog="accept")
    assert "alert dialog, which was accepted: First" in result.output
    assert "confirm dialog, which was accepted: Second?" in result.output
    assert display_of(result).title == "true"


async def test_dialogs_of_lists_keys_and_scripts_are_answered_too(browser: Browser) -> None:
    view = await browser.open("/dialogs")
    chosen = await browser.call("select", index=index_of(view, "Plan"), options=["Paid"], dialog="accept")
    assert display_of(chosen).title == "true"
    typed = await browser.call("type", index=index_of(chosen, "Search"), text="x", submit=True)
    assert display_of(typed).title == "false"
    assert "which was dismissed: Search?" in typed.output
    pressed = await browser.call("key", key="Enter", dialog="accept")
    assert display_of(pressed).title == "true"
    script = await browser.call("script", script="prompt('Sure?')", prompt_text="yes")
    assert 'as string:\n"yes"' in script.output


async def test_leaving_a_page_is_accepted_unless_the_call_says_otherwise(browser: Browser) -> None:
    view = await browser.open("/leave")
    await browser.call("type", index=index_of(view, "Text"), text="draft")
    stayed = await browser.call("navigate", url=f"{browser.site}/other", dialog="dismiss")
    assert not stayed.success
    assert "beforeunload dialog, which was dismissed" in stayed.output
    assert display_of(await browser.call("view")).title == "Leave"
    left = await browser.open("/other")
    assert "beforeunload dialog, which was accepted" in left.output
    assert display_of(left).title == "Other"


async def test_a_dialog_that_comes_later_is_told_with_the_next_call(browser: Browser) -> None:
    seen = await clicked(browser, "/late", "Soon")
    async with asyncio.timeout(10):
        # On a busy machine it is there before the click has ended.
        while "Still there?" not in seen.output:
            seen = await browser.call("view")
    assert "confirm dialog, which was dismissed: Still there?" in seen.output
    assert display_of(await browser.call("view")).title == "false"


async def test_a_dialog_of_a_person_is_theirs_until_a_call_needs_the_page(browser: Browser) -> None:
    await browser.open("/late")
    browser.has_person = True
    try:
        await browser.call("script", script="setTimeout(() => { document.title = confirm('Person?') }, 1500); 1")
        await until(lambda: browser.tabs.dialogs.left, 10)
        browser.has_person = False
        assert browser.tabs.dialogs.left
        seen = await browser.call("click", x=5, y=300, dialog="accept")
    finally:
        browser.has_person = False
    assert "confirm dialog, which was accepted: Person?" in seen.output
    assert display_of(seen).title == "true"


async def test_what_a_person_answered_is_told_as_theirs(browser: Browser) -> None:
    await browser.open("/late")
    browser.has_person = True
    try:
        await browser.call("script", script="setTimeout(() => { document.title = confirm('Theirs?') }, 1500); 1")
        await until(lambda: browser.tabs.dialogs.left, 10)
        await browser.tabs.dialogs.left[0].tab.answer_dialog(accept=True)
        await until(lambda: not browser.tabs.dialogs.left, 10)
    finally:
        browser.has_person = False
    seen = await browser.call("view")
    assert "confirm dialog, which a person accepted: Theirs?" in seen.output
    assert display_of(seen).title == "true"


async def test_a_print_window_is_closed_and_told(browser: Browser) -> None:
    result = await clicked(browser, "/print", "Print")
    assert result.success
    assert "The page asked to print. The print window was closed" in result.output
    assert display_of(result).title == "Printed"
    receipt = await clicked(browser, "/print", "Receipt")
    assert "asked to print" in receipt.output
    assert display_of(receipt).title == "Receipt"


async def test_a_download_that_opens_a_tab_is_told_with_its_own_click(browser: Browser) -> None:
    first = await clicked(browser, "/links", "Report")
    assert first.success
    (path,) = first.changed_paths
    assert f"Downloaded {path}, {len(REPORT):,} bytes." in first.output
    assert "new tab" not in first.output
    assert display_of(first).title == "Links"
    assert (browser.settings.workspace / path).read_bytes() == REPORT

    again = await clicked(browser, "/links", "Report here")
    late = await clicked(browser, "/links", "Late report")
    assert len({path, *again.changed_paths, *late.changed_paths}) == 3
    for result in (again, late):
        assert f"Downloaded {result.changed_paths[0]}, {len(REPORT):,} bytes." in result.output


async def test_a_download_under_way_and_one_that_breaks_off_are_told(browser: Browser) -> None:
    under_way = await clicked(browser, "/links", "Endless")
    assert "report.pdf is being downloaded, 2,000 bytes by now of 5,000" in under_way.output
    restarted = await browser.call("restart")
    told = restarted.output + (await browser.call("view")).output
    assert "The download of report.pdf was canceled, or broke off" in told
    broken = await clicked(browser, "/links", "Broken")
    told = broken.output + (await browser.call("view")).output
    assert "The download of report.pdf was canceled, or broke off" in told


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("Nothing", "Nothing changed in the elements of the page."),
        ("Push", "The address of the page is {site}/pushed now."),
        ("Reload", "The page was reloaded."),
        ("Part", "The address of the page is {site}/links#part now."),
        ("Other", "A new tab was opened and is shown now."),
        ("Flash", "A new tab was opened, and is closed again."),
    ],
)
async def test_what_came_of_a_click_is_told(browser: Browser, label: str, says: str) -> None:
    result = await clicked(browser, "/links", label)
    assert result.success
    assert says.format(site=browser.site) in result.output


async def test_a_change_of_the_page_is_not_told_as_none(browser: Browser) -> None:
    result = await clicked(browser, "/links", "Change")
    assert "Nothing changed" not in result.output
    opened = await clicked(browser, "/links", "Report here", button="middle")
    assert "Nothing changed" not in opened.output
    scrolled = await browser.call("scroll", direction="up")
    assert "Nothing was scrolled" in scrolled.output


@pytest.mark.parametrize(
    ("label", "text", "says"),
    [
        ("Code", "abcdef", "the field has 'abcd' now. It takes 4 characters at most."),
        ("Count", "many", "accepted none of the text: it is empty now. It takes a number."),
        ("Count", "12", "Typed.\n"),
        ("Day", "2026-02-28", "Set it to '2026-02-28'."),
        ("Day", "28 Feb", "takes a date such as 2026-01-31. It was given '28 Feb'"),
        ("Fixed", "y", "can only be read"),
        ("Off", "y", "is disabled"),
        ("Agree", "y", "is a field of the type checkbox, which takes no text: click it"),
        ("Card", "12 34", "the field has '1234' now."),
        ("Secret", "secret", "the field has 5 characters now, and not 6. It takes 5 characters at most."),
        ("Note", "one\ntwo", "Typed.\n"),
        ("Page", "one two", "Typed.\n"),
        ("Closed", "one", "accepted none of the text"),
    ],
)
async def test_what_a_field_made_of_a_text_is_told(browser: Browser, label: str, text: str, says: str) -> None:
    view = await browser.open("/fields")
    result = await browser.call("type", index=index_of(view, label), text=text)
    assert says in f"{result.output}\n"
    assert result.success is (says.startswith(("Typed", "Set it", "the field has")))


async def test_a_list_whose_choice_the_page_takes_back_is_told(browser: Browser) -> None:
    view = await browser.open("/fields")
    result = await browser.call("select", index=index_of(view, "Stubborn"), options=["Two"])
    assert "Chose 'Two', but the page has changed that: 'One' is chosen now." in result.output


async def test_what_covers_an_element_is_named_and_not_pressed(browser: Browser) -> None:
    view = await browser.open("/covered")
    refused = await browser.call("click", index=index_of(view, "Buy"))
    assert not refused.success
    assert "is covered by <div> Cookie notice" in refused.output
    accepted = await browser.call("click", index=index_of(view, "Accept cookies"))
    assert accepted.success
    bought = await browser.call("click", index=index_of(accepted, "Buy"))
    assert display_of(bought).title == "Bought"
    agreed = await browser.call("click", index=index_of(bought, "<input checkbox>"))
    assert "(checked)" in agreed.output


async def test_a_window_that_the_browser_blocks_is_told(browser: Browser) -> None:
    await clicked(browser, "/late", "Pop up late")
    async with asyncio.timeout(15):
        while "browser blocked" not in (seen := await browser.call("view")).output:
            await asyncio.sleep(0.2)
    assert f"wanted to open a window, which the browser blocked: {browser.site}/other" in seen.output


async def test_a_frame_that_shows_another_page_is_told(browser: Browser) -> None:
    result = await clicked(browser, "/frame", "Onwards")
    assert f"A frame of the page shows {browser.site}/slow-other now." in result.output
    result = await browser.call("click", index=index_of(result, "Outer"))
    assert "Nothing changed" in result.output


async def test_a_page_whose_process_numbers_its_contexts_anew_is_read(browser: Browser) -> None:
    elsewhere = browser.site.replace("127.0.0.1", "localhost")
    for _ in range(3):
        await browser.open("/other")
        # Its frames have contexts whose numbers are those of the page before.
        result = await browser.call("navigate", url=f"{elsewhere}/frames")
        assert result.success, result.output
        assert f"{elsewhere}/frames" in result.output


async def test_a_form_that_is_not_sent_is_told_with_what_its_fields_lack(browser: Browser) -> None:
    result = await clicked(browser, "/form", "Send")
    assert "The form was not sent, as the browser does not take what is in it. Mail: " in result.output
    assert "; Age: " in result.output
    result = await clicked(browser, "/form", "Own way")
    assert "was not sent" not in result.output
    await browser.call("type", index=index_of(result, "Age"), text="20")
    result = await browser.call("type", index=index_of(result, "Mail"), text="nobody", submit=True)
    assert "what is in it. Mail: " in result.output
    assert "Age: " not in result.output


async def test_a_pdf_in_the_tab_is_told_with_how_it_is_read(browser: Browser) -> None:
    for result in (await clicked(browser, "/dead", "Paper"), await browser.call("view")):
        assert "This is a PDF" in result.output
        assert "browser_download" in result.output


async def test_why_a_page_that_a_click_leads_to_could_not_be_opened_is_told(browser: Browser) -> None:
    result = await clicked(browser, "/dead", "Dead end")
    said = "http://127.0.0.1:1/gone could not be opened: "
    assert said in result.output
