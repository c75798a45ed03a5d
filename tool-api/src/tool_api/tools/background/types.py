"""Arguments of the background tools."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from contracts.tools import BACKGROUND_TIMEOUT_S, MAX_BACKGROUND_TIMEOUT_S
from tool_api.tools.shell.types import without_nul
from tool_api.tools.tool import Arguments

MAX_WAIT_S = 60
BackgroundId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Id that background_run returned.")]


class BackgroundRun(Arguments):
    """Start a command in the background."""

    command: Annotated[str, AfterValidator(without_nul)] = Field(
        min_length=1, max_length=100_000, description="Bash command line or script."
    )
    timeout_s: int = Field(
        default=BACKGROUND_TIMEOUT_S,
        ge=1,
        le=MAX_BACKGROUND_TIMEOUT_S,
        description="Seconds after which it is ended with all it started.",
    )
    background_id: BackgroundId | None = Field(
        default=None, description="An id to know it by; one that is in use already starts nothing."
    )


class CheckBackground(Arguments):
    """Look at a background command."""

    background_id: BackgroundId
    wait_s: int = Field(default=0, ge=0, le=MAX_WAIT_S, description="Seconds to wait for its end.")


class BackgroundStop(Arguments):
    """End a background command."""

    background_id: BackgroundId
