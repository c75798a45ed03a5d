"""A workbook is read around what can't be read, and says what it leaves out."""

from __future__ import annotations

import io
from datetime import date
from typing import Any

import openpyxl
import pytest
from openpyxl.comments import Comment
from openpyxl.worksheet.datavalidation import DataValidation

from support.document_text import CHART, DOCUMENT, DRAWING, Parts, changed, chart, lines_of, part, relations
from support.documents import zipped
from tool_api.documents.formats.xlsx import open_document
from tool_api.documents.parts import RefusedDocumentError

S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET = "xl/worksheets/sheet1.xml"
RELS = "xl/worksheets/_rels/sheet1.xml.rels"
R = f'xmlns:r="{DOCUMENT}"'


def book(rows: str, *, sheet_end: str = "", parts: Parts | None = None) -> bytes:
    """A workbook of one sheet, whose rows and parts are as they are here."""
    made: Any = openpyxl.Workbook()
    made.active.title = "A"
    saved = io.BytesIO()
    made.save(saved)
    sheet = f'<worksheet xmlns="{S}"><sheetData>{rows}</sheetData>{sheet_end}</worksheet>'
    return changed(saved.getvalue(), {SHEET: sheet, **(parts or {})})


def read(data: bytes) -> list[str]:
    return lines_of(open_document(data))


ONE = '<row r="1"><c r="A1"><v>1.5</v></c><c r="B1" t="inlineStr"><is><t>so</t></is></c></row>'
STYLED = '<row r="1"><c r="A1" s="1"><v>46082</v></c></row>'
ODD_STYLES = {
    "empty fill": "<fills count='1'><fill/></fills>",
    "colour of the web": "<fonts><font><color rgb='#FFFF00'/></font></fonts>",
    "unknown border": "<borders><border><left style='wavy'/></border></borders>",
    "alignment of no program": "<cellStyleXfs><xf><alignment horizontal='middle' indent='-4.5'/></xf></cellStyleXfs>",
}


@pytest.mark.parametrize("style", ODD_STYLES.values(), ids=ODD_STYLES)
def test_odd_styles_cost_nothing_and_dates_are_still_dates(style: str) -> None:
    styles = f'<styleSheet xmlns="{S}">{style}<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
    assert read(book(STYLED, parts={"xl/styles.xml": styles}))[2:] == ["row,A", "1,2026-03-01"]


FORMATS = {
    "yyyy\u5e74m\u6708d\u65e5": ("46082", "2026-03-01"),
    "[h]:mm": ("1.5", "1 day, 12:00:00"),
    "h:mm": ("0.5", "12:00:00"),
    "0.00%": ("0.25", "0.25"),
    "#,##0.00": ("1E3", "1000.0"),
    "yyyy-mm-dd": ("-99999999999", "-99999999999"),
}


@pytest.mark.parametrize("code", FORMATS)
def test_numbers_are_what_their_formats_make_of_them(code: str) -> None:
    value, text = FORMATS[code]
    styles = (
        f'<styleSheet xmlns="{S}"><numFmts><numFmt numFmtId="164" formatCode="{code}"/></numFmts>'
        '<cellXfs><xf/><xf numFmtId="164"/></cellXfs></styleSheet>'
    )
    rows = STYLED.replace("46082", value)
    expected = f'1,"{text}"' if "," in text else f"1,{text}"
    assert read(book(rows, parts={"xl/styles.xml": styles}))[-1] == expected


def test_days_count_from_1904_where_the_workbook_says_so() -> None:
    made = book(
        STYLED,
        parts={"xl/styles.xml": f'<styleSheet xmlns="{S}"><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styleSheet>'},
    )
    root = part(made, "xl/workbook.xml").replace("<workbookPr", '<workbookPr date1904="1"')
    assert read(changed(made, {"xl/workbook.xml": root}))[-1] == "1,2030-03-02"


BROKEN_PARTS = {
    "xl/styles.xml": "<styleSheet",
    "xl/theme/theme1.xml": "no xml",
    "docProps/core.xml": "<a><b></a>",
    "docProps/app.xml": None,
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": "broken",
}


@pytest.mark.parametrize("name", BROKEN_PARTS)
def test_a_broken_or_missing_part_costs_no_cell(name: str) -> None:
    said = read(book(ONE, parts={name: BROKEN_PARTS[name]}))
    assert said[:4] == ["[workbook, 1 sheet]", "--- sheet 1 of 1: A ---", "row,A,B", "1,1.5,so"]


def test_a_broken_list_of_styles_is_named() -> None:
    assert read(book(ONE, parts={"xl/styles.xml": "no xml"}))[-1].startswith(
        "[the styles of the workbook could not be read"
    )


