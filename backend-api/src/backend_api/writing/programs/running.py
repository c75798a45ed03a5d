"""Documents made by a separate process, with pandoc and Typst, with limits of time and memory."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Literal, TypeVar

import pypandoc
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core import to_json

from backend_api.kit.untrusted.shares import Shares
from backend_api.writing.errors import ExportFailedError, ExportInvalidError
from backend_api.writing.ports import Format, Rendering, UnusableFigure
from backend_api.writing.programs.folders import work_folder
from service_kit.programs import ProgramStart, TooMuchOutputError, run_program

AT_ONCE = 2
"""The most at once in this process."""
AT_ONCE_OF_ONE = 1
"""The most of them for one user, so that others get their turn."""
WITHIN_S = 60.0
WAIT_S = 60.0
MAX_BYTES = 128 * 1024**2
MAX_ANSWER_BYTES = 1024**2
"""The most bytes of the process's answer; the document is a file."""
_PROGRAM = Path(__file__).parent / "export_program.py"
_ENDINGS: Sequence[tuple[bytes, str]] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF8", "gif"),
    (b"RIFF", "webp"),
)
_SVG = re.compile(
    rb"^\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)*(?:<!DOCTYPE[^>]{0,300}>\s*)?<svg[\s>]", re.DOTALL
)
_BUSY = "Other documents are being exported. Try again in a moment."
_MISSING = "This server lacks {program}, which makes this document. Ask its operator to install it."
_TOO_LONG = "The document exceeded its time or memory limit. Divide it, or leave out large figures."


class _Made(BaseModel):
    file: str = ""
    reason: str = ""
    unusable: dict[str, Literal["linked", "damaged"]] = Field(default_factory=dict[str, Literal["linked", "damaged"]])


_MADE = TypeAdapter(_Made)
_T = TypeVar("_T")


class ExportPrograms:
    """`Renderer`."""

    def __init__(self, within_s: float = WITHIN_S) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)
        self._shares = Shares(AT_ONCE_OF_ONE)
        self._within_s = within_s
        self._pandoc = _pandoc()

    def missing_for(self, form: Format) -> str | None:
        """The program without which no document of this form can be made here; None if all are there."""
        if not self._pandoc:
            return "pandoc"
        return "Typst" if form == "pdf" and importlib.util.find_spec("typst") is None else None

    async def render(self, wanted: Rendering) -> bytes:
        """See the port. Cancelling kills the process that is at work, and removes its files."""
        if missing := self.missing_for(wanted.format):
            raise ExportFailedError(_MISSING.format(program=missing))
        async with self._folder(wanted.owner) as folder:
            made = await self._made(_lay_out, wanted, folder)
            if not made.file:
                raise ExportInvalidError(_TOO_LONG)
            file = folder / Path(made.file).name
            if file.stat().st_size > MAX_BYTES:
                raise ExportInvalidError(
                    f"The document has more than {MAX_BYTES // 1024**2} MB. Leave out large figures."
                )
            return await asyncio.to_thread(file.read_bytes)

    async def unusable(self, owner: str, figures: Mapping[str, bytes]) -> Mapping[str, UnusableFigure]:
        """See the port."""
        if not figures:
            return {}
        async with self._folder(owner) as folder:
            return (await self._made(_lay_out_figures, figures, folder)).unusable

    @asynccontextmanager
    async def _folder(self, owner: str) -> AsyncGenerator[Path]:
        """A place among those that are at work, with a folder of its own."""
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(WAIT_S):
                    await held.enter_async_context(self._shares.of(owner))
                    await held.enter_async_context(self._places)
            except TimeoutError as error:
                raise ExportFailedError(_BUSY) from error
            folder = work_folder()
            path = await asyncio.to_thread(folder.__enter__)
            try:
                yield path
            finally:
                await asyncio.shield(asyncio.to_thread(folder.__exit__, None, None, None))

    async def _made(self, lay_out: Callable[[_T, Path], dict[str, object]], wanted: _T, folder: Path) -> _Made:
        asked = await asyncio.to_thread(lay_out, wanted, folder)
        output = await self._run({**asked, "pandoc": self._pandoc}, folder)
        try:
            made = _MADE.validate_json(output)
        except ValidationError as error:
            raise ExportFailedError(_TOO_LONG) from error
        if made.reason:
            raise ExportInvalidError(made.reason)
        return made

    async def _run(self, asked: Mapping[str, object], folder: Path) -> bytes:
        start = ProgramStart(
            command=(sys.executable, "-I", _PROGRAM),
            environment={"LANG": "C.UTF-8", "HOME": str(folder)},
            folder=folder,
            stdin=PIPE,
        )
        try:
            # The kill of its process group includes pandoc, its child.
            output = await run_program(
                start, within_s=self._within_s, max_bytes=MAX_ANSWER_BYTES, text=to_json(asked) + b"\n"
            )
        except (TimeoutError, TooMuchOutputError) as error:
            raise ExportFailedError(_TOO_LONG) from error
        return output.data


def _pandoc() -> str:
    """Empty where it is not installed: all else of the gateway does without it."""
    try:
        return pypandoc.get_pandoc_path()
    except OSError:
        return ""


def _lay_out(wanted: Rendering, folder: Path) -> dict[str, object]:
    """Write its input files; returns the request for the program."""
    sections = list[str]()
    for number, text in enumerate(wanted.sections):
        name = f"s{number}.md"
        (folder / name).write_text(text, encoding="utf-8")
        sections.append(name)
    (folder / "style.csl").write_text(wanted.csl, encoding="utf-8")
    return {
        **_lay_out_figures(wanted.figures, folder),
        "format": wanted.format,
        "title": wanted.title,
        "authors": list(wanted.authors),
        "language": wanted.language,
        "sections": sections,
        "references": list(wanted.references),
        "biblatex": wanted.biblatex,
        "unusable": dict(wanted.unusable),
        "marked": dict(wanted.marked),
        "is_preview": wanted.is_preview,
        "is_numbered": wanted.is_numbered,
        "is_talk": wanted.is_talk,
        "words": wanted.words or wanted.language,
    }


def _lay_out_figures(wanted: Mapping[str, bytes], folder: Path) -> dict[str, object]:
    (folder / "figures").mkdir()
    figures = dict[str, str]()
    for path, content in wanted.items():
        if ending := picture_ending(content):
            figures[path] = f"figures/{len(figures) + 1}.{ending}"
            (folder / figures[path]).write_bytes(content)
    return {"format": "figures", "figures": figures}


def picture_ending(content: bytes) -> str:
    """The file ending by the first bytes; empty if it is not a picture that all formats accept."""
    found = next((ending for begin, ending in _ENDINGS if content.startswith(begin)), "")
    return found or ("svg" if _SVG.match(content[:4096]) else "")
