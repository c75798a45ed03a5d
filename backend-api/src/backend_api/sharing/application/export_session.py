"""Exporting a conversation to a file."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import zipfile
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

from backend_api.agent.shown_order import Reordered
from backend_api.conversations.domain.entity import Session
from backend_api.conversations.ports import EventLog, SessionRepository
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.stored_time import format_time
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.domain.table import LANGUAGE
from backend_api.sharing.application.owner_mask import Hiding, OwnerMask
from backend_api.sharing.domain.errors import NoPdfError, SharedFilesTooLargeError, TooLongToPrintError
from backend_api.sharing.domain.markdown import (
    CHINESE,
    ENGLISH,
    Words,
    is_cut_short,
    language_of,
    markdown_of,
    printed_of,
)
from backend_api.sharing.domain.shown import Fields, shown_fields
from backend_api.sharing.ports import NameRecords, PrintTalk, WorkspaceArchive

ExportFormat = Literal["md", "json", "pdf", "zip"]
ExportLanguage = Literal["en", "zh"]
PAGE = 500
PAGE_BYTES = 1_000_000
MOST_PRINTED_CHARACTERS = 700_000
"""About 200 pages: what is set within the time and memory that there is for it."""
MOST_ZIP_BYTES = 512 * 1024 * 1024
_PIECE_BYTES = 64 * 1024
_IN_MEMORY_BYTES = 8 * 1024 * 1024
_MOST_DIRECTORY_BYTES = 4 * 1024 * 1024
_END_BYTES = 22
_END, _LOCATOR = b"PK\x05\x06", b"PK\x06\x07"


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A file that is being written."""

    name: str
    media_type: str
    pieces: AsyncGenerator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSession:
    """Secrets are masked as in shared conversations. Raises `SessionNotFoundError`, and before the first byte for a zip
    what the workspace raises and `SharedFilesTooLargeError`, for a PDF `NoPdfError`, `TooLongToPrintError` and what
    `PrintTalk` raises."""

    sessions: SessionRepository
    log: EventLog
    owner_mask: OwnerMask
    open_settings: OpenSettings
    print_talk: PrintTalk | None = None
    name_records: NameRecords | None = None

    async def __call__(
        self,
        session_id: SessionId,
        user_id: UserId,
        wanted: ExportFormat,
        include: frozenset[str],
        workspace: WorkspaceArchive,
        *,
        language: ExportLanguage | None = None,
        otherwise: ExportLanguage = "en",
    ) -> Export:
        """Export the whole conversation as it is now, with the parts to include. Our own words in it are in `language`,
        else in that of the user's settings, else in the one `otherwise`."""
        session = await self.sessions.get(session_id, user_id)
        settings = await self.open_settings(user_id)
        hiding = self.owner_mask.of(settings)
        words = CHINESE if (language or settings.value(LANGUAGE) or otherwise) == "zh" else ENGLISH
        name = _file_name(session)
        if wanted == "md":
            markdown = self._markdown(session, include, hiding, words)
            return Export(name=f"{name}.md", media_type="text/markdown; charset=utf-8", pieces=markdown)
        if wanted == "json":
            return Export(
                name=f"{name}.json", media_type="application/json", pieces=self._json(session, include, hiding)
            )
        if wanted == "pdf":
            return Export(
                name=f"{name}.pdf",
                media_type="application/pdf",
                pieces=_pieces(await self._pdf(session, include, hiding, words)),
            )
        file = await self._zip(session, include, hiding, words, workspace)
        return Export(name=f"{name}.zip", media_type="application/zip", pieces=_sent(file))

    async def _shown(self, session: Session, include: frozenset[str], hiding: Hiding) -> AsyncGenerator[Fields]:
        """In the order in which the conversation is shown."""
        after, path, order = 0, await self.log.path(session.id, up_to=session.last_seq), Reordered[Fields]()
        while after < session.last_seq:
            events = await self.log.read(session.id, after=after, limit=PAGE, most=PAGE_BYTES, path=path)
            if not events:
                break
            after = events[-1].seq or 0
            for event in events:
                if (event.seq or 0) <= session.last_seq:
                    for fields in order.add(event, shown_fields(event, include)):
                        yield hiding.value(fields)
        for fields in order.rest():
            yield hiding.value(fields)

    async def _read_elsewhere(
        self, session: Session, include: frozenset[str], hiding: Hiding
    ) -> AsyncGenerator[tuple[Fields, bool]]:
        """Those of `_shown` that have a text, each with whether it is an answer that was interrupted, and with titles
        in place of the ids of papers in what the agent says."""
        last: Fields | None = None
        async for fields in self._shown(session, include, hiding):
            if not markdown_of(fields):
                continue
            if last is not None:
                yield last, is_cut_short(last, fields)
            last = fields
            if self.name_records is not None and fields["type"] == "message.completed":
                last = {**fields, "text": await self.name_records(session.user_id, fields["text"])}
        if last is not None:
            yield last, False

    async def _markdown(
        self, session: Session, include: frozenset[str], hiding: Hiding, words: Words
    ) -> AsyncGenerator[bytes]:
        yield f"# {hiding.text(session.title).strip() or words.untitled}\n".encode()
        async for fields, is_cut in self._read_elsewhere(session, include, hiding):
            yield f"\n{markdown_of(fields, words, is_cut=is_cut)}\n".encode("utf-8", "replace")

    async def _json(self, session: Session, include: frozenset[str], hiding: Hiding) -> AsyncGenerator[bytes]:
        head = {
            "id": session.id,
            "title": hiding.text(session.title),
            "created_at": format_time(session.created_at),
            "model": session.model,
        }
        yield json.dumps({"session": head})[:-1].encode() + b', "events": ['
        separator = b"\n"
        async for fields in self._shown(session, include, hiding):
            yield separator + json.dumps(fields, ensure_ascii=True).encode()
            separator = b",\n"
        yield b"\n]}\n"

    async def _pdf(self, session: Session, include: frozenset[str], hiding: Hiding, words: Words) -> bytes:
        if self.print_talk is None:
            raise NoPdfError
        sections, length = list[str](), 0
        async for fields, is_cut in self._read_elsewhere(session, include, hiding):
            sections.append(printed_of(fields, words, is_cut=is_cut))
            length += len(sections[-1])
            if length > MOST_PRINTED_CHARACTERS:
                raise TooLongToPrintError(
                    "The conversation is too long for a PDF. Save it as Markdown, or without what the tools did.",
                    limit_bytes=MOST_PRINTED_CHARACTERS,
                )
        title = hiding.text(session.title).strip() or words.untitled
        return await self.print_talk(
            owner=session.user_id,
            title=title,
            language=language_of("".join(sections)),
            words=words.language,
            sections=sections or [""],
        )

    async def _zip(
        self,
        session: Session,
        include: frozenset[str],
        hiding: Hiding,
        words: Words,
        workspace: WorkspaceArchive,
    ) -> BinaryIO:
        file: BinaryIO = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # type: ignore[assignment]  # noqa: SIM115 -- whoever reads it closes it
        try:
            if session.sandbox is not None:
                await _fill(file, workspace.pieces(session.id, session.user_id))
            texts = {
                "conversation.md": await _whole(self._markdown(session, include, hiding, words)),
                "conversation.json": await _whole(self._json(session, include, hiding)),
            }
            return await asyncio.to_thread(_with_texts, file, texts)
        except BaseException:
            file.close()
            raise


