"""Markdown to a Word document, with the standard library alone."""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from pictures import Picture, read_picture

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAW = "http://schemas.openxmlformats.org/drawingml/2006"
SPACES = (
    f'xmlns:w="{WORD}" xmlns:r="{OFFICE}" xmlns:a="{DRAW}/main" xmlns:pic="{DRAW}/picture" '
    f'xmlns:wp="{DRAW}/wordprocessingDrawing"'
)
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
INVISIBLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
INLINE = re.compile(
    r"(?P<code>`[^`]+`)|\*\*(?P<bold>.+?)\*\*|(?<!\w)[*_](?P<italic>[^*_\s](?:[^*_]*[^*_\s])?)[*_](?!\w)"
    r"|!\[(?P<image>[^\]]*)\]\((?P<place>[^)]*)\)|\[(?P<text>[^\]]+)\]\((?P<link>[^)\s]+)\)"
)
ITEM = re.compile(r"(?P<indent>\s*)(?:(?P<bullet>[-*+])|(?P<number>\d{1,3})[.)])\s+(?P<text>.+)")
SIZES = {1: 36, 2: 28, 3: 24}
WIDEST, HIGHEST = 5_700_000, 7_500_000
NUMBERED_FROM = 2
"""Each numbered list has a numbering of its own, so that it begins at 1."""


class Document:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pictures: list[Picture] = []
        self.body: list[str] = []
        self.links: list[str] = []
        self.left_out: list[str] = []
        self.numberings = 0

    def add(self, text: str, *, style: str = "", extra: str = "") -> None:
        kind = f'<w:pStyle w:val="{style}"/>' if style else ""
        properties = f"<w:pPr>{kind}{extra}</w:pPr>" if kind or extra else ""
        self.body.append(f"<w:p>{properties}{self.runs(text)}</w:p>")

    def runs(self, text: str, marks: str = "") -> str:
        parts: list[str] = []
        at = 0
        for found in INLINE.finditer(text):
            parts.append(run(text[at : found.start()], marks))
            at = found.end()
            if found["code"]:
                parts.append(run(found["code"][1:-1], f'{marks}<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/>'))
            elif found["bold"]:
                parts.append(self.runs(found["bold"], f"{marks}<w:b/>"))
            elif found["italic"]:
                parts.append(self.runs(found["italic"], f"{marks}<w:i/>"))
            elif found["link"]:
                parts.append(self.link(found["text"], found["link"]))
            else:
                parts.append(self.picture(found["image"], found["place"].strip()))
        return "".join([*parts, run(text[at:], marks)])

    def picture(self, described: str, place: str) -> str:
        try:
            if ":" in place:
                raise ValueError(f"{place} is not a file of the workspace")
            self.pictures.append(read_picture(self.folder / place, WIDEST, HIGHEST))
        except (OSError, ValueError) as error:
            self.left_out.append(f"image {described} ({error})")
            return run(f"[{described}]", "<w:i/>")
        return drawing(len(self.pictures), described, self.pictures[-1])

    def link(self, text: str, address: str) -> str:
        if not address.startswith(("https://", "http://", "mailto:")):
            return run(text, "")
        self.links.append(address)
        look = '<w:color w:val="0563C1"/><w:u w:val="single"/>'
        return f'<w:hyperlink r:id="rId{len(self.links) + 2}">{run(text, look)}</w:hyperlink>'

    def code(self, lines: list[str]) -> None:
        self.body += [f'<w:p><w:pPr><w:pStyle w:val="Code"/></w:pPr>{run(line, "")}</w:p>' for line in lines or [""]]
        # What comes below has its distance from the block, whose lines have none.
        self.body.append('<w:p><w:pPr><w:pStyle w:val="AfterBlock"/></w:pPr></w:p>')

    def table(self, rows: list[list[str]], sides_of: list[str]) -> None:
        sides = ("top", "left", "bottom", "right", "insideH", "insideV")
        border = "".join(f'<w:{side} w:val="single" w:sz="4" w:color="BFBFBF"/>' for side in sides)
        width = max(map(len, rows))
        grid = "".join(f'<w:gridCol w:w="{9000 // width}"/>' for _ in range(width))
        lines: list[str] = []
        for number, row in enumerate(rows):
            marks, head = ("<w:b/>", "<w:trPr><w:tblHeader/></w:trPr>") if number == 0 else ("", "")
            cells = "".join(
                f'<w:tc><w:tcPr><w:tcW w:w="{9000 // width}" w:type="dxa"/><w:vAlign w:val="center"/></w:tcPr>'
                f'<w:p><w:pPr><w:pStyle w:val="TableText"/><w:jc w:val="{side}"/></w:pPr>{self.runs(text, marks)}</w:p>'
                "</w:tc>"
                for text, side in zip(padded(row, width, ""), padded(sides_of, width, "left"), strict=True)
            )
            lines.append(f"<w:tr>{head}{cells}</w:tr>")
        self.body.append(
            f'<w:tbl><w:tblPr><w:tblInd w:w="108" w:type="dxa"/><w:tblBorders>{border}</w:tblBorders></w:tblPr>'
            f"<w:tblGrid>{grid}</w:tblGrid>{''.join(lines)}</w:tbl>"
            '<w:p><w:pPr><w:pStyle w:val="AfterBlock"/></w:pPr></w:p>'
        )


