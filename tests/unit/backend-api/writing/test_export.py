"""Documents by pandoc and Typst: right in each style, harmless whatever stands in titles and texts, whole or none."""

from __future__ import annotations

import asyncio
import html
import io
import os
import re
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pypandoc
import pypdfium2
import pytest
from pypandoc import get_pandoc_path

from backend_api.writing.citations import csl_item, escaped, section_markdown
from backend_api.writing.domain import Section, SectionId
from backend_api.writing.errors import ExportFailedError, ExportInvalidError
from backend_api.writing.ports import Format, Rendering
from backend_api.writing.programs.running import ExportPrograms, picture_ending
from backend_api.writing.styles import STYLES, Style
from support.research.known_papers import KNOWN
from support.writing import PNG, paper

GOLDEN = Path(__file__).parents[3] / "data" / "writing"
CITED = (2, 3, 5, 12, 0, 27)
EVIL = r"A \input{/etc/passwd} \write18{rm -rf /} <script>alert(1)</script> $\immediate\write18{x}$ `x`{=latex} @key"
EVIL_TEXT = r"""
\input{/etc/passwd} and \write18{id} in text.

<script>alert(1)</script> <img src=x onerror=alert(1)>

```{=latex}
\input{/etc/passwd}
```

```{=html}
<script>alert(2)</script>
```

`\input{/etc/passwd}`{=tex} [x]{typst:text:fill="read(\"/etc/passwd\")"} $\input{/etc/passwd}$ $^^5cinput{x}$
$$\begin{filecontents}{x}\end{filecontents}$$ $\href{javascript:alert(1)}{x}$ $x$}\input{y}$ [js](javascript:alert(3))
[data](data:text/html,<script>) ![p](/etc/passwd) ![q](../../etc/passwd) [@{x}\input{/etc/passwd}] #read("/etc/passwd")
"""


def rendering(form: Format, *texts: str, style: Style = STYLES[0], **more: Any) -> Rendering:
    sections = [
        section_markdown(Section(id=SectionId(f"s{number}"), title=f"Part {number}", text=text))
        for number, text in enumerate(texts, 1)
    ]
    options: dict[str, Any] = {
        "title": "A study",
        "authors": ["Anna Weber"],
        "language": "en",
        "references": [],
        "sections": sections,
        **more,
    }
    return Rendering(format=form, csl=style.file.read_text(), biblatex=style.biblatex, **options)


def references() -> list[Mapping[str, object]]:
    return [
        csl_item(
            f"k{number}",
            paper(
                *(one.title, *one.authors),
                **{name: getattr(one, name) for name in ("year", "doi", "venue", "volume", "issue", "pages")},
                arxiv_id=one.arxiv,
                publisher=one.publisher,
                kind={"proceedings-article": "paper-conference"}.get(one.kind, "article-journal") if one.doi else "",
            ),
        )
        for number, one in enumerate(KNOWN)
        if number in CITED
    ]


def plain(markup: str) -> str:
    """A line for each paragraph, reference and note, without what keeps directions apart."""
    bare = re.sub("[\u2068\u2069]", "", markup)
    bare = re.sub(r'<a[^>]*class="footnote-back".*?</a>', "", bare)
    bare = re.sub(r"\s+", " ", bare)
    bare = re.sub(r"</(?:p|li|h\d|div)>", "\n", bare)
    lines = (html.unescape(re.sub(r"<[^>]+>", "", line)).strip() for line in bare.split("\n"))
    return "\n".join(filter(None, lines)) + "\n"


async def test_where_a_program_is_missing_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise OSError("No pandoc was found")

    monkeypatch.setattr(pypandoc, "get_pandoc_path", missing)
    with pytest.raises(ExportFailedError, match="lacks pandoc"):
        await ExportPrograms().render(rendering("markdown", "One."))


