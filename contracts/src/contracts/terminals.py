"""WS /terminals/{name} of the tool API: one viewer of a terminal, which is opened if there is none of that name.

Binary messages are typed bytes in one direction, and the output of the terminal's programs in the other. Text messages
are the frames below as JSON. The viewer first receives an `AttachedFrame`, before any bytes. A viewer that falls behind
the kept output receives another one, and continues from there.
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
"""The most viewers of one terminal."""
MAX_TYPED_BYTES = 64 * 1024
"""The largest message of typed bytes."""
MAX_FRAME_CHARACTERS = 1024
"""The longest text message."""
MAX_SENT_BYTES = 256 * 1024
"""The largest message of output."""

Columns = Annotated[int, Field(ge=2, le=500)]
Rows = Annotated[int, Field(ge=1, le=300)]
Offset = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]


class _FromViewer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ResizeFrame(_FromViewer):
    """The size of the viewer's window. The terminal takes the last size that any viewer sent."""

    type: Literal["resize"]
    cols: Columns
    rows: Rows


class AckFrame(_FromViewer):
    """The viewer has shown all bytes before `offset`. A viewer that ever sends this gets no more than a window of bytes
    that it has not acknowledged; any other one gets what its connection accepts."""

    type: Literal["ack"]
    offset: Offset


class AttachedFrame(BaseModel):
    """The next byte has this offset, counted from the terminal's first. A viewer that has shown another number of bytes
    clears its screen first, and shows `modes`: escape sequences for the modes that were on before that byte. `began` is
    the start of the terminal in Unix milliseconds, which distinguishes terminals of the same name."""

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
    """Typed bytes were dropped, as the program does not read."""

    type: Literal["input_dropped"] = "input_dropped"
    bytes: Offset


class BadFrame(BaseModel):
    """A text message of the viewer was not understood, and nothing was done."""

    type: Literal["error"] = "error"
    code: Literal["bad_frame"] = "bad_frame"
    detail: str = Field(max_length=500)


class EndedFrame(BaseModel):
    """The terminal's shell has ended; the socket closes next."""

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
    """One terminal of the sandbox. `is_busy`: a program runs in the foreground."""

    name: str = Field(pattern=NAME)
    cols: Columns
    rows: Rows
    viewers: int = Field(ge=0, le=MAX_VIEWERS)
    is_busy: bool


class CloseCode(IntEnum):
    """Reasons for which the tool API closes the socket."""

    ENDED = 1000
    UNSUPPORTED = 1003
    BAD_FRAMES = 1008
    RESTART = 1012
    UNAUTHENTICATED = 4401
    REFUSED = 4403
    BAD_NAME = 4404
    TOO_SLOW = 4408
    TOO_MANY = 4429
