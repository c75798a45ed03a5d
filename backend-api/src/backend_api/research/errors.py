"""What can go wrong with papers and the records of a corpus.

ResearchDisabledError  this deployment has none of it
PaperIdInvalidError    a text that no paper can be named by
PaperNotFoundError     no source has a paper of that id
SourcesFailedError     no source that was asked has answered
RecordNotFoundError    the corpus has no such record
RecordChangedError     the record is not as it was read
RecordBusyError        others changed the record each time
RecordInvalidError     a tag or a note that no record can have
CorpusFullError        the corpus has as many records as it may
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
        super().__init__("This server has no papers and no corpus (ENABLE_RESEARCH).")


class PaperIdInvalidError(InvalidError):
    """A text that no paper can be named by."""

    code = "paper_id_invalid"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, field="id")


class PaperNotFoundError(NotFoundError):
    """All sources that were asked have answered, and none has a paper of that id."""

    code = "paper_not_found"


class SourcesFailedError(UpstreamError):
    """No source that was asked has answered."""

    code = "sources_failed"
    retryable = True


class RecordNotFoundError(NotFoundError):
    """The corpus has no such record."""

    code = "record_not_found"


class RecordChangedError(PreconditionError):
    """The record is not as it was read."""

    code = "record_changed"


class RecordBusyError(ConflictError):
    """Others changed the record each time."""

    code = "record_busy"


class RecordInvalidError(InvalidError):
    """A tag or a note that no record can have."""

    code = "record_invalid"


class CorpusFullError(TooLargeError):
    """The corpus has as many records as it may."""

    code = "corpus_full"


class ImportInvalidError(InvalidError):
    """The file is no bibliography that can be read."""

    code = "import_invalid"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, field="body.file")
