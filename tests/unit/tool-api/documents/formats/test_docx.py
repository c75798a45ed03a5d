"""A Word document is read around what can't be read, and says what it leaves out."""

from __future__ import annotations

import pytest

from support import documents
from support.document_text import CHART, DOCUMENT, DRAWING, Parts, changed, chart, lines_of, relations, text_of
from support.document_text import part as part_of
from support.documents import paragraph
from tool_api.documents.formats.docx import open_document
from tool_api.documents.parts import RefusedDocumentError

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELS = "word/_rels/document.xml.rels"
R = f'xmlns:r="{DOCUMENT}"'
WPS = 'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
V = 'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def read(body: str, parts: Parts | None = None) -> str:
    return text_of(open_document(changed(documents.word(body), parts or {})))


def in_run(content: str) -> str:
    return f"<w:p><w:r>{content}</w:r></w:p>"


def box(text: str) -> str:
    return f"<w:txbxContent>{paragraph(text)}</w:txbxContent>"


def part(kind: str, content: str) -> str:
    return f'<w:{kind} xmlns:w="{W}">{content}</w:{kind}>'


def test_headers_stand_above_the_text_and_footers_below() -> None:
    references = "".join(
        f'<w:{kind}Reference w:type="{pages}" r:id="{name}"/>'
        for kind, pages, name in (
            ("header", "default", "h1"),
            ("header", "first", "h2"),
            ("header", "even", "h1"),
            ("footer", "default", "f1"),
            ("footer", "first", "gone"),
        )
    )
    said = read(
        f"{paragraph('so')}<w:sectPr {R}>{references}</w:sectPr>",
        parts={
            RELS: relations(h1=("header", "header1.xml"), h2=("header", "header2.xml"), f1=("footer", "/word/f.xml")),
            "word/header1.xml": part("hdr", paragraph("ACME") + paragraph("2026")),
            "word/header2.xml": part("hdr", f"<w:tbl><w:tr><w:tc>{paragraph('Letter')}</w:tc></w:tr></w:tbl>"),
            "word/f.xml": part(
                "ftr", '<w:p><w:fldSimple w:instr="PAGE"><w:r><w:t>page 1</w:t></w:r></w:fldSimple></w:p>'
            ),
        },
    )
    assert said.splitlines() == [
        "[Word document]",
        "[header: ACME | 2026]",
        "[header of the first page: Letter]",
        "[header of even pages: ACME | 2026]",
        "so",
        "[footer: page 1]",
        "[the footer of the first page could not be read: the file does not name its part]",
    ]


