"""What is not let through, and how the refusal is answered."""

from __future__ import annotations

_LONGEST = 300


class Refused(Exception):
    """The call goes no further. The text is shown to who made it, in Docker's form of an error."""

    def __init__(self, reason: str, status: int = 403) -> None:
        shown = reason[:_LONGEST].encode("ascii", "backslashreplace").decode()
        super().__init__(f"engine filter: {shown}")
        self.status = status


class AnsweredError(Exception):
    """The engine itself said no; its status and words are passed on."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"the engine answered {status}")
        self.status, self.body = status, body
