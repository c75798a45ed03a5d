"""Refusals of calls, and the answers to them."""

from __future__ import annotations

_LONGEST = 300


class Refused(Exception):
    """The call is refused. The text is shown to the caller, in Docker's form of an error."""

    def __init__(self, reason: str, status: int = 403) -> None:
        shown = reason[:_LONGEST].encode("ascii", "backslashreplace").decode()
        super().__init__(f"engine filter: {shown}")
        self.status = status


class AnsweredError(Exception):
    """The engine itself refused; its status and text are passed on."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"the engine answered {status}")
        self.status, self.body = status, body
