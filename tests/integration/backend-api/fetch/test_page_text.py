"""Pages as they are read: real HTML by the real program, text as it is."""

from __future__ import annotations

import asyncio

import pytest

from backend_api.kit.untrusted.guarded_client import Fetched
from backend_api.kit.untrusted.resolver import lookups_of
from backend_api.web.fetch.page_text import PageReader, PageText, UnreadableError

PAGE = """<!doctype html><html><head><title>Otters &amp;
 rivers</title><base href="/wiki/"><style>p{}</style><script>alert("<p>evil</p>")</script></head><body>
<nav><a href="/all">All pages</a></nav><form><h1>Otters</h1>
<p>They <b>swim</b> in <a href="rivers?a=1&amp;b=2">rivers</a>, and this paragraph is long enough to be worth reading by
itself, so that nothing of what leads around the site has to be looked at to say what the page is about at all.</p>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2|3</td></tr></table>
<pre><code class="language-py">x = 1
  y</code></pre><img src="data:image/png;base64,AAAA" alt="an otter">
<p style="display:none">hidden</p></form></body></html>"""


def fetched(content: bytes | str, media_type: str = "text/html", charset: str = "") -> Fetched:
    body = content.encode() if isinstance(content, str) else content
    return Fetched(url="https://page.example/x/y", status=200, media_type=media_type, charset=charset, content=body)


async def read(content: bytes | str, media_type: str = "text/html", charset: str = "") -> PageText:
    return await PageReader().read(fetched(content, media_type, charset))


async def test_a_page_is_markdown_with_its_title_and_whole_addresses() -> None:
    page = await read(PAGE)
    assert (page.title, page.is_markdown, page.length) == ("Otters & rivers", True, len(page.text))
    for part in (
        *("# Otters", "**swim**", "[rivers](https://page.example/wiki/rivers?a=1&b=2)", "| 1 | 2\\|3 |"),
        *("```py\nx = 1\n  y\n```", "an otter"),
    ):
        assert part in page.text
    for part in ("evil", "p{}", "hidden", "AAAA", "All pages", "title:"):
        assert part not in page.text


async def test_a_page_of_nothing_but_links_is_read_whole() -> None:
    page = await read("<html><body><nav><a href=/a>First</a></nav></body></html>")
    assert page.text == "[First](https://page.example/a)"


@pytest.mark.parametrize(
    ("media_type", "content"),
    [
        *(("text/plain", "<b>as it is</b>"), ("application/json", '{"a": 1}'), ("application/ld+json", "[]")),
        *(("text/markdown", "# A"), ("application/rss+xml", "<rss/>"), ("text/csv", "a,b"), ("", "just text")),
    ],
)
async def test_text_and_json_are_left_as_they_are(media_type: str, content: str) -> None:
    page = await read(content, media_type)
    assert (page.text, page.title, page.is_markdown) == (content, "", False)


async def test_a_page_whose_server_does_not_say_so_is_one() -> None:
    assert (await read("\n <!DOCTYPE HTML><title>T</title><p>x", "")).title == "T"


@pytest.mark.parametrize("media_type", ["application/pdf", "image/png", "application/octet-stream", "x" * 9_000])
async def test_what_is_no_text_is_told_with_its_kind(media_type: str) -> None:
    with pytest.raises(UnreadableError) as told:
        await read(b"%PDF", media_type)
    assert media_type[:80] in str(told.value)
    assert len(str(told.value)) < 200


async def test_bytes_of_no_kind_are_no_text() -> None:
    with pytest.raises(UnreadableError):
        await read(b"\x7fELF\0\0", "")


@pytest.mark.parametrize(
    ("content", "charset"),
    [
        *(("grüße".encode("latin-1"), "iso-8859-1"), ("你好".encode("gb18030"), "gb2312"), ("你好".encode(), "")),
        *(('<meta charset="gbk"><p>你好'.encode("gbk"), ""), ("こんにちは".encode("shift_jis"), "Shift_JIS")),
        *(
            ("你好".encode(), "no-such"),
            ("你好".encode(), "hex"),
            ("你好".encode(), "idna"),
            (b"\xef\xbb\xbfgr", "utf-8"),
        ),
    ],
)
async def test_characters_are_read_by_what_server_or_page_say(content: bytes, charset: str) -> None:
    text = (await read(content, "text/html" if content.startswith(b"<") else "text/plain", charset)).text
    assert any(word in text for word in ("grüße", "你好", "こんにちは", "gr"))
    assert not any(wrong in text for wrong in ("\ufffd", "\ufeff", "\0"))


@pytest.mark.parametrize("encoding", ["gb18030", "cp1251", "utf-8"])
async def test_characters_nobody_says_anything_of_are_recognised(encoding: str) -> None:
    text = "Отчёт за первый квартал" if encoding == "cp1251" else "编号,名称,北京市海淀区的工程师"
    assert (await read(text.encode(encoding), "text/csv")).text == text


async def test_a_text_cut_in_the_middle_of_a_character_stays_what_it_is() -> None:
    assert (await read("名称,编号".encode()[:-1], "text/csv")).text == "名称,编\ufffd"


async def test_who_reads_much_that_takes_long_leaves_others_their_reading() -> None:
    reader = PageReader()
    with lookups_of("anna"):
        much = [asyncio.create_task(reader.read(fetched("<blockquote>" * 200_000))) for _ in range(6)]
    await asyncio.sleep(0)
    with lookups_of("ben"):
        quick = await reader.read(fetched("<p>Quick."))
    ended = sum(one.done() for one in much)
    for one in much:
        one.cancel()
    await asyncio.gather(*much, return_exceptions=True)
    assert quick.text == "Quick."
    assert ended == 0
