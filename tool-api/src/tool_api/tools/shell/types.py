"""Arguments of the shell tools."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from tool_api.tools.tool import Arguments

MAX_TIMEOUT_S = 600


def without_nul(text: str) -> str:
    """The text, refused if it has NUL characters, which Bash can't take."""
    if "\0" in text:
        raise ValueError("must not contain NUL characters")
    return text


DEFAULT_SHELL = "main"
ShellName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,32}$", description="Name of the shell.")]


class ShellExec(Arguments):
    """Run a command in a named shell."""

    command: Annotated[str, AfterValidator(without_nul)] = Field(
        min_length=1, max_length=100_000, description="Bash command line or script."
    )
    shell: ShellName = DEFAULT_SHELL
    timeout_s: int | None = Field(default=None, ge=1, le=MAX_TIMEOUT_S, description="Seconds to wait for its end.")
    keep_running: bool = Field(default=False, description="Leave it running when the time is up.")


class ShellView(Arguments):
    """Look at a shell's latest command."""

    shell: ShellName = DEFAULT_SHELL


class ShellWait(Arguments):
    """Wait for a shell's running command."""

    shell: ShellName = DEFAULT_SHELL
    timeout_s: int | None = Field(default=None, ge=1, le=MAX_TIMEOUT_S, description="Seconds to wait.")


class ShellWrite(Arguments):
    """Type into a shell's running command."""

    shell: ShellName = DEFAULT_SHELL
    text: Annotated[str, AfterValidator(without_nul)] = Field(
        min_length=1, max_length=4000, description="Text to type; \\u0003 is Ctrl+C, \\u0004 Ctrl+D."
    )
    press_enter: bool = Field(default=True, description="End the text with a line break.")


class ShellKill(Arguments):
    """End a shell's running command."""

    shell: ShellName = DEFAULT_SHELL
