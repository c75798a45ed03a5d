"""The readable text of a fetched answer: a page as Markdown, text as it is."""

from __future__ import annotations

import asyncio
import codecs
import json
import re
import sys
from asyncio.subprocess import PIPE
from dataclasses import dataclass
from pathlib import Path

from chardetng_py.detector import EncodingDetector
from pydantic import BaseModel, TypeAdapter, ValidationError

from backend_api.kit.untrusted.guarded_client import Fetched
from backend_api.kit.untrusted.resolver import owner_of_lookups
from backend_api.kit.untrusted.shares import Shares
from service_kit.programs import ProgramStart, TooMuchOutputError, run_program

MAX_TEXT_CHARACTERS = 1_000_000
AT_ONCE = 3
"""The most conversion processes at once, each of which has limits of its own."""
AT_ONCE_OF_OWNER = 2
WITHIN_S = 8.0
MAX_ANSWER_BYTES = 32 * 1024 * 1024
_PROGRAM = Path(__file__).with_name("markdown_program.py")
_PAGES = ("text/html", "application/xhtml+xml")
_TEXTS = re.compile(
    r"text/.*|application/(.*\+)?(json|xml)|application/(x-)?(javascript|ecmascript|yaml|toml|ndjson|jsonlines|sql|sh)"
)
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w-]{1,40})|<\?xml[^>]{0,100}?encoding=[\"']([\w-]{1,40})"
)
_CHARSETS = re.compile(
    r"utf-(8|16|16-le|16-be)|ascii|iso8859-\d+|cp125\d|cp949|gb2312|gbk|gb18030|big5(hkscs)?|shift_jis|cp932|euc_jp|euc_kr"
    r"|iso2022_jp|koi8-[ru]|mac-roman|tis-620"
)
"""Encodings of the web, by Python's names: some of the others take very long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """`length` is that of the whole text, of which `text` may be the beginning."""

    title: str = ""
    text: str
    length: int
    is_markdown: bool = False


class UnreadableError(Exception):
    """The content can't be read as text; the message gives the reason."""


class _Parsed(BaseModel):
    title: str
    text: str
    length: int


_MADE = TypeAdapter(_Parsed)


class PageReader:
    def __init__(self, *, within_s: float = WITHIN_S) -> None:
        self._within_s = within_s
        self._programs = asyncio.Semaphore(AT_ONCE)
        self._shares = Shares(AT_ONCE_OF_OWNER)

    async def read(self, fetched: Fetched) -> PageText:
        """Read the text. Cancelling kills the process that is at work. Raises `UnreadableError`."""
        media_type = fetched.media_type or _guess_type(fetched.content)
        if media_type not in _PAGES and not _TEXTS.fullmatch(media_type):
            raise UnreadableError(f"Unsupported content type {media_type[:80]}: only pages and text can be read.")
        text = _decoded(fetched)
        if media_type not in _PAGES:
            return PageText(text=text[:MAX_TEXT_CHARACTERS], length=len(text))
        try:
            async with self._shares.of(owner_of_lookups()), self._programs:
                made = await _run(text, fetched.url, self._within_s)
        except TimeoutError as error:
            raise UnreadableError("Reading the page took too long.") from error
        return PageText(title=made.title, text=made.text, length=made.length, is_markdown=True)


async def _run(page: str, url: str, within_s: float) -> _Parsed:
    asked = json.dumps({"url": url, "characters": MAX_TEXT_CHARACTERS}).encode()
    start = ProgramStart(command=(sys.executable, "-I", _PROGRAM), stdin=PIPE)
    text = asked + b"\n" + page.encode("utf-8", "replace")
    try:
        output = await run_program(start, within_s=within_s, max_bytes=MAX_ANSWER_BYTES, text=text)
        return _MADE.validate_json(output.data)
    except (TooMuchOutputError, ValidationError) as error:
        raise UnreadableError("The page could not be parsed.") from error


def _guess_type(content: bytes) -> str:
    """The media type by the content, if a server sends none."""
    start = content[:1024].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    return "application/octet-stream" if b"\0" in content[:1024] else "text/plain"


def _decoded(fetched: Fetched) -> str:
    """Decode by the server's encoding, else by the page's own, else as UTF-8."""
    declared = _DECLARED.search(fetched.content[:1024])
    charsets = (fetched.charset, *(part.decode() for part in (declared.groups() if declared else ()) if part))
    charset = next(filter(None, map(_known_charset, charsets)), None) or _guessed_charset(fetched.content)
    return fetched.content.decode(charset, "replace").removeprefix("\ufeff").replace("\0", "")


def _guessed_charset(content: bytes) -> str:
    """The encoding of a page that declares none: UTF-8 if it is valid, else a browser's guess."""
    try:
        # It may be cut in the middle of a character.
        codecs.getincrementaldecoder("utf-8")().decode(content)
    except UnicodeDecodeError:
        detector = EncodingDetector()
        detector.feed(content, last=True)
        return _known_charset(detector.guess(tld=None, allow_utf8=False)) or "utf-8"
    return "utf-8"


def _known_charset(charset: str) -> str | None:
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        return None
    return name if _CHARSETS.fullmatch(name) else None
