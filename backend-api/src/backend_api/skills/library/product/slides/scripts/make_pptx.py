"""Markdown to a PowerPoint presentation, with the standard library alone; `--read` prints the text of one."""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from blocks import code_shape, table_shape
from deck import BODY_HIGH, PICTURE_WIDE, Slide, crowded, parse
from pictures import Picture

SHOW = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAW = "http://schemas.openxmlformats.org/drawingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
SPACES = f'xmlns:a="{DRAW}" xmlns:r="{OFFICE}" xmlns:p="{SHOW}"'
KIND = "application/vnd.openxmlformats-officedocument.presentationml"
WIDE, HIGH = 12_192_000, 6_858_000
TREE = (
    '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm>'
    '<a:off x="0" y="0"/><a:ext cx="0" cy="0"/><a:chOff x="0" y="0"/><a:chExt cx="0" cy="0"/></a:xfrm></p:grpSpPr>'
)


def shape(number: int, kind: str, paragraphs: str, box: str = "") -> str:
    mark = {"title": 'type="title"', "ctrTitle": 'type="ctrTitle"', "subTitle": 'type="subTitle" idx="1"'}
    placed = mark.get(kind, 'idx="1"')
    # The title of the talk stands right above what is below it, however long it is.
    anchor = ' anchor="b"' if kind == "ctrTitle" else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{kind} {number}"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr>'
        f"<p:nvPr><p:ph {placed}/></p:nvPr></p:nvSpPr><p:spPr>{box}</p:spPr><p:txBody><a:bodyPr{anchor}>"
        f"<a:normAutofit/></a:bodyPr><a:lstStyle/>{paragraphs}</p:txBody></p:sp>"
    )


def paragraph(level: int, text: str) -> str:
    look = '<a:pPr marL="0" indent="0"><a:buNone/></a:pPr>' if level < 0 else f'<a:pPr lvl="{level}"/>' if level else ""
    return f"<a:p>{look}<a:r><a:rPr/><a:t>{escape(text)}</a:t></a:r></a:p>"


def box(x: int, y: int, width: int, height: int) -> str:
    return (
        f'<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom>'
    )


TITLE_BOX = box(838_200, 420_000, 10_515_600, 1_200_000)
BODY_BOX = box(838_200, 1_800_000, 10_515_600, 4_300_000)
FIRST_TITLE, FIRST_BODY = (
    box(1_000_000, 1_700_000, 10_192_000, 1_900_000),
    box(1_000_000, 3_750_000, 10_192_000, 1_400_000),
)


def layout(name: str, title: str, body: str, boxes: tuple[str, str]) -> str:
    kind = "title" if title == "ctrTitle" else "obj"
    shapes = shape(2, title, "<a:p/>", boxes[0]) + shape(3, body, "<a:p/>", boxes[1])
    return (
        f'{HEAD}<p:sldLayout {SPACES} type="{kind}"><p:cSld name="{name}"><p:spTree>{TREE}{shapes}</p:spTree></p:cSld>'
        "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>"
    )


def master() -> str:
    shapes = shape(2, "title", "<a:p/>", TITLE_BOX) + shape(3, "body", "<a:p/>", BODY_BOX).replace(
        '<p:ph idx="1"/>', '<p:ph type="body" idx="1"/>'
    )
    colours = " ".join(
        f'{name}="{value}"'
        for name, value in (
            ("bg1", "lt1"), ("tx1", "dk1"), ("bg2", "lt2"), ("tx2", "dk2"), ("accent1", "accent1"),
            ("accent2", "accent2"), ("accent3", "accent3"), ("accent4", "accent4"), ("accent5", "accent5"),
            ("accent6", "accent6"), ("hlink", "hlink"), ("folHlink", "folHlink"),
        )
    )  # fmt: skip
    fill = '<a:solidFill><a:schemeClr val="tx1"/></a:solidFill>'
    levels = "".join(
        f'<a:lvl{level}pPr marL="{280_000 * level}" indent="-280000"><a:spcBef><a:spcPts val="900"/></a:spcBef>'
        f'<a:buFont typeface="Arial"/><a:buChar char="•"/><a:defRPr sz="{size}">{fill}</a:defRPr></a:lvl{level}pPr>'
        for level, size in ((1, 2600), (2, 2200), (3, 2000))
    )
    return (
        f'{HEAD}<p:sldMaster {SPACES}><p:cSld><p:bg><p:bgPr><a:solidFill><a:schemeClr val="bg1"/></a:solidFill>'
        f"<a:effectLst/></p:bgPr></p:bg><p:spTree>{TREE}{shapes}</p:spTree></p:cSld><p:clrMap {colours}/>"
        '<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/><p:sldLayoutId id="2147483650" r:id="rId2"/>'
        f'</p:sldLayoutIdLst><p:txStyles><p:titleStyle><a:lvl1pPr><a:defRPr sz="3600" b="1">{fill}</a:defRPr></a:lvl1pPr>'
        f"</p:titleStyle><p:bodyStyle>{levels}</p:bodyStyle><p:otherStyle/></p:txStyles></p:sldMaster>"
    )