@pytest.mark.parametrize("style", STYLES, ids=lambda one: one.name)
async def test_citations_and_bibliography_are_in_the_style(style: Style) -> None:
    cited = " ".join(f"[@k{number}]" for number in CITED)
    text = f"One {cited}. Several [see @k2, p. 4; @k3]. As @k12 says, deep [-@k2]."
    language = "zh" if style.name == "gb-t-7714" else "en"
    wanted = rendering("html", text, style=style, references=references(), language=language, is_preview=True)
    made = plain((await ExportPrograms().render(wanted)).decode())
    file = GOLDEN / f"{style.name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(made, encoding="utf-8")
    assert made == file.read_text(encoding="utf-8")


async def test_markup_in_titles_and_texts_does_nothing_as_latex() -> None:
    evil = csl_item("k", paper(EVIL, EVIL, "Ann Other", doi="10.1000/x", venue=r"\openout1=x"))
    made = await ExportPrograms().render(
        rendering("latex", f"{EVIL_TEXT} [@k]", title=EVIL, authors=[EVIL], references=[evil])
    )
    packed = zipfile.ZipFile(io.BytesIO(made))
    assert packed.namelist() == ["main.tex", "references.bib"]
    for name in packed.namelist():
        text = packed.read(name).decode()
        begin = text.index("\\begin{document}") if name == "main.tex" else 0
        commands = re.findall(
            r"\\(?:input|include|write|immediate|openout|read|catcode|csname|href|begin\{filecontents|usepackage)\b",
            re.sub(r"\\href\{https://[^}]*\}", "", text[begin:]),
        )
        assert commands == [], (name, commands)
        assert "^^5c" not in text
    title = re.search(r"\\title\{(.*)\}", packed.read("main.tex").decode())
    assert title is not None
    assert title[1].startswith(r"A \textbackslash input\{/etc/passwd\}")


async def test_no_formula_has_a_command_that_is_none_of_formulas_as_latex() -> None:
    kept = (
        r"\sum_{i=1}^n \dfrac{a_i}{b}",
        r"\begin{aligned}a&=b\\c&=d\notag\end{aligned}",
        r"\textcolor{red}{x}",
        r"\label{eq:1}x",
    )
    evil = (
        "\\begin%\n{filecontents*}[force]{latexmkrc}x",
        r"\ExplSyntaxOn\iow_open:Nn\g_tmpa_iow{x.tex}",
        r"\pdffiledump offset 0 length 9{/etc/passwd}",
        r"\text{\pdffiledump{x}}",
        r"\UseName{input}{/etc/passwd}",
        r"\label{\ExplSyntaxOn}x",
        r"\tag{a%}\endinput}x",
        r"\eqref{\endinput}",
    )
    formulas = "\n\n".join(f"a ${one}$ b" for one in (*kept, *evil))
    made = await ExportPrograms().render(rendering("latex", formulas))
    text = zipfile.ZipFile(io.BytesIO(made)).read("main.tex").decode()
    assert [found.strip() for found in re.findall(r"a \\\((.*?)\\\) b", text, re.DOTALL)] == list(kept)
    assert text.count(r"\texttt{\textbackslash{}") == len(evil)


async def test_an_address_ends_no_field_of_the_bibliography() -> None:
    address = r"https://example.org/},note={\input{/etc/passwd}},x={"
    made = await ExportPrograms().render(
        rendering("latex", "See [@k].", references=[csl_item("k", paper("A", "B C", url=address))])
    )
    text = zipfile.ZipFile(io.BytesIO(made)).read("references.bib").decode()
    assert "url = {https://example.org/%7D,note=%7B%5Cinput%7B/etc/passwd%7D%7D,x=%7B}" in text


async def test_markup_in_titles_and_texts_does_nothing_as_html() -> None:
    evil = csl_item("k", paper(EVIL, EVIL, doi="10.1000/x", venue="<script>"))
    for is_preview in (True, False):
        made = await ExportPrograms().render(
            rendering("html", f"{EVIL_TEXT} [@k]", title=EVIL, authors=[EVIL], references=[evil], is_preview=is_preview)
        )
        tags = re.findall(r"<[a-zA-Z!][^>]*>", made.decode().partition("<main>")[2] or made.decode())
        assert len(tags) > 20
        for tag in tags:
            assert not re.match(r"<(?:script|img|iframe|object|style|form|b)\b", tag, re.IGNORECASE), tag
            assert not re.search(r"\son\w+=|javascript:|data:", tag), tag


