"""A presentation is read around what can't be read, and says what it leaves out."""

from __future__ import annotations

import io
from typing import Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE

from support.document_text import CHART, DOCUMENT, Parts, changed, chart, lines_of, part, relations
from tool_api.documents.formats.pptx import open_document
from tool_api.documents.parts import RefusedDocumentError

P = "http://schemas.openxmlformats.org/presentationml/2006/main"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDE = "ppt/slides/slide2.xml"
RELS = "ppt/slides/_rels/slide2.xml.rels"


def deck(shapes: str = "", parts: Parts | None = None) -> bytes:
    """Three slides, of which the second has the shapes that are here."""
    made: Any = pptx.Presentation()
    for name in ("one", "two", "three"):
        made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = name
    saved = io.BytesIO()
    made.save(saved)
    slide = (
        f'<p:sld xmlns:p="{P}" xmlns:a="{A}" xmlns:r="{DOCUMENT}"><p:cSld><p:spTree>{shapes}</p:spTree>'
        f"</p:cSld></p:sld>"
    )
    return changed(saved.getvalue(), {SLIDE: slide, **(parts or {})})


def second(data: bytes) -> list[str]:
    """The lines of the second slide, of three of which the others are whole."""
    said = lines_of(open_document(data))
    assert said[:4] == ["[presentation, 3 slides]", "--- slide 1 of 3 ---", "# one", "--- slide 2 of 3 ---"]
    assert said[-2:] == ["--- slide 3 of 3 ---", "# three"]
    return said[4:-2]


def frame(content: str) -> str:
    return f"<p:graphicFrame><a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"


def shape(text: str, kind: str = "") -> str:
    return (
        f"<p:sp><p:nvSpPr><p:nvPr>{f'<p:ph type={chr(34)}{kind}{chr(34)}/>' if kind else ''}</p:nvPr></p:nvSpPr>"
        f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


CHART_FRAME = frame(f'<c:chart xmlns:c="{CHART}" r:id="c"/>')
KINDS = (
    "bar3DChart",
    "pie3DChart",
    "line3DChart",
    "area3DChart",
    "surfaceChart",
    "stockChart",
    "ofPieChart",
    "newChart",
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_of_any_kind_is_read(kind: str) -> None:
    made = deck(CHART_FRAME, parts={RELS: relations(c=("chart", "../charts/c.xml")), "ppt/charts/c.xml": chart(kind)})
    assert second(made) == ["[chart: Rents]", "North: Q1 1.0, Q2 2.5"]


def test_a_chart_of_points_has_both_numbers_of_each() -> None:
    made: Any = pptx.Presentation()
    data: Any = XyChartData()
    points = data.add_series("P")
    points.add_data_point(1, 2)
    points.add_data_point(3, 4)
    slide = made.slides.add_slide(made.slide_layouts[6])
    slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, 0, 0, 900_000, 900_000, data)
    levels: Any = CategoryChartData()
    levels.add_category("2026").add_sub_category("Q1")
    levels.add_series("L", (5,))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 900_000, 900_000, levels)
    saved = io.BytesIO()
    made.save(saved)
    said = lines_of(open_document(saved.getvalue()))
    assert "P: 1 2.0, 3 4.0" in said
    assert "L: 2026 Q1 5.0" in said


def test_a_newer_kind_of_chart_is_read_in_the_place_of_its_picture() -> None:
    cx = "http://schemas.microsoft.com/office/drawing/2014/chartex"
    points = (
        '<cx:strDim type="cat"><cx:lvl><cx:pt idx="0">a</cx:pt></cx:lvl></cx:strDim><cx:numDim type="val">'
        '<cx:lvl><cx:pt idx="0">7</cx:pt></cx:lvl></cx:numDim>'
    )
    content = (
        f'<cx:chartSpace xmlns:cx="{cx}"><cx:chartData><cx:data id="0">{points}</cx:data></cx:chartData><cx:chart>'
        '<cx:plotArea><cx:plotAreaRegion><cx:series layoutId="waterfall"><cx:tx><cx:txData><cx:v>S</cx:v></cx:txData>'
        '</cx:tx><cx:dataId val="0"/></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>'
    )
    both = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice '
        'Requires="cx1">'
        f"{frame(f'<cx:chart xmlns:cx={chr(34)}{cx}{chr(34)} r:id={chr(34)}c{chr(34)}/>')}</mc:Choice>"
        f"<mc:Fallback><p:pic/></mc:Fallback>"
        "</mc:AlternateContent>"
    )
    made = deck(both, parts={RELS: relations(c=("chartEx", "../charts/x.xml")), "ppt/charts/x.xml": content})
    assert second(made) == ["[chart]", "S: a 7.0"]


BROKEN_CHARTS: dict[str, tuple[str | None, str]] = {
    "missing": (None, "it is missing from the file"),
    "no xml": ("chart", "it is not XML"),
    "another part": ("<a/>", "it is not a chart"),
    "entities": ("<!DOCTYPE a><a/>", "ppt/charts/c.xml declares types or entities, which is not read"),
}


@pytest.mark.parametrize("name", BROKEN_CHARTS)
def test_a_chart_that_can_not_be_read_is_named_in_its_place(name: str) -> None:
    content, why = BROKEN_CHARTS[name]
    made = deck(
        shape("before") + CHART_FRAME + shape("after"),
        parts={RELS: relations(c=("chart", "../charts/c.xml")), "ppt/charts/c.xml": content},
    )
    assert second(made) == ["- before", f"[the chart could not be read: {why}]", "- after"]