def theme() -> str:
    colours = {
        "dk1": "1F2933", "lt1": "FFFFFF", "dk2": "334E68", "lt2": "F0F4F8", "accent1": "2F6F4F", "accent2": "B4690E",
        "accent3": "3E6FA8", "accent4": "8A4B8F", "accent5": "B03A2E", "accent6": "5B6770", "hlink": "1D5FA8",
        "folHlink": "6B4C8A",
    }  # fmt: skip
    scheme = "".join(f'<a:{name}><a:srgbClr val="{value}"/></a:{name}>' for name, value in colours.items())
    font = '<a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>'
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    return (
        f'{HEAD}<a:theme xmlns:a="{DRAW}" name="Plain"><a:themeElements><a:clrScheme name="Plain">{scheme}</a:clrScheme>'
        f'<a:fontScheme name="Plain"><a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont></a:fontScheme>'
        f'<a:fmtScheme name="Plain"><a:fillStyleLst>{fill * 3}</a:fillStyleLst><a:lnStyleLst>'
        f"{f'<a:ln>{fill}</a:ln>' * 3}</a:lnStyleLst><a:effectStyleLst>"
        f"{'<a:effectStyle><a:effectLst/></a:effectStyle>' * 3}</a:effectStyleLst><a:bgFillStyleLst>{fill * 3}"
        "</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>"
    )


def links(*targets: tuple[str, str]) -> str:
    whole = "".join(
        f'<Relationship Id="rId{at}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(targets, 1)
    )
    return f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">{whole}</Relationships>'


def slide_part(slide: Slide, *, is_first: bool) -> str:
    kinds = ("ctrTitle", "subTitle") if is_first else ("title", "body")
    body = "".join(paragraph(-1 if is_first else level, text) for level, text in slide.lines)
    beside = box(838_200, 1_800_000, 5_000_000, BODY_HIGH) if slide.is_full else ""
    area = (6_153_800, 1_800_000, PICTURE_WIDE, BODY_HIGH) if body else (838_200, 1_800_000, 10_515_600, BODY_HIGH)
    shapes = shape(2, kinds[0], paragraph(0, slide.title)) + (shape(3, kinds[1], body, beside) if body else "")
    if slide.picture:
        shapes += picture_shape(*slide.picture, is_alone=not body)
    if slide.table:
        shapes += table_shape(4, slide.table, slide.sides, area)
    if slide.code is not None:
        shapes += code_shape(4, slide.code, area)
    return (
        f"{HEAD}<p:sld {SPACES}><p:cSld><p:spTree>{TREE}{shapes}</p:spTree></p:cSld>"
        "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>"
    )


