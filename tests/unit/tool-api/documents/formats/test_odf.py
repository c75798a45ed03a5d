"""OpenDocument texts, spreadsheets and presentations are read, and say what is left out."""

from __future__ import annotations

import pytest

from support.document_text import Parts, changed, lines_of, text_of
from support.documents import zipped
from tool_api.documents.formats.odf import open_document
from tool_api.documents.parts import RefusedDocumentError

NAMES = {
    "office": "office",
    "text": "text",
    "table": "table",
    "draw": "drawing",
    "style": "style",
    "presentation": "presentation",
    "chart": "chart",
}
SPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for short, name in NAMES.items()
) + (
    ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:fo="f"'
)
BOLD = '<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style>'
NUMBERED = '<text:list-style style:name="N"><text:list-level-style-number/></text:list-style>'


def document(kind: str, body: str, *, styles: str = "", parts: Parts | None = None) -> bytes:
    content = (
        f"<office:document-content {SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    mimetype = f"application/vnd.oasis.opendocument.{kind}"
    return changed(zipped({"mimetype": mimetype, "content.xml": content}), parts or {})


def read(kind: str, body: str, *, styles: str = "", parts: Parts | None = None) -> list[str]:
    return lines_of(open_document(document(kind, body, styles=styles, parts=parts)))


def test_a_text_is_read_as_markdown() -> None:
    body = (
        '<text:h text:outline-level="2">报告</text:h>'
        '<text:p>a<text:s text:c="2"/>b <text:span text:style-name="B">so</text:span> <text:a xlink:href="http://x/">l</text:a></text:p>'
        '<text:list text:style-name="N"><text:list-item><text:p>first</text:p></text:list-item></text:list>'
        "<text:list><text:list-item><text:p>point</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell><table:table-cell "
        'table:number-columns-repeated="2"><text:p>y</text:p></table:table-cell></table:table-row></table:table>'
        "<text:p>1 &lt; 2</text:p>"
    )
    said = text_of(open_document(document("text", body, styles=BOLD + NUMBERED)))
    assert said.startswith("[OpenDocument text]\n## 报告\n\na b **so** [l](http://x/)\n")
    assert "\n1. first\n" in said
    assert "\n- point\n" in said
    assert "| x | y | y |" in said
    assert said.endswith(("1 < 2", "1 \\< 2"))


def test_notes_comments_boxes_and_margins_of_a_text_are_read() -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>a source</text:p>"
        "</text:note-body></text:note>"
    )
    remark = "<office:annotation><dc:creator>Ada</dc:creator><text:p>why?</text:p></office:annotation>"
    box = "<draw:frame><draw:text-box><text:p>in the box</text:p></draw:text-box></draw:frame>"
    picture = '<draw:frame><draw:image xlink:href="Pictures/gone.png"/><svg:desc>a house</svg:desc></draw:frame>'
    changes = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>old</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
    )
    margins = (
        f"<office:document-styles {SPACES}><office:master-styles><style:master-page><style:header><text:p>ACME</text:p>"
        "</style:header><style:footer-first><text:p>page</text:p></style:footer-first></style:master-page>"
        "</office:master-styles></office:document-styles>"
    )
    said = read("text", f"{changes}<text:p>so{note}{remark}{box}{picture}</text:p>", parts={"styles.xml": margins})
    assert said[:2] == ["[OpenDocument text]", "[header: ACME]"]
    assert "![a house]" in said[2]
    assert "in the box" in said
    assert any("a source" in line for line in said)
    assert said[-3:] == [
        "Comment by Ada: why?",
        "[tracked changes: 1 deletion, what was deleted is not shown]",
        "[footer of the first page: page]",
    ]


def test_objects_of_a_text_are_read_or_named() -> None:
    objects = "".join(f'<draw:frame><draw:object xlink:href="./{name}"/></draw:frame>' for name in ("C", "M", "gone"))
    rows = (
        "<table:table-row><table:table-cell><text:p>Q1</text:p></table:table-cell><table:table-cell><text:p>"
        "2</text:p></table:table-cell></table:table-row>"
    )
    said = read(
        "text",
        f"<text:p>{objects}</text:p><text:p><draw:frame><draw:object-ole/></draw:frame></text:p>",
        parts={
            "C/content.xml": f"<office:document-content {SPACES}><chart:chart><chart:title><text:p>"
            f"Rents</text:p></chart:title>"
            f"<chart:plot-area/><table:table>{rows}</table:table></chart:chart></office:document-content>",
            "M/content.xml": "<math><semantics><annotation>a over b</annotation></semantics></math>",
        },
    )
    assert said[1:3] == [
        "[chart: Rents]",
        "Q1, 2a over b[an embedded object could not be read: it is missing from the file]",
    ]
    assert said[-1] == "[not read: 2 embedded objects]"


