"""Books, mails, notebooks and Rich Text are read as text, and say what is left out."""

from __future__ import annotations

import json
from email.message import EmailMessage

import pytest

from support.document_text import Parts, lines_of, text_of
from support.documents import zipped
from tool_api.documents.formats import epub, mail, notebook, old_office, rtf
from tool_api.documents.parts import RefusedDocumentError

CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>'


def book(parts: Parts | None = None) -> bytes:
    items = "".join(
        f'<item id="{name}" href="{name}%20x.xhtml" media-type="application/xhtml+xml"/>' for name in ("b", "a", "gone")
    )
    order = '<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="gone"/><itemref idref="none"/></spine>'
    opf = (
        f'<package xmlns:dc="d"><metadata><dc:title>比较</dc:title></metadata><manifest>{items}</manifest>'
        f"{order}</package>"
    )
    page = (
        '<?xml version="1.0"?><!DOCTYPE html><html><head><title>t</title></head><body><h1>{}</h1><p>so</p>'
        "</body></html>"
    )
    made: dict[str, str | bytes | None] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/content.opf": opf,
        "OEBPS/a x.xhtml": page.format("One"),
        "OEBPS/b x.xhtml": page.format("Two"),
        **(parts or {}),
    }
    return zipped({name: content for name, content in made.items() if content is not None})


WHOLE_BOOK = [
    "[book, 3 chapters: 比较]",
    "--- chapter 1 of 3 ---",
    "# One",
    "",
    "so",
    "--- chapter 2 of 3 ---",
    "# Two",
    "",
    "so",
    "--- chapter 3 of 3 ---",
    "[chapter 3 could not be read: it is missing from the file]",
]


def test_a_book_is_read_chapter_by_chapter() -> None:
    assert lines_of(epub.open_document(book())) == WHOLE_BOOK
    assert lines_of(epub.open_document(book(parts={"META-INF/container.xml": None}))) == WHOLE_BOOK


def test_an_encrypted_chapter_is_named() -> None:
    locked = '<encryption><EncryptedData><CipherReference URI="OEBPS/a%20x.xhtml"/></EncryptedData></encryption>'
    said = lines_of(epub.open_document(book(parts={"META-INF/encryption.xml": locked})))
    assert said[2] == "[chapter 1 could not be read: it is encrypted]"
    assert "# Two" in said


def test_a_book_without_chapters_is_refused() -> None:
    for parts in ({"OEBPS/content.opf": "<package/>"}, {"OEBPS/content.opf": "no xml"}, {"OEBPS/content.opf": None}):
        with pytest.raises(RefusedDocumentError, match="chapters"):
            epub.open_document(book(parts=parts))


def message(*, text: str | None = "Grüße, 你好", page: str | None = "<p>Hello <b>you</b>") -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Ädä <a@x.org>", "b@x.org", "比较"
    if text is not None:
        made.set_content(text)
    if page is not None and text is not None:
        made.add_alternative(page, subtype="html")
    elif page is not None:
        made.set_content(page, subtype="html")
    return made


def test_a_mail_has_its_headers_text_and_the_names_of_what_is_attached() -> None:
    made = message(text="Grüße an alle, die das lesen, 你好")
    made.add_attachment(b"a,b", maintype="text", subtype="csv", filename="数.csv")
    made.add_attachment(message())
    assert lines_of(mail.open_document(made.as_bytes())) == [
        "[mail]",
        "From: Ädä <a@x.org>",
        "To: b@x.org",
        "Subject: 比较",
        "",
        "Grüße an alle, die das lesen, 你好",
        "",
        "[not read: 2 attached files]",
        "- 数.csv (text/csv, 3 bytes)",
        "- 比较 (a mail)",
    ]


def test_the_page_of_a_mail_is_read_where_there_is_no_other_text() -> None:
    assert "Hello **you**" in text_of(mail.open_document(message(text=None).as_bytes()))
    assert "Hello **you**" in text_of(mail.open_document(message(text=" ").as_bytes()))


ODD_MAILS = {
    "unknown encoding": b"From: a\nContent-Type: text/plain; charset=x-none\n\nso",
    "wrong encoding": b"From: a\nContent-Type: text/plain; charset=utf-8\n\nso \xe9",
    "chinese": "From: a\nContent-Type: text/plain; charset=gb2312\n\nso 你好".encode("gb18030"),
    "broken base64": b"From: a\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\nc28",
    "no boundary": b"From: a\nContent-Type: multipart/mixed\n\nso",
    "unclosed": b"From: a\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nso",
    "odd header": b"From: =?x-none?Q?=FF?=\nDate: never\nTo: <<>>,,\nContent-Type: /;;\n\nso",
    "of a mailbox": b"From a@x Thu Jan  1 00:00:00 2026\nFrom: a\n\nso",
}


@pytest.mark.parametrize("content", ODD_MAILS.values(), ids=ODD_MAILS)
def test_an_odd_mail_is_read(content: bytes) -> None:
    said = text_of(mail.open_document(content))
    assert said.startswith("[mail]\nFrom: ")
    assert "so" in said


def mail_in(charset: str, body: bytes) -> str:
    head = f"From: a\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    return text_of(mail.open_document(head.encode() + body))


