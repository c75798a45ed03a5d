"""Arguments of the code tools."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tool_api.tools.tool import Arguments

MAX_TIMEOUT_S = 600
DEFAULT_LANGUAGE = "python"
ContextName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+#-]{1,64}$", description="Name of the context.")]


class CodeRun(Arguments):
    """Run code in a context."""

    code: str = Field(min_length=1, max_length=200_000, description="Code to run.")
    language: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_.+#-]{1,64}$",
        description="Language or Jupyter kernel; python if left out.",
    )
    context: ContextName | None = Field(default=None, description="Name of the context; made if it is new.")
    timeout_s: int | None = Field(default=None, ge=1, le=MAX_TIMEOUT_S, description="Seconds until it is interrupted.")


class CodeContexts(Arguments):
    """List the contexts and the languages."""


class CodeRestart(Arguments):
    """Start a context anew."""

    context: ContextName = DEFAULT_LANGUAGE


class CodeClose(Arguments):
    """Close a context."""

    context: ContextName = DEFAULT_LANGUAGE
