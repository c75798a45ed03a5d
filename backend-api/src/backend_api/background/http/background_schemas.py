"""Bodies of background commands."""

from __future__ import annotations

from typing import Literal

from backend_api.background.domain import BackgroundCommand
from backend_api.kit.http.schemas import AnswerBody, Time


class BackgroundCommandBody(AnswerBody):
    """`state` is running, or how it ended: by itself (ended), at its time-out (timed_out), stopped by a person or the
    agent (stopped), or lost with its sandbox (lost). `exit_code` is null unless it ended by itself."""

    background_id: str
    call_id: str
    command: str
    state: Literal["running", "ended", "timed_out", "stopped", "lost"]
    exit_code: int | None
    preview: str
    timeout_s: int
    began_at: Time
    ended_at: Time | None

    @classmethod
    def of(cls, command: BackgroundCommand) -> BackgroundCommandBody:
        return cls(
            background_id=command.id,
            call_id=command.call_id,
            command=command.command,
            state=command.state or "running",
            exit_code=command.exit_code,
            preview=command.preview,
            timeout_s=command.timeout_s,
            began_at=command.began_at,
            ended_at=command.ended_at,
        )


class BackgroundCommandsBody(AnswerBody):
    """The running ones first, then those that ended last."""

    items: list[BackgroundCommandBody]


class BackgroundOutputBody(BackgroundCommandBody):
    """A command with its output so far; for one that has ended, at most 2,000 characters: the whole is the body of its
    event `background.finished`."""

    output: str
