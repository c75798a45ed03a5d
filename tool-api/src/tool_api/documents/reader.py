"""Reads documents with the program for their format."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from pydantic import TypeAdapter, ValidationError

from tool_api.documents.kinds import Kind
from tool_api.documents.parts import Asked, RefusedDocumentError
from tool_api.documents.programs import DocumentPrograms, ProgramFailedError

_TOO_HARD = "Reading it takes too long, or more memory than is available. Ask for some of its pages."
_TOO_HARD_PICTURE = "Reading it takes too long, or more memory than is available. Make it smaller first."


@dataclass(frozen=True, slots=True)
class _Output:
    text: str | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture in base64 that models take, and a description of the original."""

    image: str
    media_type: str
    said: str


@dataclass(frozen=True, slots=True)
class _Refusal:
    refused: str


_SAID = TypeAdapter(_Output)
_SHOWN = TypeAdapter[ShownPicture | _Refusal](ShownPicture | _Refusal)


class DocumentReader:
    def __init__(self, programs: DocumentPrograms) -> None:
        self._programs = programs

    async def read(self, document: int, kind: Kind, asked: Asked, within_s: float) -> str:
        """The requested part of the descriptor's document, from its beginning. Raises `RefusedDocumentError`."""
        try:
            output = _SAID.validate_json(
                await self._programs.answer("reading_program", {"kind": kind, **asdict(asked)}, document, within_s)
            )
        except (ProgramFailedError, ValidationError) as error:
            raise RefusedDocumentError(_TOO_HARD) from error
        if output.text is None:
            raise RefusedDocumentError(output.refused or _TOO_HARD)
        return output.text

    async def show(self, picture: int, within_s: float) -> ShownPicture:
        """The picture of the descriptor, no larger than models take it. Raises `RefusedDocumentError`."""
        try:
            shown = _SHOWN.validate_json(await self._programs.answer("picture_program", {}, picture, within_s))
        except (ProgramFailedError, ValidationError) as error:
            raise RefusedDocumentError(_TOO_HARD_PICTURE) from error
        if isinstance(shown, _Refusal):
            raise RefusedDocumentError(shown.refused)
        return shown