async def test_markup_in_titles_and_texts_reads_no_file_as_pdf_docx_or_markdown() -> None:
    evil = csl_item("k", paper(EVIL, EVIL, doi="10.1000/x"))
    for form in ("pdf", "docx", "markdown"):
        made = await ExportPrograms().render(
            rendering(form, f"{EVIL_TEXT} [@k]", title=EVIL, authors=[EVIL], references=[evil])
        )
        if form == "pdf":
            text = pdf_text(made)
        elif form == "docx":
            text = zipfile.ZipFile(io.BytesIO(made)).read("word/document.xml").decode()
        else:
            text = made.decode()
            again = await asyncio.to_thread(read_as_native, made)
            assert b"Raw" not in again
        assert "root:" not in text
        assert "/etc/passwd" in text  # as what it says


async def test_chinese_is_set_in_its_own_face_and_can_be_selected() -> None:
    made = await ExportPrograms().render(
        rendering("pdf", "骨直角 与 Latin 混排。", title="一個研究 骨", authors=["王小明"], language="zh")
    )
    assert "骨直角" in pdf_text(made)
    faces = {one.decode() for one in re.findall(rb"/BaseFont ?/[A-Z]+\+([\w-]+)", made)}
    assert any("NotoSansCJKsc" in one for one in faces), faces
    assert not any("CJKjp" in one for one in faces), faces


@pytest.mark.parametrize("form", get_args(Format))
async def test_names_of_all_scripts_come_through(form: Format) -> None:
    item = csl_item(
        "k", paper("Über die Natur: 一個研究", "王小明", "علي حسن", "Đorđe Ünal", year=2018, doi="10.1000/x")
    )
    made = await ExportPrograms().render(
        rendering(form, "دراسة [@k]", title="دراسة 研究", authors=["علي حسن"], language="ar", references=[item])
    )
    assert len(made) > 200
    if form == "html":
        assert "王小明" in made.decode()
        assert "حسن" in made.decode()


HEBREW = csl_item("h", paper("מחקר על שפה", "דוד כהן", year=2019, venue="כתב עת"))
TO_THE_LEFT = "מכונות לומדות שפה בשנת 2017 עם Transformer בלבד."


def places_in(made: bytes, word: str) -> list[float]:
    """How far from the left each of these words begins, from the top of the page to its end."""
    page: Any = pypdfium2.PdfDocument(made)[0].get_textpage()
    text = "".join(page.get_text_range(one, 1) for one in range(page.count_chars()))
    boxes = [page.get_charbox(found.start()) for found in re.finditer(re.escape(word), text)]
    return [box[0] for box in sorted(boxes, key=lambda box: -box[1])]


@pytest.mark.parametrize("language", ["en", "he"])
async def test_a_paragraph_is_set_in_its_own_direction_whatever_the_documents_is(language: str) -> None:
    made = await ExportPrograms().render(rendering("pdf", TO_THE_LEFT, "Words of שפה alone.", language=language))
    assert places_in(made, "מ")[0] > places_in(made, "Transformer")[0]
    assert places_in(made, "Words") < places_in(made, "alone")
    page = (await ExportPrograms().render(rendering("html", TO_THE_LEFT, "Words.", language=language))).decode()
    own, other = ("ltr", "rtl") if language == "en" else ("rtl", "ltr")
    assert f'<html lang="{language}" dir="{own}">' in page
    assert f'<div dir="{other}">' in page
    assert f'<div dir="{own}">' not in page
    part = replace(rendering("html", TO_THE_LEFT, "Words.", language=language), is_preview=True)
    assert '<div dir="rtl">' in (await ExportPrograms().render(part)).decode()