def test_a_slide_that_is_missing_or_broken_costs_no_other() -> None:
    assert second(deck(parts={SLIDE: None})) == ["[slide 2 could not be read: it is missing from the file]"]
    assert second(deck(parts={SLIDE: "no xml"})) == ["[slide 2 could not be read: it is not XML]"]
    made = deck()
    listed = part(made, "ppt/_rels/presentation.xml.rels").replace("slides/slide2.xml", "../NULL")
    assert second(changed(made, {"ppt/_rels/presentation.xml.rels": listed}))[0].startswith(
        "[slide 2 could not be read: "
    )


def test_a_slide_that_is_cut_is_read_up_to_there() -> None:
    cut = f'<p:sld xmlns:p="{P}" xmlns:a="{A}"><p:cSld><p:spTree>{shape("whole")}<p:sp><p:txBody><a:p><a:r><a:t>cu'
    said = second(deck(parts={SLIDE: cut}))
    assert said[:2] == ["- whole", "- cu"]
    assert said[2].startswith("[a part of this slide could not be read: line 1: ")


BROKEN_PARTS = {
    "ppt/slideMasters/slideMaster1.xml": "no xml",
    "ppt/slideLayouts/slideLayout6.xml": None,
    "ppt/theme/theme1.xml": "<a",
    "docProps/core.xml": "<a><b></a>",
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": None,
    RELS: relations(a=("image", "../media/gone.png"), b=("slideLayout", "NULL")),
}


@pytest.mark.parametrize("name", BROKEN_PARTS)
def test_a_broken_or_missing_part_costs_no_slide(name: str) -> None:
    assert second(deck(shape("so"), parts={name: BROKEN_PARTS[name]})) == ["- so"]


def test_groups_tables_and_diagrams_are_read() -> None:
    cells = "".join(f"<a:tc><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>" for text in ("a", "b"))
    nodes = (
        '<d:dataModel xmlns:d="x" xmlns:a="y"><d:pt type="doc"/><d:pt><d:t><a:p><a:t>Plan</a:t></a:p></d:t>'
        "</d:pt></d:dataModel>"
    )
    made = deck(
        f"<p:grpSp><p:grpSp>{shape('deep')}</p:grpSp></p:grpSp>"
        + frame(f"<a:tbl><a:tr>{cells}</a:tr></a:tbl>")
        + frame('<d:relIds xmlns:d="x" r:dm="d"/>'),
        parts={RELS: relations(d=("diagramData", "../diagrams/data1.xml")), "ppt/diagrams/data1.xml": nodes},
    )
    assert second(made) == ["- deep", "| a | b |", "|---|---|", "[diagram]", "- Plan"]


def test_what_is_not_read_is_named_and_counted() -> None:
    video = '<p:pic><p:nvPicPr><p:cNvPr descr="a tour"/><p:nvPr><a:videoFile/></p:nvPr></p:nvPicPr></p:pic>'
    embedded = frame('<p:oleObj progId="Excel.Sheet.12"/>')
    assert second(deck(video + embedded + embedded)) == [
        "[video: a tour]",
        "[embedded object: Excel.Sheet.12]",
        "[embedded object: Excel.Sheet.12]",
        "[not read: 1 video, 2 embedded objects]",
    ]


def test_notes_and_comments_of_a_slide_are_read() -> None:
    made = deck(
        shape("so"),
        parts={
            RELS: relations(n=("notesSlide", "../n.xml"), c=("comments", "../c.xml"), g=("comments", "../gone.xml")),
            "ppt/n.xml": f'<p:notes xmlns:p="{P}" xmlns:a="{A}"><p:cSld><p:spTree>'
            f"{shape('say it', 'body')}{shape('2', 'sldNum')}"
            "</p:spTree></p:cSld></p:notes>",
            "ppt/c.xml": '<p:cmLst xmlns:p="x"><p:cm authorId="0"><p:text>is it so?</p:text></p:cm></p:cmLst>',
        },
    )
    listed = part(made, "ppt/_rels/presentation.xml.rels")
    authors = relations(a=("commentAuthors", "authors.xml")).partition(">")[2]
    made = changed(
        made,
        {
            "ppt/_rels/presentation.xml.rels": listed.replace("</Relationships>", authors),
            "ppt/authors.xml": '<p:cmAuthorLst xmlns:p="x"><p:cmAuthor id="0" name="Ada"/></p:cmAuthorLst>',
        },
    )
    assert second(made) == [
        "- so",
        "Notes: say it",
        "Comment by Ada: is it so?",
        "[the comments could not be read: it is missing from the file]",
    ]


def test_a_slide_show_is_read_like_a_presentation() -> None:
    made = deck(shape("so"))
    types = part(made, "[Content_Types].xml").replace("presentation.main+xml", "slideshow.main+xml")
    assert second(changed(made, {"[Content_Types].xml": types})) == ["- so"]


def test_one_without_its_list_of_slides_is_refused() -> None:
    with pytest.raises(RefusedDocumentError, match=r"presentation\.xml can't be read"):
        open_document(deck(parts={"ppt/presentation.xml": "no xml"}))


@pytest.mark.parametrize(("level", "depth"), [("0", 0), ("2", 2), ("8", 8), ("9", 0), ("12", 0), ("5678", 0), ("", 0)])
def test_a_point_is_as_deep_as_its_level_which_is_one_of_nine(level: str, depth: int) -> None:
    assert second(deck(shape("a point").replace("<a:p>", f'<a:p><a:pPr lvl="{level}"/>'))) == [
        f"{'  ' * depth}- a point"
    ]