def picture_shape(described: str, picture: Picture, *, is_alone: bool) -> str:
    x = (WIDE - picture.width) // 2 if is_alone else 838_200 + 10_515_600 - picture.width
    y = 1_800_000 + ((BODY_HIGH - picture.height) // 2 if is_alone else 0)
    return (
        f'<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture" descr={quoteattr(described)}/><p:cNvPicPr/><p:nvPr/>'
        '</p:nvPicPr><p:blipFill><a:blip r:embed="picture"/><a:stretch><a:fillRect/></a:stretch></p:blipFill>'
        f"<p:spPr>{box(x, y, picture.width, picture.height)}</p:spPr></p:pic>"
    )


def notes_part(slide: Slide) -> str:
    said = "".join(paragraph(0, text) for text in slide.notes)
    return (
        f"{HEAD}<p:notes {SPACES}><p:cSld><p:spTree>{TREE}{shape(2, 'body', said)}</p:spTree></p:cSld>"
        "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:notes>"
    ).replace('<p:ph idx="1"/>', '<p:ph type="body" idx="1"/>')


def notes_master() -> str:
    return re.sub(
        r"<p:sldLayoutIdLst>.*?</p:txStyles>", "", master().replace("p:sldMaster", "p:notesMaster"), flags=re.DOTALL
    )


def write(slides: list[Slide], out: Path) -> None:
    count = len(slides)
    noted = [at for at, slide in enumerate(slides, 1) if slide.notes]
    parts: dict[str, tuple[str, str]] = {
        "ppt/slideMasters/slideMaster1.xml": ("slideMaster", master()),
        "ppt/slideLayouts/slideLayout1.xml": (
            "slideLayout", layout("Title", "ctrTitle", "subTitle", (FIRST_TITLE, FIRST_BODY))
        ),
        "ppt/slideLayouts/slideLayout2.xml": ("slideLayout", layout("Points", "title", "body", (TITLE_BOX, BODY_BOX))),
    }  # fmt: skip
    relations: dict[str, str] = {
        "ppt/slideMasters/_rels/slideMaster1.xml.rels": links(
            ("slideLayout", "../slideLayouts/slideLayout1.xml"),
            ("slideLayout", "../slideLayouts/slideLayout2.xml"),
            ("theme", "../theme/theme1.xml"),
        ),
    }
    for at in (1, 2):
        relations[f"ppt/slideLayouts/_rels/slideLayout{at}.xml.rels"] = links(
            ("slideMaster", "../slideMasters/slideMaster1.xml")
        )
    media: dict[str, bytes] = {}
    for at, slide in enumerate(slides, 1):
        parts[f"ppt/slides/slide{at}.xml"] = ("slide", slide_part(slide, is_first=at == 1))
        used = [("slideLayout", f"../slideLayouts/slideLayout{1 if at == 1 else 2}.xml")]
        if at in noted:
            used.append(("notesSlide", f"../notesSlides/notesSlide{at}.xml"))
            parts[f"ppt/notesSlides/notesSlide{at}.xml"] = ("notesSlide", notes_part(slide))
            relations[f"ppt/notesSlides/_rels/notesSlide{at}.xml.rels"] = links(
                ("notesMaster", "../notesMasters/notesMaster1.xml"), ("slide", f"../slides/slide{at}.xml")
            )
        relations[f"ppt/slides/_rels/slide{at}.xml.rels"] = links(*used)
        if slide.picture:
            name = f"image{at}.{slide.picture[1].extension}"
            media[f"ppt/media/{name}"] = slide.picture[1].data
            relations[f"ppt/slides/_rels/slide{at}.xml.rels"] = links(*used).replace(
                "</Relationships>",
                f'<Relationship Id="picture" Type="{OFFICE}/image" Target="../media/{name}"/></Relationships>',
            )
    listed = "".join(f'<p:sldId id="{255 + at}" r:id="rId{at + 1}"/>' for at in range(1, count + 1))
    main_links = [("slideMaster", "slideMasters/slideMaster1.xml")]
    main_links += [("slide", f"slides/slide{at}.xml") for at in range(1, count + 1)]
    main_links.append(("theme", "theme/theme1.xml"))
    notes = ""
    if noted:
        parts["ppt/notesMasters/notesMaster1.xml"] = ("notesMaster", notes_master())
        relations["ppt/notesMasters/_rels/notesMaster1.xml.rels"] = links(("theme", "../theme/theme2.xml"))
        main_links.append(("notesMaster", "notesMasters/notesMaster1.xml"))
        notes = f'<p:notesMasterIdLst><p:notesMasterId r:id="rId{len(main_links)}"/></p:notesMasterIdLst>'
    show = (
        f'{HEAD}<p:presentation {SPACES}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/>'
        f"</p:sldMasterIdLst>{notes}<p:sldIdLst>{listed}</p:sldIdLst>"
        f'<p:sldSz cx="{WIDE}" cy="{HIGH}"/><p:notesSz cx="{HIGH}" cy="9144000"/></p:presentation>'
    )
    themes = ["ppt/theme/theme1.xml", *(["ppt/theme/theme2.xml"] if noted else [])]
    types = "".join(
        [
            f'<Override PartName="/ppt/presentation.xml" ContentType="{KIND}.presentation.main+xml"/>',
            *(f'<Override PartName="/{name}" ContentType="{KIND}.{kind}+xml"/>' for name, (kind, _) in parts.items()),
            *(
                f'<Override PartName="/{name}" ContentType="application/vnd.openxmlformats-officedocument.theme+xml"/>'
                for name in themes
            ),
        ]
    )
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(
            "[Content_Types].xml",
            f'{HEAD}<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="png" ContentType="image/png"/><Default Extension="jpeg" ContentType="image/jpeg"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>{types}</Types>',
        )
        packed.writestr("_rels/.rels", links(("officeDocument", "ppt/presentation.xml")))
        packed.writestr("ppt/presentation.xml", show)
        packed.writestr("ppt/_rels/presentation.xml.rels", links(*main_links))
        for name in themes:
            packed.writestr(name, theme())
        for name, (_, text) in parts.items():
            packed.writestr(name, text)
        for name, data in media.items():
            packed.writestr(name, data)
        for name, text in relations.items():
            packed.writestr(name, text)


def read(path: Path) -> None:
    with zipfile.ZipFile(path) as packed:
        found = [name for name in packed.namelist() if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
        for name in sorted(found, key=lambda one: int(re.findall(r"\d+", one)[0])):
            if packed.getinfo(name).file_size > 20 * 1024 * 1024:
                raise ValueError(f"{name} is larger than this program reads")
            print(f"## {name.rpartition('/')[2].removesuffix('.xml')}")
            for one in ElementTree.fromstring(packed.read(name)).iter(f"{{{DRAW}}}p"):
                if text := "".join(part.text or "" for part in one.iter(f"{{{DRAW}}}t")):
                    print(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="Markdown, or with --read a .pptx")
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--read", action="store_true")
    given = parser.parse_args()
    try:
        if given.read:
            read(given.source)
            return
        if given.out is None:
            parser.error("name the file to write")
        slides = parse(given.source.read_text(encoding="utf-8-sig"), given.source.parent)
        if not slides:
            sys.exit("There is no slide: each begins with a line such as `# Title`.")
        write(slides, given.out)
    except (OSError, ValueError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        sys.exit(f"{given.source}: {error}")
    for line in crowded(slides):
        print(f"! {line}")
    print(f"Wrote {given.out}: {len(slides)} slides")


if __name__ == "__main__":
    main()
