"""Extracts the text of a PDF in a process of its own, as the author of the file decides the time and memory it takes.

Standard input: a line of JSON (`characters`, `pages`), then the file. Standard output: JSON, `sections` (title, text,
page) or the `reason` why there are none. It imports nothing of ours, so that it starts without the environment.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from typing import Any, cast

import pypdfium2

CPU_S = 20
MEMORY_BYTES = 1024**3
_KNOWN = (
    r"abstract|introduction|background|related work|preliminaries|methods?|methodology|materials and methods"
    r"|experiments?|experimental setup|evaluation|results|results and discussion|discussion|limitations|conclusions?"
    r"|future work|acknowledge?ments?|references|bibliography|appendix|supplementary materials?"
)
_HEADING = re.compile(
    rf"(?:(?:\d{{1,2}}(?:\.\d{{1,2}}){{0,2}}\.?|[A-HIVX]{{1,5}}\.)\s+\S[^.!?;]{{1,80}}|(?:\d{{1,2}}\.?\s+)?(?:{_KNOWN}))",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"(?:(?:\d[\d.]*|[IVX]{1,5}|[A-H])\.?\s+)?[A-Z]")
MOST_SECTIONS = 300
BEFORE = "Beginning"


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = json.loads(sys.stdin.buffer.readline())
    answer = read(sys.stdin.buffer.read(), asked["characters"], asked["pages"])
    sys.stdout.buffer.write(json.dumps(answer).encode("utf-8", "replace"))


def read(content: bytes, characters: int, pages: int) -> dict[str, Any]:
    """The sections with their first pages."""
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        is_locked = "password" in str(error).lower()
        return {"reason": "The PDF is encrypted with a password." if is_locked else "The PDF is corrupt."}
    texts, left = list[str](), characters
    for number in range(min(len(document), pages)):
        text = _page_text(document, number)[:left]
        texts.append(text)
        left -= len(text)
        if left <= 0:
            break
    if sum(len(text.strip()) for text in texts) < 30 * max(len(texts), 1) and not any(len(t) > 500 for t in texts):
        return {"reason": "The PDF is a scan: it has only pictures of pages, and no text."}
    return {"sections": split(texts)}


def _page_text(document: pypdfium2.PdfDocument, number: int) -> str:
    try:
        # The library's arguments are untyped.
        page = cast("Any", document[number].get_textpage())
        return str(page.get_text_bounded()).replace("\r\n", "\n").replace("\x00", "")
    except pypdfium2.PdfiumError:
        return ""


def split(pages: list[str]) -> list[dict[str, Any]]:
    """Split at lines that look like headings."""
    sections: list[dict[str, Any]] = [{"title": BEFORE, "page": 1, "lines": []}]
    for number, text in enumerate(pages, 1):
        for line in text.split("\n"):
            bare = line.strip()
            if is_heading(bare) and len(sections) < MOST_SECTIONS:
                sections.append({"title": bare, "page": number, "lines": []})
            else:
                sections[-1]["lines"].append(line.rstrip())
    made = [{"title": one["title"], "page": one["page"], "text": _joined(one["lines"])} for one in sections]
    return [one for one in made if one["text"] or one["title"] != BEFORE]


def is_heading(line: str) -> bool:
    """Whether it looks like a heading: a number and few words, or a usual name."""
    if not 4 <= len(line) <= 90 or not _HEADING.fullmatch(line) or not _BEGINS.match(line):
        return False
    letters = sum(map(str.isalpha, line))
    return letters >= 4 and letters > len(line) / 2 and not line.endswith((",", "-", ":"))


def _joined(lines: list[str]) -> str:
    """The lines as one text, with words rejoined that were hyphenated at the end of a line."""
    return re.sub(r"(?<=[a-z])[-\u00ad\ufffe]\n(?=[a-z])", "", "\n".join(lines)).strip()


if __name__ == "__main__":
    main()
