"""Errors of writing projects and their export.

WritingDisabledError     this deployment has writing turned off
ProjectNotFoundError     the user has no such project
SectionNotFoundError     the project has no such section
SuggestionNotFoundError  the section has no such suggestion
RevisionNotFoundError    the project has no such revision
ReferenceNotFoundError   the bibliography has no such key
TextChangedError         the text was changed since it was read; has the present one
ProjectBusyError         each attempt met another change of the project
WritingInvalidError      an invalid title, text or style
WritingTooLargeError     over the limit of a section, a project or a user
CitationsFailedError     some citations are not valid, so nothing is exported
ExportInvalidError       no document can be made of the text
ExportFailedError        the export exceeded its limits
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend_api.kit.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
    PreconditionError,
    TooLargeError,
    UnavailableError,
)


class WritingDisabledError(NotFoundError):
    """This deployment has no writing projects."""

    code = "writing_disabled"

    def __init__(self) -> None:
        super().__init__("Writing projects are turned off on this server (ENABLE_WRITING).")


class ProjectNotFoundError(NotFoundError):
    """The user has no such project."""

    code = "project_not_found"


class SectionNotFoundError(NotFoundError):
    """The project has no such section."""

    code = "section_not_found"


class SuggestionNotFoundError(NotFoundError):
    """The section has no such suggestion: it was decided already, or was replaced."""

    code = "suggestion_not_found"


class RevisionNotFoundError(NotFoundError):
    """The project has no such revision."""

    code = "revision_not_found"


class ReferenceNotFoundError(NotFoundError):
    """The bibliography has no such key."""

    code = "reference_not_found"


class TextChangedError(PreconditionError):
    """The part was changed since it was read. `present` is its present text, `etag` that of it, and `difference` the
    changes since it was read, as a unified diff; empty if the text that was read is not known."""

    code = "text_changed"

    def __init__(self, detail: str, *, present: str, etag: str, difference: str = "") -> None:
        super().__init__(detail)
        self.present = present
        self.etag = etag
        self.difference = difference


class ProjectBusyError(ConflictError):
    """Each attempt met another change of the project."""

    code = "project_busy"


class WritingInvalidError(InvalidError):
    """An invalid title, text or style."""

    code = "writing_invalid"


class WritingTooLargeError(TooLargeError):
    """The limit of a section, a project or a user is exceeded."""

    code = "writing_too_large"


class CitationsFailedError(ConflictError):
    """Some citations are not valid. `findings` lists them."""

    code = "citations_failed"

    def __init__(self, detail: str, findings: Sequence[Any]) -> None:
        super().__init__(detail)
        self.findings = findings


class ExportInvalidError(InvalidError):
    """No document can be made of the text."""

    code = "export_invalid"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, field="sections")


class ExportFailedError(UnavailableError):
    """The export exceeded its limits of time and memory, or this server lacks a program for it."""

    code = "export_failed"
