"""Programs of the product's skills put pictures into what they make, and say which they leave out."""

from __future__ import annotations

import base64
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import backend_api
from support.opened import deck

SKILLS = Path(backend_api.__file__).parent / "skills/library/product"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC"
)
JPEG = bytes.fromhex("ffd8ffe000040000ffc0001108000a001403012200021101031101")


def made(folder: Path, program: str, text: str, out: str) -> str:
    (folder / "chart.png").write_bytes(PNG)
    (folder / "photo.jpg").write_bytes(JPEG)
    (folder / "secret.png").write_text("KEY=1")
    (folder / "in.md").write_text(text)
    command = [sys.executable, "-B", str(SKILLS / program), "in.md", out]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=20, check=False)
    return ran.stdout + ran.stderr


def test_a_word_document_has_its_pictures(tmp_path: Path) -> None:
    text = '# 图\n\n![a "chart"](chart.png) ![photo](photo.jpg) ![web](https://a.example/x.png) ![key](secret.png)\n'
    said = made(tmp_path, "documents/scripts/md_to_docx.py", text, "out.docx")
    assert said.startswith("Wrote out.docx. Left out: image web (")
    assert "image key (secret.png is not a PNG or JPEG)" in said
    with zipfile.ZipFile(tmp_path / "out.docx") as packed:
        assert packed.read("word/media/image1.png") == PNG
        assert packed.read("word/media/image2.jpeg") == JPEG
        whole = packed.read("word/document.xml").decode()
    assert "descr='a \"chart\"'" in whole
    assert whole.count('cx="190500" cy="95250"') == 2
    assert "[web]" in whole


def test_a_slide_has_its_picture(tmp_path: Path) -> None:
    text = "# 租金\n\n# Rents rose\n\n- one\n![a chart](chart.png)\n"
    assert made(tmp_path, "slides/scripts/make_pptx.py", text, "out.pptx") == "Wrote out.pptx: 2 slides\n"
    with zipfile.ZipFile(tmp_path / "out.pptx") as packed:
        assert packed.read("ppt/media/image2.png") == PNG
        assert 'descr="a chart"' in packed.read("ppt/slides/slide2.xml").decode()
    refused = made(
        tmp_path, "slides/scripts/make_pptx.py", text.replace("chart.png", "http://a.example/x.png"), "b.pptx"
    )
    assert "it must be a file of the workspace" in refused
    assert not (tmp_path / "b.pptx").exists()


def test_a_slide_has_a_table_and_a_block_of_code(tmp_path: Path) -> None:
    text = "# 租金\n\n# Rents\n\n- one\n\n| 城市 | A \\| B |\n|---|---:|\n| 北京 | **12** |\n| <x> |\n\n"
    text += "# Code\n\n```python\ndef f():\n\n\treturn '<&>'  # 中\n```\n"
    assert made(tmp_path, "slides/scripts/make_pptx.py", text, "out.pptx") == "Wrote out.pptx: 3 slides\n"
    shapes: list[Any] = [list(slide.shapes) for slide in deck((tmp_path / "out.pptx").read_bytes()).slides]
    table = shapes[1][2]
    assert [[cell.text for cell in row.cells] for row in table.table.rows] == [
        ["城市", "A | B"],
        ["北京", "12"],
        ["<x>", ""],
    ]
    assert shapes[1][1].left + shapes[1][1].width < table.left, "the points are beside it"
    code = shapes[2][1].text_frame
    assert code.text == "def f():\n\n    return '<&>'  # 中"
    assert code.paragraphs[0].runs[0].font.name == "Consolas"


def test_what_is_too_much_for_a_slide_is_said(tmp_path: Path) -> None:
    code = "x = 1\n" * 30
    rows = "".join(f"| {number} | x |\n" for number in range(12))
    text = f"# A\n\n# Rows\n\n| a | b |\n|---|---|\n{rows}\n# Code\n\n```\n{code}"
    said = made(tmp_path, "slides/scripts/make_pptx.py", text, "out.pptx")
    assert "! slide 2 (Rows): a table of at most 9 rows, 6 columns\n" in said
    assert "! slide 3 (Code): code of at most 14 lines, 70 signs wide\n" in said
    for wrong in ("# A\n\n```\nx\n```\n", "# A\n\n# B\n\n```\nx\n```\n![a](chart.png)\n"):
        assert "one picture, table or block of code a slide, none on the first one" in made(
            tmp_path, "slides/scripts/make_pptx.py", wrong, "b.pptx"
        )
