"""Pictures come from the workspace alone, and only those that are pictures."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from tool_api.tools.documents import pictures as module
from tool_api.tools.documents.pictures import MAX_BYTES, MAX_PICTURES, PictureError, Pictures, media_type_of
from tool_api.workspace import Workspace

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
EMBEDDED = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work" / "reports").mkdir(parents=True)
    (tmp_path / "outside.png").write_bytes(PNG)
    (tmp_path / "work" / "chart.png").write_bytes(PNG)
    (tmp_path / "work" / "reports" / "图 1.png").write_bytes(PNG)
    return tmp_path / "work"


def embedded(folder: Path, *written: str, of: str = "reports") -> tuple[list[str], list[str]]:
    pictures = Pictures(Workspace(folder), of)
    return pictures.embedded(list(written)), pictures.left_out


@pytest.mark.parametrize(
    "written", ["图 1.png", "%E5%9B%BE%201.png", "./图 1.png#part", "../chart.png", "chart.png", "{folder}/chart.png"]
)
def test_a_path_is_looked_up_beside_the_text_or_in_the_workspace(folder: Path, written: str) -> None:
    assert embedded(folder, written.format(folder=folder)) == ([EMBEDDED], [])


@pytest.mark.parametrize(
    "written",
    [
        "../../outside.png",
        "/etc/passwd",
        "link.png",
        "file:///etc/passwd",
        "FILE:chart.png",
        "http://127.0.0.1/a.png",
        "//127.0.0.1/a.png",
        "chrome://settings",
        "javascript:alert(1)",
        "data:text/html;base64,PGI+",
        'data:image/png;base64,AA"onload=alert(1)',
        "",
        "missing.png",
        "reports",
        "pipe.png",
        "secret.png",
        "a\0b.png",
    ],
)
def test_nothing_else_is_embedded_and_each_is_told(folder: Path, written: str) -> None:
    (folder / "link.png").symlink_to(folder.parent / "outside.png")
    (folder / "secret.png").write_text("API_KEY=1")
    os.mkfifo(folder / "pipe.png")
    addresses, left_out = embedded(folder, written, "chart.png")
    assert addresses == ["", EMBEDDED]
    assert len(left_out) == 1
    assert left_out[0].startswith(written)


def test_they_are_bounded_each_and_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "large.png").write_bytes(PNG + b"\0" * MAX_BYTES)
    assert "over" in embedded(folder, "large.png")[1][0]
    monkeypatch.setattr(module, "MAX_TOTAL_BYTES", 2 * len(PNG))
    addresses, left_out = embedded(folder, "chart.png", "./chart.png", "../chart.png")
    assert addresses == [EMBEDDED, EMBEDDED, ""]
    assert "together" in left_out[0]
    many = embedded(folder, *["no.png"] * (MAX_PICTURES + 1))[1]
    assert "more than" in many[-1]


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (b'<?xml version="1.0"?>\n<!-- made -->\n<svg xmlns="x">', "image/svg+xml"),
    ],
)
def test_a_picture_is_known_by_how_it_begins(data: bytes, media_type: str) -> None:
    assert media_type_of(data) == media_type


@pytest.mark.parametrize(
    "data", [b"", b"<html><svg>", b"%PDF-1.7", b"RIFF\0\0\0\0WAVE", b"<svgx>", b"<!---->" * 60 + b"x"]
)
def test_what_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(PictureError):
        media_type_of(data)