ODD_CELLS = {
    '<c t="s"><v>7</v></c>': "[text not found]",
    '<c t="s"><v>x</v></c>': "[text not found]",
    '<c t="n"><v>abc</v></c>': "abc",
    '<c s="900"><v>4</v></c>': "4",
    '<c t="b"><v>1</v></c>': "TRUE",
    '<c t="e"><v>#REF!</v></c>': "#REF!",
    '<c t="d"><v>2026-03-01</v></c>': "2026-03-01",
    '<c t="str"><f>A2&amp;"x"</f><v>yx</v></c>': "yx",
    "<c><f>SUM(B1:B2)</f></c>": "=SUM(B1:B2)",
    '<c t="new"><v>5</v></c>': "5",
    '<c r="??"><v>6</v></c>': "6",
    '<c t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r><rPh><t>c</t></rPh></is></c>': "ab",
    "<c><v>NaN</v></c>": "nan",
}


@pytest.mark.parametrize("cell", ODD_CELLS)
def test_an_odd_cell_costs_no_other(cell: str) -> None:
    said = read(book(f'<row>{cell}<c r="B1"><v>2</v></c></row>'))
    assert said[3] == f"1,{ODD_CELLS[cell]},2"


def test_a_formula_for_several_cells_is_told_as_it_is_in_each() -> None:
    rows = (
        '<row r="1"><c r="A1"><f t="shared" ref="A1:A2" si="0">B1*2</f></c></row>'
        '<row r="2"><c r="A2"><f t="shared" si="0"/></c></row>'
    )
    assert read(book(rows))[-2:] == ["1,=B1*2", "2,=B2*2"]


def test_texts_that_are_missing_are_named_and_counted() -> None:
    rows = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>1.5</v></c></row>'
    listed = relations(w=("worksheet", "worksheets/sheet1.xml"), s=("sharedStrings", "sharedStrings.xml"))
    parts = {"xl/_rels/workbook.xml.rels": listed.replace('Id="w"', 'Id="rId1"')}
    whole = f'<sst xmlns="{S}"><si><t>one</t></si></sst>'
    assert read(book(rows, parts={**parts, "xl/sharedStrings.xml": whole}))[3:] == ["1,one,1.5"]
    said = read(book(rows, parts={**parts, "xl/sharedStrings.xml": "no xml"}))
    assert said[3:] == [
        "1,[text not found],1.5",
        "[not read: 1 text of a cell]",
        "[the shared texts of the workbook could not be read: it is not XML]",
    ]
    assert read(book(rows, parts=parts))[-1].endswith("could not be read: it is missing from the file]")


def test_a_sheet_that_is_cut_is_read_up_to_there_and_others_whole() -> None:
    made: Any = openpyxl.Workbook()
    for name in ("B", "C"):
        made.create_sheet(name).append([name])
    saved = io.BytesIO()
    made.save(saved)
    cut = f'<worksheet xmlns="{S}"><sheetData>{ONE}<row r="2"><c r="A2"><v>2</v></c'
    said = read(changed(saved.getvalue(), {SHEET: cut, "xl/worksheets/sheet2.xml": None}))
    assert said[3] == "1,1.5,so"
    assert any(line.startswith("[a part of this sheet could not be read: line 1") for line in said)
    assert "[sheet 2 could not be read: it is missing from the file]" in said
    assert said[-1] == "1,C"


def test_names_of_parts_may_be_absolute_and_in_other_letters() -> None:
    made = book(ONE)
    listed = part(made, "xl/_rels/workbook.xml.rels").replace(
        "/xl/worksheets/sheet1.xml", "\\XL\\worksheets\\Sheet1.xml"
    )
    assert "1,1.5,so" in read(changed(made, {"xl/_rels/workbook.xml.rels": listed}))
    assert "1,1.5,so" in read(changed(made, {"xl/_rels/workbook.xml.rels": "broken"}))


def test_the_strict_form_of_the_standard_is_read() -> None:
    made = book(ONE)
    strict = {
        name: part(made, name)
        .replace(
            "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main"
        )
        .replace(DOCUMENT, "http://purl.oclc.org/ooxml/officeDocument/relationships")
        for name in ("xl/workbook.xml", "xl/_rels/workbook.xml.rels", "_rels/.rels", SHEET)
    }
    assert "1,1.5,so" in read(changed(made, strict))


def test_what_a_sheet_has_beside_its_cells_is_read() -> None:
    made: Any = openpyxl.Workbook()
    sheet = made.active
    sheet["A1"], sheet["B2"] = "x", date(2026, 3, 1)
    sheet.merge_cells("A1:C1")
    sheet["B2"].comment = Comment("why then?", "Ada")
    sheet.add_data_validation(DataValidation("list", '"yes,no"', sqref="D1:D9"))
    saved = io.BytesIO()
    made.save(saved)
    assert read(saved.getvalue())[2:] == [
        "row,A",
        "1,x",
        "row,A,B",
        "2,,2026-03-01",
        "[merged cells: A1:C1]",
        '[choices of cells: D1:D9: "yes,no"]',
        "Comment on B2 by Ada: why then?",
    ]