def cell(kind: str, value: str, text: str, more: str = "") -> str:
    name = {"date": "date-value", "boolean": "boolean-value"}.get(kind, "value")
    value = f'office:value-type="{kind}" office:{name}="{value}" {more}'
    return f"<table:table-cell {value}><text:p>{text}</text:p></table:table-cell>"


def test_the_sheets_of_a_spreadsheet_are_read_like_those_of_a_workbook() -> None:
    far = (
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row>'
    )
    rows = (
        "<table:table-row><table:table-cell office:value-type='string'><text:p>name</text:p><office:annotation>"
        f"<text:p>why?</text:p></office:annotation></table:table-cell>{cell('float', '1.5', '1,50')}"
        f"{cell('date', '2026-03-01', '1.3.26')}{cell('boolean', 'true', 'WAHR')}</table:table-row>"
        '<table:table-row table:number-rows-repeated="2"/>'
        '<table:table-row><table:table-cell table:number-columns-repeated="2"/>'
        f"{cell('float', '7', '7', 'table:number-columns-repeated=' + chr(34) + '2' + chr(34))}"
        '<table:table-cell table:formula="of:=SUM([.A1])"/></table:table-row>'
    )
    hidden = '<style:style style:name="H"><style:table-properties table:display="false"/></style:style>'
    said = read(
        "spreadsheet",
        f'<table:table table:name="销售">{rows}{far}</table:table><table:table table:name="B" table:style-name="H"/>',
        styles=hidden,
    )
    assert said == [
        "[workbook, 2 sheets]",
        "--- sheet 1 of 2: 销售 ---",
        "row,A,B,C,D",
        "1,name,1.5,2026-03-01,TRUE",
        "row,A,B,C,D,E",
        "4,,,7,7,=SUM([.A1])",
        "Comment on A1: why?",
        "--- sheet 2 of 2: B (hidden) ---",
        "[the sheet is empty]",
    ]


def test_a_row_that_is_repeated_without_end_is_told_once() -> None:
    rows = f'<table:table-row table:number-rows-repeated="1048576">{cell("float", "1", "1")}</table:table-row>'
    said = read("spreadsheet", f"<table:table>{rows}</table:table>")
    assert said[3] == "1,1"
    assert said[-1] == "[rows up to 1048576 are the same as row 1]"
    assert len(said) < 1_100


def test_the_slides_of_a_presentation_are_read() -> None:
    title = '<draw:frame presentation:class="title"><draw:text-box><text:p>标题</text:p></draw:text-box></draw:frame>'
    points = (
        "<draw:frame><draw:text-box><text:list><text:list-item><text:p>one</text:p><text:list><text:list-item>"
        "<text:p>deep</text:p></text:list-item></text:list></text:list-item></text:list></draw:text-box></draw:frame>"
    )
    notes = (
        "<presentation:notes><draw:frame><draw:text-box><text:p>say it</text:p></draw:text-box></draw:frame>"
        "</presentation:notes>"
    )
    video = "<draw:frame><draw:plugin/></draw:frame>"
    assert read(
        "presentation", f"<draw:page>{points}<draw:g>{title}</draw:g>{video}{notes}</draw:page><draw:page/>"
    ) == [
        "[presentation, 2 slides]",
        "--- slide 1 of 2 ---",
        "# 标题",
        "- one",
        "  - deep",
        "Notes: say it",
        "[not read: 1 video or sound]",
        "--- slide 2 of 2 ---",
    ]


def test_one_that_is_cut_is_read_up_to_there() -> None:
    whole = f"<office:document-content {SPACES}><office:body><office:text><text:p>whole</text:p><text:p>cu"
    said = lines_of(open_document(zipped({"content.xml": whole})))
    assert said[:4] == ["[OpenDocument text]", "whole", "", "cu"]
    assert said[-1].startswith("[a part of the document could not be read: line 1: ")


def test_one_with_a_password_is_refused_with_what_to_do() -> None:
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry '
        'm:full-path="content.xml">'
        "<m:encryption-data/></m:file-entry></m:manifest>"
    )
    with pytest.raises(RefusedDocumentError, match="without a password"):
        open_document(zipped({"content.xml": b"\0\1", "META-INF/manifest.xml": manifest}))
    with pytest.raises(RefusedDocumentError, match="missing"):
        open_document(zipped({"a": b""}))
