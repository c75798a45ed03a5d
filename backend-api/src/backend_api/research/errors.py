"""Errors of papers and the records of a corpus.

ResearchDisabledError  this deployment has research turned off
PaperIdInvalidError    a text that is no id of a paper
PaperNotFoundError     no source has a paper of that id
SourcesFailedError     none of the sources has answered
RecordNotFoundError    the corpus has no such record
RecordChangedError     the record was changed since it was read
RecordBusyError        each attempt met another change of the record
RecordInvalidError     an invalid tag or note
CorpusFullError        the corpus has reached its limit of records, or of their characters
ImportInvalidError     the file is no bibliography
"""

from __future__ import annotations

from backend_api.kit.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
    PreconditionError,
    TooLargeError,
    UpstreamError,
)


class ResearchDisabledError(NotFoundError):
    """This deployment has no papers and no corpus."""

    code = "research_disabled"

    def __init__(self) -> None:
        super().__init__("Papers and the corpus are turned off on this server (ENABLE_RESEARCH).")


class PaperIdInvalidError(InvalidError):
    """A text that is no id of a paper."""

    code = "paper_id_invalid"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, field="id")


class PaperNotFoundError(NotFoundError):
    """All sources have answered, and none has a paper of that id."""

    code = "paper_not_found"


class SourcesFailedError(UpstreamError):
    """None of the sources has answered."""

    code = "sources_failed"
    retryable = True


class RecordNotFoundError(NotFoundError):
    """The corpus has no such record."""

    code = "record_not_found"


class RecordChangedError(PreconditionError):
    """The record was changed since it was read."""

    code = "record_changed"


class RecordBusyError(ConflictError):
    """Each attempt met another change of the record."""

    code = "record_busy"


class RecordInvalidError(InvalidError):
    """An invalid tag or note."""

    code = "record_invalid"


class CorpusFullError(TooLargeError):
    """The corpus has reached its limit of records, or of their characters."""

    code = "corpus_full"


class ImportInvalidError(InvalidError):
    """The file is no bibliography that can be read."""

    code = "import_invalid"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, field="body.file")
