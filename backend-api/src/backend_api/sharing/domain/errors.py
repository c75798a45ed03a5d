"""Errors of shared conversations."""

from __future__ import annotations

from backend_api.kit.errors import (
    ConflictError,
    ForbiddenError,
    GoneError,
    LimitError,
    NotFoundError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
)


class SharingDisabledError(ForbiddenError):
    """This deployment does not allow sharing."""

    code = "sharing_disabled"

    def __init__(self) -> None:
        super().__init__("Share links are turned off on this server (ENABLE_SHARING).")


class ShareNotFoundError(NotFoundError):
    """There is no such link: it never existed, was revoked, its conversation was deleted, or its owner's account was
    closed."""

    code = "share_not_found"

    def __init__(self) -> None:
        super().__init__("This link does not work: it is incomplete, was revoked, or its conversation was deleted.")


class ShareExpiredError(GoneError):
    """The link has expired."""

    code = "share_expired"

    def __init__(self) -> None:
        super().__init__("This link has expired. Ask whoever sent it for a new one.")


class PassphraseRequiredError(UnauthenticatedError):
    """The link has a passphrase, which was not given yet, or too long ago."""

    code = "passphrase_required"

    def __init__(self) -> None:
        super().__init__("This link has a passphrase. Enter it to read the conversation.")


class PassphraseWrongError(ForbiddenError):
    """The passphrase is wrong."""

    code = "passphrase_wrong"

    def __init__(self) -> None:
        super().__init__("The passphrase is wrong.")


class TooManySharesError(ConflictError):
    """The user has reached the limit of links."""

    code = "share_quota"

    def __init__(self, most: int) -> None:
        super().__init__(f"You have {most} links, which is the maximum. Revoke some first.")


class SharedFilesTooLargeError(TooLargeError):
    """The files of the workspace are too large for a link."""

    code = "shared_files_too_large"


class TooManyReadersError(LimitError):
    """The conversation has reached the limit of readers."""

    code = "too_many_readers"


class TooLongToPrintError(TooLargeError):
    """The conversation is more than a PDF is made of."""

    code = "too_long_to_print"


class NoPdfError(UnavailableError):
    """The server is without what makes a PDF."""

    code = "no_pdf"

    def __init__(self) -> None:
        super().__init__("This server makes no PDF. Save the conversation as Markdown.")