def drawing(number: int, described: str, picture: Picture) -> str:
    size = f'cx="{picture.width}" cy="{picture.height}"'
    named = f'id="{number}" name="Picture {number}" descr={quoteattr(INVISIBLE.sub("", described))}'
    return (
        f'<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent {size}/><wp:docPr {named}/>'
        f'<a:graphic><a:graphicData uri="{DRAW}/picture"><pic:pic><pic:nvPicPr><pic:cNvPr {named}/><pic:cNvPicPr/>'
        f'</pic:nvPicPr><pic:blipFill><a:blip r:embed="picture{number}"/><a:stretch><a:fillRect/></a:stretch>'
        f'</pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext {size}/></a:xfrm><a:prstGeom prst="rect">'
        "<a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )


def run(text: str, marks: str) -> str:
    if not text:
        return ""
    look = f"<w:rPr>{marks}</w:rPr>" if marks else ""
    return f'<w:r>{look}<w:t xml:space="preserve">{escape(INVISIBLE.sub("", text))}</w:t></w:r>'


def cells_of(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [one.strip().replace("\\|", "|") for one in re.split(r"(?<!\\)\|", inner)]


def is_rule(line: str) -> bool:
    return bool(re.fullmatch(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*", line)) and "|" in line


def sides_in(rule: str) -> list[str]:
    """The alignment of each column, read from the line below the head."""
    ends = [(one.startswith(":"), one.endswith(":")) for one in cells_of(rule)]
    return ["center" if both == (True, True) else "right" if both[1] else "left" for both in ends]


def padded(values: list[str], width: int, rest: str) -> list[str]:
    return [*values, *[rest] * (width - len(values))][:width]


def build(text: str, folder: Path) -> Document:
    document = Document(folder)
    lines = text.replace("\r\n", "\n").split("\n")
    at, listed = 0, False
    while at < len(lines):
        line = lines[at]
        at += 1
        item = ITEM.fullmatch(line)
        if not line.strip():
            continue
        if line.startswith("```"):
            end = next((number for number in range(at, len(lines)) if lines[number].startswith("```")), len(lines))
            document.code(lines[at:end])
            at = end + 1
        elif heading := re.fullmatch(r"(#{1,6})\s+(.+?)\s*#*", line):
            document.add(heading[2], style=f"Heading{min(len(heading[1]), 3)}")
        elif re.fullmatch(r"\s*(?:---+|\*\*\*+)\s*", line):
            document.body.append('<w:p><w:r><w:br w:type="page"/></w:r></w:p>')
        elif at < len(lines) and "|" in line and is_rule(lines[at]):
            rows, sides_of = [cells_of(line)], sides_in(lines[at])
            at += 1
            while at < len(lines) and "|" in lines[at]:
                rows.append(cells_of(lines[at]))
                at += 1
            document.table(rows, sides_of)
        elif item:
            depth = min(len(item["indent"].expandtabs(4)) // 2, 3)
            if item["number"] and not listed and depth == 0:
                document.numberings += 1
            number = 1 if item["bullet"] else NUMBERED_FROM + max(document.numberings - 1, 0)
            listed = bool(item["number"]) or (listed and depth > 0)
            document.add(
                item["text"],
                style="ListParagraph",
                extra=f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>',
            )
            continue
        elif line.startswith(">"):
            document.add(line.lstrip("> "), style="Quote")
        else:
            paragraph = [line.strip()]
            while at < len(lines) and lines[at].strip() and not re.match(r"[#>|`]|\s*[-*+]\s|\s*\d+[.)]\s", lines[at]):
                paragraph.append(lines[at].strip())
                at += 1
            document.add(" ".join(paragraph))
        listed = False
    return document


def styles() -> str:
    def style(name: str, label: str, paragraph: str, look: str) -> str:
        return (
            f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{label}"/><w:basedOn w:val="Normal"/>'
            f"<w:pPr>{paragraph}</w:pPr><w:rPr>{look}</w:rPr></w:style>"
        )

    headings = "".join(
        style(
            f"Heading{level}",
            f"heading {level}",
            f'<w:keepNext/><w:spacing w:before="280" w:after="100"/><w:outlineLvl w:val="{level - 1}"/>',
            f'<w:b/><w:sz w:val="{size}"/>',
        )
        for level, size in SIZES.items()
    )
    return (
        f'{HEAD}<w:styles xmlns:w="{WORD}"><w:docDefaults><w:rPrDefault><w:rPr>'
        '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Noto Sans CJK SC"/><w:sz w:val="22"/></w:rPr>'
        '</w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="140" w:line="276" w:lineRule="auto"/></w:pPr>'
        '</w:pPrDefault></w:docDefaults><w:style w:type="paragraph" w:default="1" w:styleId="Normal">'
        f'<w:name w:val="Normal"/></w:style>{headings}'
        + style("ListParagraph", "List Paragraph", '<w:spacing w:after="60"/>', "")
        + style("TableText", "Table Text", '<w:spacing w:before="50" w:after="50" w:line="240" w:lineRule="auto"/>', "")
        + style(
            "AfterBlock",
            "After Block",
            '<w:spacing w:before="0" w:after="0" w:line="160" w:lineRule="exact"/>',
            '<w:sz w:val="12"/>',
        )
        + style("Quote", "Quote", '<w:ind w:left="560"/>', "<w:i/>")
        + style(
            "Code",
            "Code",
            '<w:shd w:val="clear" w:fill="F2F2F2"/><w:spacing w:after="0" w:line="240" w:lineRule="auto"/>',
            '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/><w:sz w:val="19"/>',
        )
        + "</w:styles>"
    )


def numbering(lists: int) -> str:
    def levels(kind: str) -> str:
        return "".join(
            f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
            f'<w:lvlText w:val="{"•" if kind == "bullet" else f"%{depth + 1}."}"/>'
            f'<w:pPr><w:ind w:left="{560 * (depth + 1)}" w:hanging="360"/></w:pPr></w:lvl>'
            for depth in range(4)
        )

    kinds = ["bullet", *["decimal"] * lists]
    whole = "".join(
        f'<w:abstractNum w:abstractNumId="{at}"><w:multiLevelType w:val="multilevel"/>{levels(kind)}</w:abstractNum>'
        for at, kind in enumerate(kinds, 1)
    )
    used = "".join(f'<w:num w:numId="{at}"><w:abstractNumId w:val="{at}"/></w:num>' for at in range(1, len(kinds) + 1))
    return f'{HEAD}<w:numbering xmlns:w="{WORD}">{whole}{used}</w:numbering>'


def write(document: Document, out: Path, title: str) -> None:
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    parts = {"document": "document.main", "styles": "styles", "numbering": "numbering"}
    types = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{kind}.{what}+xml"/>' for name, what in parts.items()
    )
    links = "".join(
        f'<Relationship Id="rId{at}" Type="{OFFICE}/hyperlink" Target={quoteattr(address)} TargetMode="External"/>'
        for at, address in enumerate(document.links, 3)
    ) + "".join(
        f'<Relationship Id="picture{at}" Type="{OFFICE}/image" Target="media/image{at}.{picture.extension}"/>'
        for at, picture in enumerate(document.pictures, 1)
    )
    core = (
        f'{HEAD}<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(INVISIBLE.sub("", title))}</dc:title>'
        "</cp:coreProperties>"
    )
    section = (
        '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/>'
        '<w:pgMar w:top="1417" w:right="1417" w:bottom="1134" w:left="1417" w:header="708" w:footer="708"/></w:sectPr>'
    )
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(
            "[Content_Types].xml",
            f'{HEAD}<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/>'
            '<Default Extension="png" ContentType="image/png"/><Default Extension="jpeg" ContentType="image/jpeg"/>'
            '<Override PartName="/docProps/core.xml" '
            f'ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>{types}</Types>',
        )
        packed.writestr(
            "_rels/.rels",
            f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">'
            f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
            f'<Relationship Id="rId2" Type="{PACKAGE}/relationships/metadata/core-properties" '
            'Target="docProps/core.xml"/></Relationships>',
        )
        packed.writestr("docProps/core.xml", core)
        packed.writestr(
            "word/_rels/document.xml.rels",
            f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">'
            f'<Relationship Id="rId1" Type="{OFFICE}/styles" Target="styles.xml"/>'
            f'<Relationship Id="rId2" Type="{OFFICE}/numbering" Target="numbering.xml"/>{links}</Relationships>',
        )
        for at, picture in enumerate(document.pictures, 1):
            packed.writestr(f"word/media/image{at}.{picture.extension}", picture.data)
        packed.writestr("word/styles.xml", styles())
        packed.writestr("word/numbering.xml", numbering(max(document.numberings, 1)))
        packed.writestr(
            "word/document.xml",
            f"{HEAD}<w:document {SPACES}><w:body>{''.join(document.body)}{section}</w:body></w:document>",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("markdown", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--title", default="")
    given = parser.parse_args()
    try:
        document = build(given.markdown.read_text(encoding="utf-8-sig"), given.markdown.parent)
        write(document, given.out, given.title or given.markdown.stem)
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"Nothing was written: {error}")
    left_out = f" Left out: {', '.join(document.left_out)}." if document.left_out else ""
    print(f"Wrote {given.out}.{left_out}")


if __name__ == "__main__":
    main()