@pytest.mark.parametrize(
    ("charset", "codec", "text"),
    [
        ("x-sjis", "cp932", "こんにちは①"),
        ("x-euc-jp", "euc_jp", "こんにちは"),
        ("windows-874", "cp874", "สวัสดี"),
        ("iso-8859-8-i", "iso8859_8", "שלום"),
        ("cp-1251", "cp1251", "Привет"),
        ("x-cp1251", "cp1251", "Привет"),
        ("x-mac-cyrillic", "mac_cyrillic", "Привет"),
        ("x-gbk", "gbk", "你好"),
        ("gb2312", "gb18030", "你好镕"),
        ("iso-8859-1", "cp1252", "“so” – 5 €"),
        ("us-ascii", "utf-8", "你好"),
        ("x-none", "gb18030", "我们明天下午三点在会议室开会，请准时参加。" * 3),
        ("base64", "utf-8", "你好"),
    ],
)
def test_a_mail_is_read_in_the_encoding_that_other_programs_know_by_its_name(
    charset: str, codec: str, text: str
) -> None:
    assert mail_in(charset, text.encode(codec)).endswith(f"\n{text}")


def test_a_damaged_byte_makes_no_other_encoding_of_a_mail() -> None:
    text = "我们明天下午三点在会议室开会。" * 10
    assert text in mail_in("gbk", text.encode("gbk") + b"\xff!")


@pytest.mark.parametrize(
    ("charset", "codec"), [("gbk", "gbk"), ("x-sjis", "cp932"), ("utf-8", "utf-8"), ("us-ascii", "utf-8")]
)
def test_bytes_in_a_header_are_read(charset: str, codec: str) -> None:
    head = f"From: 山田 <a@x>\nSubject: 会議\n 山田\nContent-Type: text/plain; charset={charset}\n\nso"
    said = text_of(mail.open_document(head.encode(codec)))
    assert said.startswith("[mail]\nFrom: 山田 <a@x>\nSubject: 会議 山田\n")


def test_bytes_in_a_header_are_judged_where_no_encoding_is_named() -> None:
    subject = "关于明天下午三点在会议室开会的通知"
    assert f"Subject: {subject}" in text_of(mail.open_document(f"From: a\nSubject: {subject}\n\nso".encode("gbk")))


def test_a_mark_before_the_headers_is_no_part_of_them() -> None:
    assert text_of(mail.open_document(b"\xef\xbb\xbfFrom: a\nSubject: b\n\nso")) == "[mail]\nFrom: a\nSubject: b\n\nso"


def test_what_is_no_mail_is_refused() -> None:
    with pytest.raises(RefusedDocumentError, match="not an e-mail"):
        mail.open_document(b"")


def test_rich_text_is_read_and_its_pictures_counted() -> None:
    source = (
        rb"{\rtf1\ansi\ansicpg1252 {\fonttbl{\f0 Arial;}}\f0 caf\'e9 \b bold\b0\par \u27604? {\pict\pngblip 0011}\par}"
    )
    said = lines_of(rtf.open_document(source))
    assert said[:2] == ["[Rich Text document]", "café bold"]
    assert "比" in said[2]
    assert said[-1] == "[not read: 1 picture]"


@pytest.mark.parametrize("source", [rb"{\rtf1", rb"{\rtf1 so}}}}", rb"{\rtf1\ansicpg99999 so\'zz}", rb"{\rtf1\u so}"])
def test_broken_rich_text_is_read_as_far_as_it_goes(source: bytes) -> None:
    assert text_of(rtf.open_document(source)).startswith("[Rich Text document]")


def test_the_cells_of_a_notebook_are_read_with_what_they_printed() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "so"]},
        {
            "cell_type": "code",
            "source": "1 + 1",
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31mred\x1b[0m\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "2"}},
                {"output_type": "display_data", "data": {"image/png": "iVBOR", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no"},
                "odd",
            ],
        },
        7,
    ]
    assert lines_of(notebook.open_document(json.dumps({"cells": cells}).encode())) == [
        "[notebook, 3 cells]",
        "--- cell 1: markdown ---",
        "# Title",
        "so",
        "--- cell 2: code ---",
        "1 + 1",
        "[output]",
        "red",
        "[output]",
        "2",
        "[output]",
        "<Figure>",
        "[output]",
        "ValueError: no",
        "[cell 3 could not be read]",
        "[not read: 1 picture]",
    ]


def test_the_cells_of_an_old_notebook_are_read_from_its_worksheets() -> None:
    outputs = [
        {"output_type": "stream", "stream": "stdout", "text": ["1\n"]},
        {"output_type": "pyout", "text": "2", "png": "iVBOR"},
        {"output_type": "pyerr", "ename": "ValueError", "evalue": "no"},
    ]
    code = {"cell_type": "code", "input": ["print(1)\n", "2"], "outputs": outputs}
    sheets = [{"cells": [code]}, {"cells": [{"cell_type": "heading", "level": 2, "source": ["H"]}]}, 7]
    assert lines_of(notebook.open_document(json.dumps({"nbformat": 3, "worksheets": sheets}).encode())) == [
        "[notebook, 2 cells]",
        "--- cell 1: code ---",
        "print(1)",
        "2",
        "[output]",
        "1",
        "[output]",
        "2",
        "[output]",
        "ValueError: no",
        "--- cell 2: heading ---",
        "H",
        "[not read: 1 picture]",
    ]


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"worksheets": []}'])
def test_what_is_no_notebook_is_refused_with_what_to_do(content: bytes) -> None:
    with pytest.raises(RefusedDocumentError, match="without as_text"):
        notebook.open_document(content)


OLD = {
    "WordDocument": "convert-to docx",
    "Workbook": "convert-to xlsx",
    "PowerPoint Document": "convert-to pptx",
    "EncryptedPackage": "without a password",
    "__properties_version1.0": r"as \.eml",
    "Something": "as PDF",
}


@pytest.mark.parametrize("name", OLD)
def test_an_old_document_is_told_by_what_it_has_in_it(name: str) -> None:
    directory = f"{name}\0".encode("utf-16-le").ljust(64, b"\0")
    with pytest.raises(RefusedDocumentError, match=OLD[name]):
        old_office.open_document(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0") + directory)