def _file_name(session: Session) -> str:
    words = "".join(char if char.isalnum() else " " for char in session.title).split()
    return "-".join(words)[:80] or "conversation"


async def _whole(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


async def _fill(file: BinaryIO, pieces: AsyncIterator[bytes]) -> None:
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > MOST_ZIP_BYTES:
            raise SharedFilesTooLargeError(
                "The files of this conversation are more than 512 MB, compressed. Download them separately.",
                limit_bytes=MOST_ZIP_BYTES,
            )
        await asyncio.to_thread(file.write, piece)


def _with_texts(file: BinaryIO, texts: dict[str, bytes]) -> BinaryIO:
    """The archive of the workspace with these texts beside its files. An unusual archive, which only a sandbox makes,
    is passed on unchanged: reading its directory could take any amount of memory."""
    size = file.seek(0, os.SEEK_END)
    if size and not _is_plain(file, size):
        whole: BinaryIO = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # type: ignore[assignment]  # noqa: SIM115 -- whoever reads it closes it
        file.seek(0)
        with zipfile.ZipFile(whole, "w") as archive, archive.open("workspace.zip", "w", force_zip64=True) as inner:
            while piece := file.read(_PIECE_BYTES):
                inner.write(piece)
        file.close()
        file = whole
    file.seek(0)
    with zipfile.ZipFile(file, "a" if file.seek(0, os.SEEK_END) else "w", zipfile.ZIP_DEFLATED) as archive:
        taken = set(archive.namelist())
        for name, text in texts.items():
            archive.writestr(_free_name(name, taken), text)
    return file


def _is_plain(file: BinaryIO, size: int) -> bool:
    file.seek(max(size - _END_BYTES - 20, 0))
    tail = file.read()
    end = tail[-_END_BYTES:]
    if len(end) < _END_BYTES or not end.startswith(_END) or end[-2:] != b"\0\0" or tail.startswith(_LOCATOR):
        return False
    directory, start = int.from_bytes(end[12:16], "little"), int.from_bytes(end[16:20], "little")
    return directory <= _MOST_DIRECTORY_BYTES and directory + start + _END_BYTES == size


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"_{name}"
    return name


async def _pieces(content: bytes) -> AsyncGenerator[bytes]:
    for begin in range(0, len(content), _PIECE_BYTES):
        yield content[begin : begin + _PIECE_BYTES]


async def _sent(file: BinaryIO) -> AsyncGenerator[bytes]:
    try:
        await asyncio.to_thread(file.seek, 0)
        while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
            yield piece
    finally:
        file.close()
