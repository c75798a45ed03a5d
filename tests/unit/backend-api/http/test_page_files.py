"""The page's files go out compressed where the browser takes it, and are known again by their tags."""

from __future__ import annotations

import gzip
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from backend_api.kit.http.page import accepted_codings, page_router

SCRIPT = b"console.log('one');" * 200
PACKED = gzip.compress(SCRIPT)
SMALL = b"not really brotli"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_bytes(b"<!doctype html>the page")
    (tmp_path / "assets" / "app.js").write_bytes(SCRIPT)
    (tmp_path / "assets" / "app.js.gz").write_bytes(PACKED)
    (tmp_path / "assets" / "app.js.br").write_bytes(SMALL)
    (tmp_path / "assets" / "old.js").write_bytes(SCRIPT)
    (tmp_path / "assets" / "old.js.gz").write_bytes(PACKED)
    (tmp_path / "icon.png").write_bytes(b"a picture")
    return tmp_path


@pytest.fixture
async def client(folder: Path) -> AsyncGenerator[httpx.AsyncClient]:
    app = FastAPI()
    app.include_router(page_router(folder))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://page") as client:
        client.headers.pop("accept-encoding", None)
        yield client


async def raw(
    client: httpx.AsyncClient, path: str, accept: str | None, method: str = "GET", **headers: str
) -> tuple[httpx.Response, bytes]:
    """An answer and its body as it came, not unpacked."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    sent["Accept-Encoding"] = accept if accept is not None else ""
    async with client.stream(method, path, headers=sent) as answer:
        return answer, b"".join([piece async for piece in answer.aiter_raw()])


@pytest.mark.parametrize(
    ("accept", "coding", "body"),
    [
        (None, None, SCRIPT),
        ("", None, SCRIPT),
        ("br", "br", SMALL),
        ("gzip, deflate, br, zstd", "br", SMALL),
        ("gzip, deflate", "gzip", PACKED),
        ("x-gzip", "gzip", PACKED),
        ("GZip ; Q=0.5", "gzip", PACKED),
        ("br;q=0.4, gzip;q=0.8", "gzip", PACKED),
        ("br;q=0, gzip", "gzip", PACKED),
        ("br;q=0, gzip;q=0", None, SCRIPT),
        ("*", "br", SMALL),
        ("*;q=0", None, SCRIPT),
        ("*;q=0, gzip", "gzip", PACKED),
        ("gzip;q=1.0, identity; q=0.5, *;q=0", "gzip", PACKED),
        ("identity, gzip;q=0.5", None, SCRIPT),
        ("deflate, zstd", None, SCRIPT),
        ("br;q=many, gzip;q=-1", None, SCRIPT),
        ("br;q=nan", None, SCRIPT),
        (",,;q=1,", None, SCRIPT),
    ],
)
async def test_the_copy_that_is_wanted_most_is_sent(
    client: httpx.AsyncClient, accept: str | None, coding: str | None, body: bytes
) -> None:
    answer, sent = await raw(client, "/assets/app.js", accept)
    assert (answer.headers.get("content-encoding"), sent) == (coding, body)
    assert answer.headers["content-length"] == str(len(body))
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "immutable" in answer.headers["cache-control"]
    assert "default-src 'self'" in answer.headers["content-security-policy"]


async def test_a_copy_that_is_not_there_is_not_promised(client: httpx.AsyncClient) -> None:
    answer, sent = await raw(client, "/assets/old.js", "br")
    assert ("content-encoding" in answer.headers, sent) == (False, SCRIPT)
    answer, sent = await raw(client, "/icon.png", "br, gzip")
    assert ("content-encoding" in answer.headers, "vary" in answer.headers, sent) == (False, False, b"a picture")


async def test_each_copy_has_a_tag_of_its_own_that_is_answered_in_short(client: httpx.AsyncClient) -> None:
    tags: dict[str, str] = {}
    for accept in ("", "br", "gzip"):
        answer, _ = await raw(client, "/assets/app.js", accept)
        tags[accept] = answer.headers["etag"]
    assert len(set(tags.values())) == 3
    for accept, tag in tags.items():
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            answer, sent = await raw(client, "/assets/app.js", accept, If_None_Match=known)
            assert (answer.status_code, sent, answer.headers["etag"]) == (304, b"", tag), known
            assert answer.headers["vary"] == "Accept-Encoding"
    other, _ = await raw(client, "/assets/app.js", "br", If_None_Match=tags["gzip"])
    assert other.status_code == 200
    when = (await raw(client, "/", ""))[0].headers["last-modified"]
    assert (await raw(client, "/", "", If_Modified_Since=when))[0].status_code == 304
    assert (await raw(client, "/", "", If_Modified_Since="once"))[0].status_code == 200


async def test_a_changed_file_has_another_tag(client: httpx.AsyncClient, folder: Path) -> None:
    before, _ = await raw(client, "/", "")
    status = (folder / "index.html").stat()
    os.utime(folder / "index.html", ns=(status.st_atime_ns, status.st_mtime_ns + 5_000))
    after, _ = await raw(client, "/", "", If_None_Match=before.headers["etag"])
    assert after.status_code == 200


async def test_parts_are_sent_of_the_file_itself(client: httpx.AsyncClient) -> None:
    answer, sent = await raw(client, "/assets/app.js", "br, gzip", Range="bytes=8-10")
    assert (answer.status_code, sent) == (206, SCRIPT[8:11])
    assert answer.headers["content-range"] == f"bytes 8-10/{len(SCRIPT)}"
    assert "content-encoding" not in answer.headers
    packed, _ = await raw(client, "/assets/app.js", "br")
    answer, sent = await raw(client, "/assets/app.js", "br", Range="bytes=8-10", If_Range=packed.headers["etag"])
    assert (answer.status_code, sent) == (200, SCRIPT)


async def test_head_is_answered_as_get_without_a_body(client: httpx.AsyncClient) -> None:
    for path, accept in (("/", ""), ("/s/one", ""), ("/assets/app.js", "gzip"), ("/assets/app.js", "")):
        wanted, _ = await raw(client, path, accept)
        answer, sent = await raw(client, path, accept, "HEAD")
        assert (answer.status_code, sent) == (200, b"")
        assert dict(answer.headers) == dict(wanted.headers)


async def test_a_part_of_an_older_build_is_missing_and_no_page(client: httpx.AsyncClient) -> None:
    answer, sent = await raw(client, "/assets/gone.js", "br")
    assert (answer.status_code, b"doctype" in sent) == (404, False)
    for path in ("/", "/s/one", "/..%2f..%2fetc/passwd"):
        assert (await raw(client, path, ""))[1] == b"<!doctype html>the page"


def test_codings_are_read_with_their_weights() -> None:
    assert accepted_codings("br;q=0.5, gzip") == {"br": 0.5, "gzip": 1.0}
    assert accepted_codings("") == {}
