"""WS /terminals/{name} of the tool API: one viewer of a terminal, which is opened if there is none of that name.

Binary messages are the bytes that are typed, and those that the terminal's programs write. Text messages are the frames
below as JSON. The first one the viewer is sent is `AttachedFrame`, before any bytes. A viewer that falls behind what is
kept is sent another one, and goes on from there.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from contracts.tools import LARGEST_NUMBER

PATH = "/terminals"
NAME = r"^[a-z0-9][a-z0-9-]{0,31}$"
MAX_TERMINALS = 8
MAX_VIEWERS = 8
"""Of one terminal."""
MAX_TYPED_BYTES = 64 * 1024
"""Of one message."""
MAX_FRAME_CHARACTERS = 1024
"""Of one text message."""
MAX_SENT_BYTES = 256 * 1024
"""Of one message with output."""

Columns = Annotated[int, Field(ge=2, le=500)]
Rows = Annotated[int, Field(ge=1, le=300)]
Offset = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]


class _FromViewer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ResizeFrame(_FromViewer):
    """The size of the viewer's window. The terminal takes the size that any viewer named last."""

    type: Literal["resize"]
    cols: Columns
    rows: Rows


class AckFrame(_FromViewer):
    """The viewer has shown all bytes before `offset`. One that ever sends this is never sent more than a window of
    bytes that it has not acknowledged; another one is sent what its connection takes."""

    type: Literal["ack"]
    offset: Offset


class AttachedFrame(BaseModel):
    """The next byte has this offset, counted from the terminal's first. A viewer that has shown another number of bytes
    clears its screen first, and shows `modes`: escape sequences for what was switched on before that byte. `began` is
    the start of the terminal in Unix milliseconds, which tells those of the same name apart."""

    type: Literal["attached"] = "attached"
    offset: Offset
    cols: Columns
    rows: Rows
    began: Offset
    modes: str = Field(default="", max_length=500)


class SizeFrame(BaseModel):
    """The terminal has another size."""

    type: Literal["size"] = "size"
    cols: Columns
    rows: Rows


class InputDroppedFrame(BaseModel):
    """So many typed bytes were dropped: the program does not read."""

    type: Literal["input_dropped"] = "input_dropped"
    bytes: Offset


class BadFrame(BaseModel):
    """A text message of the viewer was not understood, and nothing was done."""

    type: Literal["error"] = "error"
    code: Literal["bad_frame"] = "bad_frame"
    detail: str = Field(max_length=500)


class EndedFrame(BaseModel):
    """Its shell has ended; the socket is closed next."""

    type: Literal["ended"] = "ended"
    exit_code: int = Field(ge=-(2**31), le=2**31)


ViewerFrame = Annotated[ResizeFrame | AckFrame, Field(discriminator="type")]
TerminalFrame = Annotated[
    AttachedFrame | SizeFrame | InputDroppedFrame | BadFrame | EndedFrame, Field(discriminator="type")
]
VIEWER_FRAME: TypeAdapter[ResizeFrame | AckFrame] = TypeAdapter(ViewerFrame)
TERMINAL_FRAME: TypeAdapter[AttachedFrame | SizeFrame | InputDroppedFrame | BadFrame | EndedFrame] = TypeAdapter(
    TerminalFrame
)


class TerminalEntry(BaseModel):
    """One terminal of the sandbox. `is_busy` says that a program runs in the foreground."""

    name: str = Field(pattern=NAME)
    cols: Columns
    rows: Rows
    viewers: int = Field(ge=0, le=MAX_VIEWERS)
    is_busy: bool


class CloseCode(IntEnum):
    """Why the tool API closes the socket."""

    ENDED = 1000
    UNSUPPORTED = 1003
    BAD_FRAMES = 1008
    RESTART = 1012
    UNAUTHENTICATED = 4401
    REFUSED = 4403
    BAD_NAME = 4404
    TOO_SLOW = 4408
    TOO_MANY = 4429
