"""What can go wrong with projects of writing and their export.

WritingDisabledError     this deployment has none of it
ProjectNotFoundError     the user has no such project
SectionNotFoundError     the project has no such section
SuggestionNotFoundError  the section has no such suggestion
RevisionNotFoundError    the project has no such revision
ReferenceNotFoundError   the bibliography has no such key
TextChangedError         the text is not as it was read; has the present one
ProjectBusyError         others changed the project each time
WritingInvalidError      a title, a text or a style that no project can have
WritingTooLargeError     over what a section, a project or a user may have
CitationsFailedError     citations do not hold, so nothing is exported
ExportInvalidError       the text is made so that no document comes of it
ExportFailedError        the export was not done within its limits
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
    """This deployment has no projects of writing."""

    code = "writing_disabled"

    def __init__(self) -> None:
        super().__init__("This server has no projects of writing (ENABLE_WRITING).")


class ProjectNotFoundError(NotFoundError):
    """The user has no such project."""

    code = "project_not_found"


class SectionNotFoundError(NotFoundError):
    """The project has no such section."""

    code = "section_not_found"


class SuggestionNotFoundError(NotFoundError):
    """The section has no such suggestion: it was decided, or another one is there now."""

    code = "suggestion_not_found"


class RevisionNotFoundError(NotFoundError):
    """The project has no such revision."""

    code = "revision_not_found"


class ReferenceNotFoundError(NotFoundError):
    """The bibliography has no such key."""

    code = "reference_not_found"


class TextChangedError(PreconditionError):
    """It is not as it was read. `present` is the text that is there, `etag` that of it, and `difference` what changed
    since it was read, as a unified diff; empty where the text that was read is not known."""

    code = "text_changed"

    def __init__(self, detail: str, *, present: str, etag: str, difference: str = "") -> None:
        super().__init__(detail)
        self.present = present
        self.etag = etag
        self.difference = difference


class ProjectBusyError(ConflictError):
    """Others changed the project each time."""

    code = "project_busy"


class WritingInvalidError(InvalidError):
    """A title, a text or a style that no project can have."""

    code = "writing_invalid"


class WritingTooLargeError(TooLargeError):
    """Over what a section, a project or a user may have."""

    code = "writing_too_large"


class CitationsFailedError(ConflictError):
    """Citations do not hold. `findings` says which."""

    code = "citations_failed"

    def __init__(self, detail: str, findings: Sequence[Any]) -> None:
        super().__init__(detail)
        self.findings = findings


class ExportInvalidError(InvalidError):
    """The text is made so that no document comes of it."""

    code = "export_invalid"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, field="sections")


class ExportFailedError(UnavailableError):
    """The export was not done within its limits of time and memory."""

    code = "export_failed"