def test_charts_text_boxes_and_pictures_of_a_sheet_are_read() -> None:
    xdr = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
    shapes = (
        f'<xdr:graphicFrame><c:chart xmlns:c="{CHART}" r:id="c"/></xdr:graphicFrame>',
        '<xdr:graphicFrame><c:chart xmlns:c="x" r:id="gone"/></xdr:graphicFrame>',
        "<xdr:sp><xdr:txBody><a:p><a:r><a:t>look</a:t></a:r></a:p></xdr:txBody></xdr:sp>",
        '<xdr:pic><xdr:nvPicPr><xdr:cNvPr descr="a house"/></xdr:nvPicPr></xdr:pic>',
    )
    anchors = "".join(f"<xdr:twoCellAnchor>{shape}</xdr:twoCellAnchor>" for shape in shapes)
    made = book(
        ONE,
        sheet_end=f'<drawing {R} r:id="d"/><drawing {R} r:id="gone"/><oleObjects><oleObject/></oleObjects>',
        parts={
            RELS: relations(d=("drawing", "../drawings/drawing1.xml")),
            "xl/drawings/drawing1.xml": f'<xdr:wsDr xmlns:xdr="{xdr}" xmlns:a="{DRAWING}" {R}>{anchors}</xdr:wsDr>',
            "xl/drawings/_rels/drawing1.xml.rels": relations(c=("chart", "../charts/chart1.xml")),
            "xl/charts/chart1.xml": chart("surface3DChart"),
        },
    )
    assert read(made)[4:] == [
        "[chart: Rents]",
        "North: Q1 1.0, Q2 2.5",
        "[the chart could not be read: the file does not name its part]",
        "[text box: look]",
        "![a house]",
        "[a drawing of this sheet could not be read: the file does not name its part]",
        "[not read: 1 embedded object]",
    ]


def test_conversations_are_read_in_their_own_words() -> None:
    made = book(
        ONE,
        parts={
            RELS: relations(t=("threadedComment", "../t.xml"), c=("comments", "../c.xml")),
            "xl/t.xml": '<ThreadedComments><threadedComment ref="A1" personId="p"><text>is it so?</text>'
            "</threadedComment></ThreadedComments>",
            "xl/c.xml": "<comments><commentList><comment ref='A1'><text><t>[Threaded comment]</t></text>"
            "</comment></commentList></comments>",
        },
    )
    assert read(made)[-1] == "Comment on A1: is it so?"


def test_macros_and_links_to_other_workbooks_are_counted() -> None:
    made = book(ONE)
    listed = part(made, "xl/_rels/workbook.xml.rels")
    more = relations(m=("vbaProject", "vbaProject.bin"), e=("externalLink", "e1.xml"), f=("externalLink", "e2.xml"))
    listed = listed.replace("</Relationships>", more.partition(">")[2])
    said = read(changed(made, {"xl/_rels/workbook.xml.rels": listed}))
    assert said[-1] == "[not read: 1 program of macros, 2 linked workbooks]"


def test_names_filters_and_caches_that_are_odd_cost_nothing() -> None:
    made = book(
        ONE,
        sheet_end='<conditionalFormatting sqref="#REF!"/><dataValidations count="x"><dataValidation type="odd"/>'
        "</dataValidations>",
    )
    names = (
        '<definedNames><definedName name="">#REF!</definedName></definedNames><pivotCaches><pivotCache/></pivotCaches>'
    )
    root = part(made, "xl/workbook.xml").replace(
        "</workbook>", f"{names}<bookViews><workbookView activeTab='-9'/></bookViews></workbook>"
    )
    assert read(changed(made, {"xl/workbook.xml": root}))[2:] == ["row,A,B", "1,1.5,so"]


def test_a_binary_workbook_is_refused_with_what_to_do() -> None:
    with pytest.raises(RefusedDocumentError, match="convert-to xlsx"):
        open_document(
            zipped({"xl/workbook.bin": b"\0", "_rels/.rels": relations(a=("officeDocument", "xl/workbook.bin"))})
        )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a_x000D_", "a "),
        ("a_x000D_\nb", "a b"),
        ("_x005F_x0041_ _x0041_", "_x0041_ A"),
        ("_x4f60__x597D_", "你好"),
        ("_xD83D__xDE00_ _xD83D_", "😀 \ufffd"),
        ("_x0007_ _x12_ a_xyz", "_x0007_ _x12_ a_xyz"),
    ],
)
@pytest.mark.parametrize("cell", ['t="inlineStr"><is><t>TEXT</t></is></c>', 't="str"><v>TEXT</v></c>'])
def test_characters_that_are_written_by_their_numbers_are_read(written: str, shown: str, cell: str) -> None:
    rows = f'<row r="1"><c r="A1" {cell.replace("TEXT", written)}</row>'
    assert "\n".join(read(book(rows))[2:]) == f"row,A\n1,{shown}"
