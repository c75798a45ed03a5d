"""Reads documents by the program for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from pydantic import TypeAdapter, ValidationError

from tool_api.documents.kinds import Kind
from tool_api.documents.parts import Asked, RefusedDocumentError
from tool_api.documents.programs import DocumentPrograms, ProgramFailedError

_TOO_HARD = "Reading it takes too long, or more memory than there is for that. Ask for some of its pages."
_OLD = (
    "It is a document of an old Office format, or one with a password. Ask for a copy as .docx, .xlsx or .pptx without "
    "one, or turn it into one by a program such as LibreOffice, if there is one."
)


@dataclass(frozen=True, slots=True)
class _Output:
    text: str | None = None
    refused: str | None = None


_SAID = TypeAdapter(_Output)


class DocumentReader:
    def __init__(self, programs: DocumentPrograms) -> None:
        self._programs = programs

    async def read(self, document: int, kind: Kind, asked: Asked, within_s: float) -> str:
        """The part asked for of what the descriptor holds, from its beginning. Raises `RefusedDocumentError`."""
        if kind is Kind.OLD_OFFICE:
            raise RefusedDocumentError(_OLD)
        try:
            output = _SAID.validate_json(
                await self._programs.answer("reading_program", {"kind": kind, **asdict(asked)}, document, within_s)
            )
        except (ProgramFailedError, ValidationError) as error:
            raise RefusedDocumentError(_TOO_HARD) from error
        if output.text is None:
            raise RefusedDocumentError(output.refused or _TOO_HARD)
        return output.text
