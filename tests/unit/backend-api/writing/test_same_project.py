"""One project with all that a paper may have in it, in each format and style: its text is the golden one."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pypdfium2
import pytest

from backend_api.writing.ports import Format
from backend_api.writing.programs.running import ExportPrograms
from backend_api.writing.styles import STYLES, Style
from support.writing_sample import docx_text, html_text, pdf_text, sample

GOLDEN = Path(__file__).parents[3] / "data" / "writing" / "project"
IN_THE_GATE = ("apa", "gb-t-7714")
SIX = [
    pytest.param(one, marks=() if one.name in IN_THE_GATE else pytest.mark.thorough, id=one.name)
    for one in STYLES
    if one.name not in ("mla", "chicago-notes")
]


def check(name: str, text: str) -> None:
    """`WRITE_GOLDEN=1` writes what is made, to be read before it is kept."""
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("style", SIX)
@pytest.mark.parametrize("form", ["html", "docx", "pdf"])
async def test_text_citations_and_bibliography_are_those_of_the_style(form: Format, style: Style) -> None:
    made = await ExportPrograms().render(sample(form, style))
    if form == "html":
        text = html_text(made.decode().partition("<body>")[2])
    elif form == "docx":
        text = docx_text(made)
    else:
        text = pdf_text(made)
        assert len(pypdfium2.PdfDocument(made)) == 2
    check(f"{style.name}.{form}", text)


@pytest.mark.parametrize("style", SIX)
async def test_latex_and_markdown_leave_the_style_to_who_sets_them(style: Style) -> None:
    zh = ".zh" if style.name == "gb-t-7714" else ""
    made = (await ExportPrograms().render(sample("markdown", style))).decode()
    check(f"markdown{zh}", made)
    packed = zipfile.ZipFile(io.BytesIO(await ExportPrograms().render(sample("latex", style))))
    assert packed.namelist() == ["main.tex", "references.bib", "figures/1.png"]
    tex = packed.read("main.tex").decode()
    assert f"style={style.biblatex}" in tex
    check(f"latex{zh}", tex[tex.index("\\begin{document}") :])
    check("references.bib", packed.read("references.bib").decode())
