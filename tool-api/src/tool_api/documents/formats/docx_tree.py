"""Preparation of a Word document's part for the library that reads it: what the library would silently drop, or break
over, is replaced by text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tool_api.documents.formats.docx_chunks import chunk_text
from tool_api.documents.formats.docx_text import picture_of
from tool_api.documents.formats.drawings import graphic_lines
from tool_api.documents.formats.equations import linear
from tool_api.documents.formats.package import Package
from tool_api.documents.formats.placeholders import Placeholders
from tool_api.documents.formats.trees import DOCUMENT, RELATION_ID, Element, etree, local, on_one_line

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = f"{{{DOCUMENT}/math}}"
_NOTE_KINDS = {"footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments"}
_UNWRAPPED = ("fldSimple", "bdo", "dir", "rubyBase")
_NUMBER = re.compile(r"[0-9]{1,4}")
_CODE = re.compile(r"[0-9A-Fa-f]{1,6}")


@dataclass(frozen=True, slots=True)
class WordPart:
    """A part of a document. `known` are the identifiers of notes and comments; omissions and changes are counted."""

    package: Package
    name: str
    known: dict[str, set[str]]
    left_out: Counter[str]
    changes: Counter[str]
    placeholders: Placeholders


def prepared(root: Element, part: WordPart) -> dict[str, str]:
    """Change the tree; returns the addresses of its links by their identifiers."""
    _choose(root)
    for element in list(root.iter(f"{WORD}drawing", f"{WORD}pict", f"{WORD}object")):
        _replace_drawing(element, part)
    for element in list(root.iter(f"{_MATH}oMathPara", f"{_MATH}oMath")):
        if not any(local(one) in ("oMathPara", "oMath") for one in element.iterancestors()):
            _put_text(element, part, linear(element))
    _show_changes(root, part)
    _unwrap(root)
    for element in list(root.iter(f"{WORD}altChunk", f"{WORD}subDoc", f"{WORD}contentPart", f"{WORD}control")):
        _replace_foreign(element, part)
    _show_check_boxes(root, part)
    _mend(root, part)
    return _links(root, part)


def _choose(root: Element) -> None:
    """Keep the richest of the alternatives that a document offers for different programs."""
    for element in list(root.iter("{*}AlternateContent")):
        ways = [way for way in element if local(way) in ("Choice", "Fallback") and len(way)]
        for child in list(ways[0]) if ways else ():
            element.addprevious(child)
        _remove(element)


def _replace_drawing(element: Element, part: WordPart) -> None:
    paragraph = next((one for one in element.iterancestors() if one.tag == f"{WORD}p"), None)
    boxes = [box for box in element.iter(f"{WORD}txbxContent") if _drawing_around(box) is element]
    if paragraph is None:
        part.left_out["text box"] += len(boxes)
        _remove(element)
        return
    after = paragraph
    for box in boxes:
        for block in list(box):
            after.addnext(block)
            after = block
    for line in _block_lines(element, part):
        block = _paragraph(part.placeholders.put(line))
        after.addnext(block)
        after = block
    inline = "".join(_inline(element, part))
    if inline:
        _put_text(element, part, inline)
    else:
        _remove(element)


def _drawing_around(box: Element) -> Element | None:
    return next((one for one in box.iterancestors() if local(one) in ("drawing", "pict", "object")), None)


def _block_lines(element: Element, part: WordPart) -> Iterator[str]:
    lines = list(graphic_lines(part.package, part.name, element))
    is_in_table = any(one.tag == f"{WORD}tc" for one in element.iterancestors())
    if lines:
        yield (" / " if is_in_table else "\n").join(line.replace("|", "\\|") if is_in_table else line for line in lines)


def _inline(element: Element, part: WordPart) -> Iterator[str]:
    for found in element.iter():
        name = local(found)
        if name == "docPr" and (described := picture_of(found)):
            yield f"![{described}]"
        elif name == "imagedata" and element.tag != f"{WORD}object":
            titles = [str(value) for key, value in found.attrib.items() if key.endswith("title")]
            yield f"![{on_one_line(titles[0]) if titles and titles[0].strip() else 'picture'}]"
        elif name == "OLEObject":
            part.left_out["embedded object"] += 1
            yield f"[embedded object: {on_one_line(found.get('ProgID') or 'of an unknown kind')}]"
        elif name == "textpath":
            yield f"[text art: {on_one_line(found.get('string') or '')}]"
        elif name == "control":
            part.left_out["form control"] += 1


def _show_changes(root: Element, part: WordPart) -> None:
    for element in list(root.iter(*(f"{WORD}{name}" for name in ("ins", "moveTo", "del", "moveFrom")))):
        name, around = local(element), local(element.getparent())
        if around in ("rPr", "trPr", "tcPr", "numPr"):
            if name in ("del", "ins"):
                # A paragraph or a row marked as deleted here keeps its content.
                part.changes["insertion" if name == "ins" else "deletion"] += around == "trPr"
                element.getparent().remove(element)
            continue
        is_gone = name in ("del", "moveFrom")
        part.changes["deletion" if is_gone else "insertion"] += 1
        if is_gone:
            element.tag = f"{WORD}ins"
            for run in element.iter(f"{WORD}r"):
                _strike(run)


def _strike(run: Element) -> None:
    properties = run.find(f"{WORD}rPr")
    if properties is None:
        properties = etree.Element(f"{WORD}rPr")
        run.insert(0, properties)
    for found in properties.findall(f"{WORD}strike"):
        properties.remove(found)
    etree.SubElement(properties, f"{WORD}strike")
    for text in run.iter(f"{WORD}delText"):
        text.tag = f"{WORD}t"


def _unwrap(root: Element) -> None:
    for element in list(root.iter(*(f"{WORD}{name}" for name in _UNWRAPPED))):
        for child in list(element):
            if not local(child).endswith("Pr"):
                element.addprevious(child)
        _remove(element)
    for element in list(root.iter(f"{WORD}ruby")):
        # The characters, and how they are read in brackets.
        run = element.getparent()
        inner = list(element.iter(f"{WORD}t"))
        read_as = {id(one) for above in element.iter(f"{WORD}rt") for one in above.iter(f"{WORD}t")}
        for text in inner:
            if id(text) in read_as:
                text.text = f"({text.text or ''})"
        ordered = [one for one in inner if id(one) not in read_as] + [one for one in inner if id(one) in read_as]
        for text in ordered:
            element.addprevious(text)
        run.remove(element)
    for element in root.iter(f"{WORD}cr"):
        element.tag = f"{WORD}br"
    for element in root.iter(f"{WORD}ptab"):
        element.tag = f"{WORD}tab"


def _replace_foreign(element: Element, part: WordPart) -> None:
    if local(element) == "altChunk":
        text = chunk_text(part.package, part.name, element.get(f"{RELATION_ID}id"))
        element.addprevious(_paragraph(part.placeholders.put(text)))
    else:
        kinds = {"subDoc": "document of its own", "contentPart": "drawing by hand"}
        part.left_out[kinds.get(local(element), "form control")] += 1
    _remove(element)


def _show_check_boxes(root: Element, part: WordPart) -> None:
    """Show check boxes as text: the library keeps only the sign in one, and the state would be lost."""
    for box in list(root.iter("{*}checkbox")):
        if local(box.getparent()) != "sdtPr":
            continue
        content = box.getparent().getparent().find(f"{WORD}sdtContent")
        shown = None if content is None else next(content.iter(f"{WORD}t", f"{WORD}sym"), None)
        if shown is not None:
            text = str(shown.text or "").lstrip()
            rest = text if text[:1].isalnum() else text[1:].lstrip()
            shown.tag = f"{WORD}t"
            shown.text = f"{part.placeholders.put(_state(box.find('{*}checked')))} {rest}"
        _remove(box)
    for box in list(root.iter(f"{WORD}checkBox")):
        if local(box.getparent()) == "ffData":
            checked = box.find(f"{WORD}checked")
            _put_text(box, part, _state(box.find(f"{WORD}default") if checked is None else checked), keep=True)
            _remove(box)


def _state(checked: Element | None) -> str:
    """The state of a check box; a mark without a value means checked."""
    values = [] if checked is None else [str(value) for key, value in checked.attrib.items() if key.endswith("}val")]
    is_checked = checked is not None and (not values or values[0] in ("1", "true", "on"))
    return "[x]" if is_checked else "[ ]"


def _mend(root: Element, part: WordPart) -> None:
    """Remove identifiers and numbers that refer to nothing, over which the library would break."""
    for name, kind in _NOTE_KINDS.items():
        for element in list(root.iter(f"{WORD}{name}")):
            if str(element.get(f"{WORD}id")) not in part.known[kind]:
                if kind == "comments":
                    _remove(element)
                else:
                    _put_text(element, part, f"[the text of this {kind.removesuffix('s')} is missing]")
    for element in list(root.iter(f"{WORD}gridSpan")):
        if not _NUMBER.fullmatch(str(element.get(f"{WORD}val"))):
            _remove(element)
    for element in list(root.iter(f"{WORD}sym")):
        if not _CODE.fullmatch(str(element.get(f"{WORD}char"))):
            _remove(element)
    for field in root.iter(f"{WORD}ffData"):
        chosen = _chosen(field)
        if chosen:
            _put_text(field, part, chosen, keep=True)


def _chosen(field: Element) -> str:
    """The chosen item of an old drop-down field, whose text is nowhere else."""
    items = [str(one.get(f"{WORD}val") or "") for one in field.iterfind(f"{WORD}ddList/{WORD}listEntry")]
    result = field.find(f"{WORD}ddList/{WORD}result")
    at = "0" if result is None else str(result.get(f"{WORD}val"))
    return items[int(at)] if items and _NUMBER.fullmatch(at) and int(at) < len(items) else ""


def _links(root: Element, part: WordPart) -> dict[str, str]:
    relations, addresses = part.package.relations(part.name), dict[str, str]()
    for link in root.iter(f"{WORD}hyperlink"):
        identifier = link.get(f"{RELATION_ID}id")
        if identifier in relations:
            addresses[identifier] = relations[identifier].target
        elif identifier is not None:
            del link.attrib[f"{RELATION_ID}id"]
    return addresses


def _put_text(element: Element, part: WordPart, text: str, *, keep: bool = False) -> None:
    """Put the text in the place of an element or, with `keep`, before the run that holds it."""
    word = part.placeholders.put(text)
    run = next((one for one in (element, *element.iterancestors()) if one.tag == f"{WORD}r"), None)
    if keep:
        if run is not None:
            run.addprevious(_run(word))
        return
    if run is None:
        element.addprevious(_run(word))
    else:
        shown = etree.Element(f"{WORD}t")
        shown.text = word
        element.addprevious(shown)
    _remove(element)


def _run(text: str) -> Element:
    run = etree.Element(f"{WORD}r")
    etree.SubElement(run, f"{WORD}t").text = text
    return run


def _paragraph(text: str) -> Element:
    paragraph = etree.Element(f"{WORD}p")
    paragraph.append(_run(text))
    return paragraph


def _remove(element: Element) -> None:
    around = element.getparent()
    if around is not None:
        around.remove(element)
