"""Programs of the product's skills put pictures into what they make, and say which they leave out."""

from __future__ import annotations

import base64
import subprocess
import sys
import zipfile
from pathlib import Path

import backend_api

SKILLS = Path(backend_api.__file__).parent / "infrastructure/skills/product"
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
    assert "image key (secret.png is no PNG or JPEG)" in said
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
    assert "one a slide, a file of the workspace" in refused
    assert not (tmp_path / "b.pptx").exists()