SHAPES = {
    "drawing": f"<w:drawing><a:graphic xmlns:a='{DRAWING}'><wps:wsp {WPS}><wps:txbx>BOX</wps:txbx></wps:wsp>"
    f"</a:graphic>"
    "</w:drawing>",
    "old": f"<w:pict {V}><v:shape><v:textbox>BOX</v:textbox></v:shape></w:pict>",
    "both": f"<mc:AlternateContent {MC}><mc:Choice Requires='wps'><w:drawing><wps:txbx {WPS}>BOX</wps:txbx></w:drawing>"
    f"</mc:Choice><mc:Fallback><w:pict {V}><v:textbox>BOX</v:textbox></w:pict></mc:Fallback></mc:AlternateContent>",
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_text_box_is_read_once_below_its_paragraph(shape: str) -> None:
    body = f"<w:p><w:r><w:t>before</w:t></w:r><w:r>{shape.replace('BOX', box('in the box'))}</w:r></w:p>"
    assert read(body + paragraph("after")) == "[Word document]\nbefore\n\nin the box\n\nafter"


def test_charts_and_diagrams_are_read_in_their_place() -> None:
    drawing = f'<w:drawing><c:chart xmlns:c="{CHART}" {R} r:id="ID"/></w:drawing>'
    diagram = (
        '<w:drawing><d:relIds xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram" REL '
        'r:dm="d"/></w:drawing>'
    )
    nodes = (
        '<d:dataModel xmlns:d="x" xmlns:a="y"><d:ptLst><d:pt><d:t><a:p><a:t>Plan</a:t></a:p></d:t></d:pt>'
        "</d:ptLst></d:dataModel>"
    )
    said = read(
        in_run(drawing.replace("ID", "c"))
        + in_run(drawing.replace("ID", "gone"))
        + in_run(diagram.replace("REL", R))
        + paragraph("after"),
        parts={
            RELS: relations(c=("chart", "charts/chart1.xml"), d=("diagramData", "diagrams/data1.xml")),
            "word/charts/chart1.xml": chart("pie3DChart"),
            "word/diagrams/data1.xml": nodes,
        },
    )
    assert [line for line in said.splitlines() if line] == [
        "[Word document]",
        "[chart: Rents]",
        "North: Q1 1.0, Q2 2.5",
        "[the chart could not be read: the file does not name its part]",
        "[diagram]",
        "- Plan",
        "after",
    ]


def test_equations_are_written_on_the_line() -> None:
    fraction = "<m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    power = "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    body = f"<w:p><w:r><w:t>y is </w:t></w:r><m:oMath {M}>{fraction}<m:r><m:t>-</m:t></m:r>{power}</m:oMath></w:p>"
    assert read(body) == "[Word document]\ny is (a+b)/2-x^2"


def test_tracked_changes_are_shown_and_counted() -> None:
    body = (
        "<w:p><w:r><w:t>The rent is </w:t></w:r><w:del><w:r><w:delText>100</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>200</w:t></w:r></w:ins></w:p>"
    )
    assert read(body).splitlines() == [
        "[Word document]",
        "The rent is ~~100~~200",
        "[tracked changes: 1 deletion, 1 insertion, what was deleted is ~~struck through~~]",
    ]


def test_notes_and_comments_are_read_and_a_missing_one_is_named() -> None:
    body = (
        '<w:p><w:r><w:t>so</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:footnoteReference w:id="9"/>'
        '</w:r><w:r><w:endnoteReference w:id="3"/></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>'
    )
    said = read(
        body,
        parts={
            "word/footnotes.xml": part("footnotes", f'<w:footnote w:id="2">{paragraph("a source")}</w:footnote>'),
            "word/comments.xml": part(
                "comments", f'<w:comment w:id="0" w:initials="A">{paragraph("why?")}</w:comment>'
            ),
        },
    )
    assert "a source" in said
    assert "why?" in said
    assert "[the text of this footnote is missing][the text of this endnote is missing]" in said


BROKEN = {"numbering": "<w:numbering", "styles": "no xml", "footnotes": f"<!DOCTYPE a>{part('footnotes', '')}"}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_part_beside_the_text_is_named_and_the_text_read(kind: str) -> None:
    said = read(paragraph("so"), parts={f"word/{kind}.xml": BROKEN[kind]}).splitlines()
    assert said[1] == "so"
    assert any(line.startswith(f"[the {kind} of the document could not be read") for line in said[2:])


def test_a_part_that_the_library_breaks_over_is_left_out_and_named() -> None:
    numbering = part("numbering", '<w:num w:numId="1"/>')
    said = read(paragraph("so"), parts={"word/numbering.xml": numbering}).splitlines()
    assert said == ["[Word document]", "so", "[the numbering of the document could not be read]"]


def test_a_block_that_the_library_breaks_over_is_read_without_layout() -> None:
    odd = "<w:p><w:pPr><w:pStyle/></w:pPr><w:r><w:fldChar/></w:r>" + "<w:ins>" * 240 + "<w:r><w:t>odd</w:t></w:r>"
    body = paragraph("one") + odd + "</w:ins>" * 240 + "</w:p>" + paragraph("two")
    said = read(body)
    assert "one" in said
    assert "which could not be read]\n\nodd\n\ntwo" in said
    assert "two" in said
    assert said.endswith("[tracked changes: 240 insertions]")


def test_a_text_that_ends_in_the_middle_is_read_up_to_there() -> None:
    made = documents.word(paragraph("whole"))
    cut = f'<w:document xmlns:w="{W}"><w:body>{paragraph("whole")}<w:p><w:r><w:t>cu'
    said = lines_of(open_document(changed(made, {"word/document.xml": cut})))
    assert said[:4] == ["[Word document]", "whole", "", "cu"]
    assert said[4].startswith("[a part of the document could not be read: line 1: ")


def test_what_is_not_read_is_counted_at_the_end() -> None:
    embedded = f'<w:object {V}><v:shape><v:imagedata/></v:shape><o:OLEObject ProgID="Excel.Sheet.12"/></w:object>'
    said = read(in_run(embedded) + in_run(embedded) + in_run("<w:contentPart/>"))
    assert said.count("[embedded object: Excel.Sheet.12]") == 2
    assert said.endswith("\n[not read: 2 embedded objects, 1 drawing by hand]")


def test_inserted_files_are_read_or_named() -> None:
    said = read(
        f'<w:altChunk {R} r:id="a"/><w:altChunk {R} r:id="b"/><w:altChunk {R} r:id="c"/>',
        parts={
            RELS: relations(a=("aFChunk", "a.html"), b=("aFChunk", "b.docx"), c=("aFChunk", "c.txt")),
            "word/a.html": "<!DOCTYPE html><p><b>bold</b>",
            "word/b.docx": documents.word(paragraph("x")),
            "word/c.txt": "plain",
        },
    )
    assert [line for line in said.splitlines() if line] == [
        "[Word document]",
        "**bold**",
        "[not read: the inserted file word/b.docx]",
        "plain",
    ]


WORDS = {
    "field": '<w:p><w:fldSimple w:instr="X"><w:r><w:t>so</w:t></w:r></w:fldSimple></w:p>',
    "right to left": "<w:p><w:bdo><w:r><w:t>so</w:t></w:r></w:bdo></w:p>",
    "control": f"<w:sdt><w:sdtPr/><w:sdtContent>{paragraph('so')}</w:sdtContent></w:sdt>",
    "control in a line": "<w:p><w:sdt><w:sdtContent><w:r><w:t>so</w:t></w:r></w:sdtContent></w:sdt></w:p>",
    "moved": "<w:p><w:smartTag><w:r><w:t>so</w:t></w:r></w:smartTag></w:p>",
    "link without an address": f'<w:p><w:hyperlink {R} r:id="gone"><w:r><w:t>so</w:t></w:r></w:hyperlink></w:p>',
    "picture without a file": f'<w:p><w:r><w:t>so</w:t><w:drawing><x><a:blip xmlns:a="{DRAWING}"/></x>'
    f"</w:drawing></w:r></w:p>",
    "drop-down": '<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry '
    'w:val="no"/><w:listEntry w:val="so"/></w:ddList></w:ffData></w:fldChar></w:r></w:p>',
    "strange width": f'<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="x"/></w:tcPr>{paragraph("so")}</w:tc>'
    f"</w:tr></w:tbl>",
    "strict": "strict",
}


@pytest.mark.parametrize("body", WORDS.values(), ids=WORDS)
def test_words_are_read_wherever_they_stand(body: str) -> None:
    made = documents.word(paragraph("so") if body == "strict" else body)
    if body == "strict":
        xml = part_of(made, "word/document.xml").replace(W, "http://purl.oclc.org/ooxml/wordprocessingml/main")
        made = changed(made, {"word/document.xml": xml})
    assert "so" in text_of(open_document(made))


def test_characters_have_their_reading_in_brackets() -> None:
    ruby = "<w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby>"
    assert "漢(kan)" in read(in_run(ruby))


def test_a_document_without_its_text_is_refused() -> None:
    with pytest.raises(RefusedDocumentError, match=r"document\.xml can't be read"):
        read("", parts={"word/document.xml": ""})


W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
SIGN = '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>'


def checkbox(value: str, content: str) -> str:
    return (
        f'<w:sdt><w:sdtPr><w14:checkbox {W14}><w14:checked w14:val="{value}"/></w14:checkbox></w:sdtPr>'
        f"<w:sdtContent>{content}</w:sdtContent></w:sdt>"
    )


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"<w:p>{checkbox('1', run('☒'))}{run(' agree')}</w:p>", "[x] agree"),
        (f"<w:p>{checkbox('0', run('☐'))}{run('agree')}</w:p>", "[ ] agree"),
        (f"<w:p>{checkbox('1', run('☒ yes'))}</w:p>", "[x] yes"),
        (f"<w:p>{checkbox('true', run('yes'))}</w:p>", "[x] yes"),
        (f"<w:p>{checkbox('0', run('☐ ') + run('Option A'))}</w:p>", "[ ] Option A"),
        (checkbox("1", f"<w:p>{run('☒')}{run(' label')}</w:p>"), "[x] label"),
        (
            f"<w:p>{checkbox('1', SIGN)}{run(' agree')}</w:p>",
            "[x] agree",
        ),
    ],
)
def test_a_check_box_says_whether_it_is_checked(body: str, said: str) -> None:
    assert read(body).splitlines()[-1] == said


@pytest.mark.parametrize(
    ("box", "said"),
    [
        ('<w:default w:val="0"/><w:checked/>', "[x]"),
        ('<w:default w:val="1"/>', "[x]"),
        ('<w:default w:val="1"/><w:checked w:val="0"/>', "[ ]"),
    ],
)
def test_an_old_check_box_says_whether_it_is_checked(box: str, said: str) -> None:
    field = f'<w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>{box}</w:checkBox></w:ffData></w:fldChar>'
    code = "<w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r>"
    end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    assert read(f"<w:p><w:r>{field}</w:r>{code}{end}{run(' agree')}</w:p>").splitlines()[-1] == f"{said} agree"
