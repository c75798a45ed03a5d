"""What bytes are served as, whatever they are called."""

from __future__ import annotations

import pytest

from backend_api.kit.http.content_origin import is_content_origin
from backend_api.sandboxes.domain.content import HEAD_BYTES, OPAQUE, PDF, TEXT, active_type, image_type, inert_type
from backend_api.sandboxes.http.user_content import content_headers

OFFICE = "application/vnd.openxmlformats-officedocument"
PNG = b"\x89PNG\r\n\x1a\n..."


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.png", PNG, "image/png"),
        ("a.js", PNG, "image/png"),
        ("a.jpg", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("a.gif", b"GIF89a/*", "image/gif"),
        ("a.webp", b"RIFF\1\2\3\4WEBPVP8 ", "image/webp"),
        ("a.avif", b"\0\0\0\x20ftypavif", "image/avif"),
        ("a.bmp", b"BM\0\0", "image/bmp"),
        ("a.js", b"BM=1", TEXT),
        ("a.ico", b"\0\0\1\0", "image/x-icon"),
        ("a.wasm", b"\0asm\1\0\0\0", OPAQUE),
        ("a.mp4", b"\0\0\0\x20ftypisom", "video/mp4"),
        ("a.m4a", b"\0\0\0\x20ftypM4A ", "audio/mp4"),
        ("a.what", b"\0\0\0\x20ftypwhat", OPAQUE),
        ("a.webm", b"\x1a\x45\xdf\xa3", "video/webm"),
        ("a.wav", b"RIFF\1\2\3\4WAVEfmt ", "audio/wav"),
        ("a.mp3", b"ID3\4", "audio/mpeg"),
        ("a.txt", b"ID3 is a tag", TEXT),
        ("a.pdf", b"%PDF-1.7", PDF),
        ("a.zip", b"PK\3\4", "application/zip"),
        ("a.docx", b"PK\3\4\0", f"{OFFICE}.wordprocessingml.document"),
        ("a.XLSX", b"PK\3\4\0", f"{OFFICE}.spreadsheetml.sheet"),
        ("a.pptx", b"PK\3\4\0", f"{OFFICE}.presentationml.presentation"),
        ("a.odt", b"PK\3\4\0", "application/vnd.oasis.opendocument.text"),
        ("a.epub", b"PK\3\4\0", "application/epub+zip"),
        ("a.jar", b"PK\3\4\0", OPAQUE),
        ("a.docx", b"no archive", TEXT),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "application/vnd.ms-excel"),
        ("a.tar.gz", b"\x1f\x8b\x08\0", "application/gzip"),
        ("a.rtf", b"{\\rtf1", "application/rtf"),
        ("a.csv", b"a,b", "text/csv; charset=utf-8"),
        ("a.CSV", "城市,租金".encode("gbk"), "text/csv"),
        ("a.csv", b"a\0b", OPAQUE),
        ("a.tsv", b"a\tb", "text/tab-separated-values; charset=utf-8"),
        ("a.md", "# 报告".encode(), "text/markdown; charset=utf-8"),
        ("a.json", b"{}", "application/json"),
        ("a.md", PNG, "image/png"),
        ("a.css", b"body{}", TEXT),
        ("a.xml", b"<a/>", TEXT),
        ("a.xhtml", b"<a/>", TEXT),
        ("a.html", b"<!doctype html>", TEXT),
        ("a.svg", b"<svg/>", TEXT),
        ("a.png", b"<script>", TEXT),
        ("a.txt", b"\xff\xfe<\0", OPAQUE),
        ("a.txt", b"\xe4", OPAQUE),
        ("", b"", TEXT),
    ],
)
def test_a_type_is_what_the_bytes_are(name: str, head: bytes, expected: str) -> None:
    assert inert_type(name, head) == expected


def test_a_letter_cut_at_the_end_of_what_is_seen_is_one() -> None:
    assert inert_type("a", b"a" * (HEAD_BYTES - 1) + "é".encode()[:1]) == TEXT


def test_a_page_is_one_only_where_it_may_be() -> None:
    assert active_type("a.HTML", b"<p>") == "text/html; charset=utf-8"
    assert active_type("a.svg", b"<svg/>") == "image/svg+xml"
    assert active_type("a.html", PNG) == "image/png"
    assert active_type("a.js", b"alert(1)") == TEXT
    assert active_type("html", b"<p>") == TEXT


def test_what_is_no_raster_image_is_no_image() -> None:
    assert image_type(b"<svg/>") is None
    assert image_type(b"\0\0\0\x20ftypisom") is None


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("a.txt", 'filename="a.txt"'),
        ('a"; x="b\r\nSet-Cookie: c', 'filename="a__ x__b__Set-Cookie_ c"'),
        ("../../etc/passwd", 'filename="passwd"'),
        ("C:\\x\\evil.exe", 'filename="evil.exe"'),
        ("\u202egpj.exe", 'filename="_gpj.exe"'),
        ("", 'filename="file"'),
        ("名.txt", 'filename="_.txt"'),
        ("a" * 5000 + ".txt", f'filename="{"a" * 146}.txt"'),
        ("\udcff", 'filename="_"'),
    ],
)
def test_a_file_name_stays_one(name: str, plain: str) -> None:
    given = content_headers(name, b"")["Content-Disposition"]
    assert given.startswith(f"attachment; {plain}; filename*=UTF-8''")
    assert given.isascii()
    assert given.isprintable()


def test_only_what_shows_and_nothing_more_is_shown() -> None:
    def disposition(name: str, head: bytes) -> str:
        return content_headers(name, head, shown=True)["Content-Disposition"].partition(";")[0]

    assert disposition("a.png", PNG) == disposition("a.html", b"<p>") == "inline"
    assert disposition("a.pdf", b"%PDF-1.7") == disposition("a", b"\0") == "attachment"


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.html", b"<p>", "text/html; charset=utf-8"),
        ("a.svg", b"<svg/>", "image/svg+xml"),
        ("a.js", b"alert(1)", TEXT),
        ("a.md", b"# a", "text/markdown; charset=utf-8"),
    ],
)
def test_what_is_saved_has_its_own_type_and_what_is_shown_beside_the_page_none_that_runs(
    name: str, head: bytes, expected: str
) -> None:
    saved = content_headers(name, head)
    assert (saved["Content-Type"], saved["Content-Disposition"].partition(";")[0]) == (expected, "attachment")
    assert saved["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    shown = content_headers(name, head, shown=True)
    assert not shown["Content-Type"].startswith(("text/html", "image/svg"))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("files.example.org", True),
        ("FILES.example.org:443", True),
        ("files.example.org:8443", False),
        ("example.org", False),
        ("files.example.org.evil.example", False),
        ("files.example.org:99999999", False),
        ("[::1", False),
        ("", False),
    ],
)
def test_an_origin_is_known_by_its_host(host: str, expected: bool) -> None:
    assert is_content_origin("https://files.example.org", host) is expected
    assert not is_content_origin("", host)