async def test_a_name_written_from_the_right_does_not_draw_the_year_behind_it_along() -> None:
    text = "So it is [@h]."
    made = await ExportPrograms().render(rendering("pdf", text, references=[HEBREW]))
    cited, referred = places_in(made, "2019")
    assert places_in(made, "כ")[0] < cited
    assert places_in(made, "ד")[0] < referred < places_in(made, "מ")[0]
    home = await ExportPrograms().render(rendering("pdf", text, references=[HEBREW], language="he"))
    assert places_in(home, "ד")[0] > places_in(home, "2019")[1] > places_in(home, "מ")[0]


async def test_figures_of_the_workspace_are_in_the_document() -> None:
    text = "![A plot](plots/one.png){width=50% onload=x} ![Gone](plots/two.png) ![Text](notes.txt)"
    figures = {"plots/one.png": PNG, "notes.txt": b"no picture"}
    for form in ("html", "docx", "latex", "pdf"):
        made = await ExportPrograms().render(rendering(form, text, figures=figures))
        if form == "html":
            assert 'src="data:image/png;base64,' in made.decode()
            assert made.decode().count("[figure missing:") == 2
            assert "onload" not in made.decode()
        elif form in ("docx", "latex"):
            assert any(name.endswith(".png") for name in zipfile.ZipFile(io.BytesIO(made)).namelist())


