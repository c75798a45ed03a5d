"""A document that is made to read other files, to reach a server, or to take all time or memory gets none of it."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tool_api
from support import documents
from support.documents import paragraph, read

pytestmark = pytest.mark.thorough

SECRET = "the secret of the machine"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
DECLARED = f'<!DOCTYPE d [<!ENTITY l0 "lol">{LAUGHS}<!ENTITY file SYSTEM "file://PLACE">]>'
SOURCES = str(Path(tool_api.__file__).parent.parent)


def entities(place: Path) -> str:
    return DECLARED.replace("PLACE", str(place))


@pytest.fixture
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("machine") / "secret.txt"
    place.write_text(SECRET)
    return place


async def test_entities_read_no_file_and_take_no_memory(tmp_path: Path, secret: Path) -> None:
    for name in ("file", "l9"):
        (tmp_path / "a.docx").write_bytes(documents.word(paragraph(f"&{name};"), before=entities(secret)))
        said = await read(tmp_path, "a.docx")
        assert not said.success
        assert "declares" in said.output


HIDDEN = {
    "a.pptx": (documents.presentation, "ppt/slides/slide1", "标题", "# "),
    "a.xlsx": (documents.workbook, "xl/sharedStrings", "far away", "XFD: "),
}


@pytest.mark.parametrize("name", HIDDEN)
async def test_nor_where_they_hide_in_a_part_that_is_not_looked_into(tmp_path: Path, secret: Path, name: str) -> None:
    made, part, known, shown = HIDDEN[name]
    parts: dict[str, str | bytes] = {}
    with zipfile.ZipFile(io.BytesIO(made())) as archive:
        for entry in archive.namelist():
            content = archive.read(entry)
            if entry == f"{part}.xml":
                xml = content.decode().rpartition("?>")[2].replace(known, f"{known} &file;")
                content = f'<!DOCTYPE d [<!ENTITY file SYSTEM "file://{secret}">]>{xml}'.encode()
            elif entry.startswith("[Content") or entry.endswith(".xml.rels"):
                content = content.replace(f"{Path(part).name}.xml".encode(), f"{Path(part).name}.bin".encode())
            parts[entry.replace(f"{Path(part).name}.xml", f"{Path(part).name}.bin")] = content
    (tmp_path / name).write_bytes(documents.zipped(parts))
    said = (await read(tmp_path, name)).output
    assert f"{shown}{known}" in said
    assert SECRET not in said


async def test_what_a_document_names_elsewhere_is_not_fetched(tmp_path: Path, secret: Path) -> None:
    reached: list[bytes] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(note, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/x"
    page = f'<link rel=stylesheet href={url}><img src={url}><iframe src="file://{secret}"></iframe><p>so'
    (tmp_path / "a.html").write_text(page)
    (tmp_path / "a.docx").write_bytes(
        documents.word(
            '<w:p><w:r><w:drawing xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
            'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><a:blip r:link="r9"/>'
            "</w:drawing></w:r></w:p>" + paragraph("so"),
            **{
                "word/_rels/document.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
                f'relationships"><Relationship Id="r9" Type="x/image" TargetMode="External" Target="file://{secret}"/>'
                f'<Relationship Id="r8" Type="x/image" TargetMode="External" Target="{url}"/></Relationships>'
            },
        )
    )
    async with server:
        for name in ("a.html", "a.docx"):
            said = await read(tmp_path, name, as_text=True)
            assert "so" in said.output
            assert SECRET not in said.output
    assert reached == []


async def test_archives_in_archives_are_left_as_they_are(tmp_path: Path) -> None:
    bomb = documents.zipped({f"{number}": b"\0" * 10_000_000 for number in range(20)})
    (tmp_path / "a.docx").write_bytes(
        documents.word(paragraph("so"), **{"word/embeddings/a.zip": bomb, "word/embeddings/b.docx": bomb})
    )
    assert (await read(tmp_path, "a.docx")).output == "[Word document]\nso"


@pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.epub"])
async def test_one_that_unpacks_to_gigabytes_is_refused(tmp_path: Path, name: str) -> None:
    much = {f"word/{number}.xml": b" " * 30_000_000 for number in range(10)}
    (tmp_path / name).write_bytes(documents.word(paragraph("so"), **much))
    said = await read(tmp_path, name)
    assert "unpacks to more than" in said.output


ODF = 'xmlns:office="o" xmlns:text="t" xmlns:table="b"'
SHEET = (
    f"<a {ODF}><office:body><office:spreadsheet><table:table>{{}}</table:table></office:spreadsheet></office:body></a>"
)
WIDE = '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384">'
TAKING = {
    "wide.ods": documents.zipped(
        {"content.xml": SHEET.format((WIDE + "<text:p>x</text:p></table:table-cell></table:table-row>") * 50)}
    ),
    "nested.odt": documents.zipped({"content.xml": f"<a {ODF}><office:body><office:text>" + "<text:p>" * 200_000}),
    "nested.rtf": b"{\\rtf1" + b"{" * 2_000_000,
    "words.rtf": b"{\\rtf1 " + b"\\'e9" * 2_000_000,
    "nested.eml": "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(2_000)).encode(),
    "nested.ipynb": b"[" * 1_000_000,
    "nested.pptx": documents.zipped({"ppt/presentation.xml": "<p:a>" * 200_000}),
    "nested.html": "<div>" * 1_000_000,
    "cells.html": "<table><tr>" + "<td>" * 1_000_000,
    "nested.docx": documents.word("<w:p>" * 200_000),
    "wide.docx": documents.word(paragraph("x") * 400_000),
    "far.xlsx": documents.workbook(),
    "loop.pdf": documents.pdf("x").replace(b"/Kids[5 0 R]", b"/Kids[2 0 R]"),
    "many.pdf": documents.pdf("x").replace(b"/Count 1", b"/Count 2000000000"),
}


@pytest.mark.parametrize("name", TAKING)
async def test_one_made_to_take_long_ends_in_its_time_and_others_have_theirs(tmp_path: Path, name: str) -> None:
    content = TAKING[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "small.pdf").write_bytes(documents.pdf("so"))
    hard, easy = await asyncio.wait_for(
        asyncio.gather(read(tmp_path, name, 10, as_text=True), read(tmp_path, "small.pdf")), 20
    )
    assert len(hard.output) < 16_000
    assert easy.output.endswith("so")


@pytest.mark.parametrize(
    "work",
    [
        "open('/etc/hostname').read()",
        "open('/tmp/made', 'w')",
        "import os; os.open('/etc/hostname', os.O_RDONLY)",
        "import socket; socket.socket()",
        "import subprocess, os; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import os; os.fork()",
    ],
)
def test_behind_the_fence_nothing_is_opened_or_started(work: str) -> None:
    inside = f"import sys; sys.path.append({SOURCES!r}); import subprocess, socket; "
    inside += (
        f"from tool_api.documents import fence; fence.install()\ntry:\n  {work}\nexcept PermissionError: print('no')"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", inside], capture_output=True, text=True, timeout=10, check=False)
    assert ran.stdout == "no\n", ran.stderr
    assert not os.path.exists("/tmp/made")