LINKED = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">
<image {}href="{}" width="5" height="5"/></svg>"""
LABELS = ("figure not shown, as it links to another picture", "figure can't be shown")


async def test_a_figure_that_cannot_be_set_is_told_in_its_place_and_loads_nothing() -> None:
    asked = list[str]()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readline()).decode())
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/x.png"
        figures = {
            "one.svg": LINKED.format("xlink:", address).encode(),
            "two.svg": LINKED.format("", "file:///etc/passwd").encode(),
            "three.svg": LINKED.format("", "../../../../etc/hostname").encode(),
            "good.svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>',
            "cut.png": PNG[:30],
            "good.png": PNG,
        }
        text = "Begin. " + " ".join(f"![A plot]({path})" for path in figures)
        text += f' ![far]({address}) ![file](file:///etc/passwd) [a link]({address}) #import "@preview/x:0.1.0"'
        for form in get_args(Format):
            made = await ExportPrograms().render(rendering(form, text, figures=figures))
            if form != "pdf":
                continue
            told = " ".join(pdf_text(made).split())
            for path, label in (
                *((one, LABELS[0]) for one in ("one.svg", "two.svg", "three.svg")),
                ("cut.png", LABELS[1]),
            ):
                assert f"[{label}: {path}]" in told
            assert "good" not in told
            assert "Begin." in told
            assert "root:" not in told
        unusable = await ExportPrograms().unusable("anna", figures)
    assert unusable == {"one.svg": "linked", "two.svg": "linked", "three.svg": "linked", "cut.png": "damaged"}
    assert asked == []


async def test_a_link_to_a_name_that_is_not_there_is_its_words_and_one_that_is_there_twice_leads_to_the_first() -> None:
    cited, *_ = references()
    key = str(cited["id"])
    texts = (
        f"# Same\n\n[to none](#missing) [to one](#same) [to a part](#sec-s2) [to a source](#ref-{key}) [@{key}]",
        f"# Same\n\n[over there](#same) []{{#refs}} [x]{{#ref-{key}}} [the *words* `of` it](#gone){{#same}}",
    )
    for form in get_args(Format):
        made = await ExportPrograms().render(rendering(form, *texts, references=[cited]))
        if form == "pdf":
            told = " ".join(pdf_text(made).split())
            assert "to none to one to a part to a source" in told
            assert "the words of it" in told
        elif form == "html":
            text = made.decode()
            assert 'href="#missing"' not in text
            assert 'href="#same"' in text
            assert text.count('id="same"') == 1
            assert text.count(f'id="ref-{key}"') == 1


def test_what_is_no_picture_is_none() -> None:
    assert [picture_ending(one) for one in (PNG, b"<svg xmlns='x'>", b"%!PS", b"\\input", b"")] == [
        "png",
        "svg",
        "",
        "",
        "",
    ]


async def test_headings_in_a_text_stand_below_its_section() -> None:
    made = await ExportPrograms().render(
        rendering("html", "# One\n\n## Two", "## Three\n\n```\nnot closed", is_preview=True)
    )
    text = made.decode()
    assert re.findall(r"<h(\d)[^>]*>(?:<span[^>]*>[\d.]+</span> )?([^<]+)", text) == [
        ("1", "Part 1"),
        ("2", "One"),
        ("3", "Two"),
        ("1", "Part 2"),
        ("2", "Three"),
    ]


async def test_notes_of_sections_do_not_get_mixed_up() -> None:
    made = await ExportPrograms().render(
        rendering("html", "One[^1]\n\n[^1]: First.", "Two[^1]\n\n[^1]: Second.", is_preview=True)
    )
    assert re.findall(r"<li id=\"fn\d\"><p>(\w+)\.", made.decode()) == ["First", "Second"]


async def test_what_is_cut_off_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    programs = ExportPrograms()
    work = asyncio.create_task(programs.render(rendering("pdf", "text " * 20_000)))
    while not any(tmp_path.glob("export-*/s0.md")):
        await asyncio.sleep(0.01)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert list(tmp_path.iterdir()) == []
    assert (await programs.render(rendering("html", "Again."))).startswith(b"<!doctype html>")
    assert list(tmp_path.iterdir()) == []


async def test_documents_of_one_user_leave_a_place_to_others() -> None:
    programs, begun = ExportPrograms(), list[str]()

    async def render(owner: str, text: str) -> None:
        await programs.render(rendering("html", text, owner=owner))
        begun.append(owner)

    hers = [asyncio.create_task(render("anna", "> " * 20_000)) for _ in range(4)]
    await asyncio.sleep(0)
    await render("bert", "Short.")
    assert begun == ["bert"]
    for one in hers:
        one.cancel()
    await asyncio.gather(*hers, return_exceptions=True)


async def test_what_takes_too_long_is_ended() -> None:
    with pytest.raises(ExportFailedError):
        await ExportPrograms(within_s=0.05).render(rendering("pdf", "text " * 20_000))


@pytest.mark.parametrize(
    "text",
    [
        "> " * 20_000,
        "$" * 20_000,
        "*a **b " * 5_000,
        *(pytest.param(one, marks=pytest.mark.thorough) for one in ("[" * 20_000, "- " * 10_000, "^[" * 9_000)),
    ],
)
async def test_a_text_that_is_made_to_break_it_ends_with_a_document_or_an_error(text: str) -> None:
    begin = time.monotonic()
    with suppress(ExportFailedError, ExportInvalidError):
        made = await ExportPrograms(within_s=5).render(rendering("html", text))
        assert made.startswith(b"<!doctype html>")
    assert time.monotonic() - begin < 100


def test_a_title_is_written_as_what_it_says() -> None:
    assert escaped("a_b *c* [@d]") == r"a\_b \*c\* \[\@d\]"


def read_as_native(text: bytes) -> bytes:
    """As whoever takes it on with pandoc reads it."""
    return subprocess.run([get_pandoc_path(), "-t", "native"], input=text, capture_output=True, check=True).stdout


def pdf_text(content: bytes) -> str:
    document = pypdfium2.PdfDocument(content)
    return "\n".join(page.get_textpage().get_text_range() for page in document)


@pytest.mark.parametrize(
    "csl",
    [
        "not a style",
        "",
        "<html><body>Not found</body></html>",
        '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0"><citation><layout><group>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><style>&a;</style>',
    ],
)
async def test_a_style_that_is_no_csl_ends_with_a_clear_error_and_no_document(csl: str) -> None:
    wanted = replace(rendering("html", "Nets [@k2].", references=references()), csl=csl)
    with pytest.raises(ExportInvalidError, match="could not be created"):
        await ExportPrograms().render(wanted)
