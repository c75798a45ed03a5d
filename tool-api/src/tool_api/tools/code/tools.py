"""The code tools' rows of the registry."""

from __future__ import annotations

from contracts.sandboxes import Scope
from tool_api.tools.code.controller import CodeController
from tool_api.tools.code.kernels import START_S
from tool_api.tools.code.types import MAX_TIMEOUT_S, CodeClose, CodeContexts, CodeRestart, CodeRun
from tool_api.tools.tool import AnyTool, Tool

_LONG_MS = int(MAX_TIMEOUT_S + START_S + 15) * 1000
_START_MS = int(START_S + 15) * 1000
_SHORT_MS = 15_000


def code_tools(controller: CodeController) -> tuple[AnyTool, ...]:
    """Run, list, restart and close over one set of contexts."""
    return (
        Tool(
            name="code_run",
            description="Run Python, or another installed language, in a context that keeps variables and imports. "
            "Text, the value of the last line, tables and figures are the result. numpy, pandas and matplotlib are "
            "there; %pip install brings more.",
            arguments=CodeRun,
            phrase="Running code",
            scope=Scope.EXEC,
            deadline_ms=_LONG_MS,
            handler=controller.run_code,
            dangerous=True,
        ),
        Tool(
            name="code_contexts",
            description="List the contexts of code_run, whether code runs in them, and the languages there are.",
            arguments=CodeContexts,
            phrase="Listing the contexts of code",
            scope=Scope.EXEC,
            deadline_ms=_SHORT_MS,
            handler=controller.contexts,
            read_only=True,
        ),
        Tool(
            name="code_restart",
            description="Start a context of code_run anew: what runs in it is ended, and its variables are gone.",
            arguments=CodeRestart,
            phrase="Restarting the context {context}",
            scope=Scope.EXEC,
            deadline_ms=_START_MS,
            handler=controller.restart,
        ),
        Tool(
            name="code_close",
            description="Close a context of code_run: what runs in it is ended, and its memory is given back.",
            arguments=CodeClose,
            phrase="Closing the context {context}",
            scope=Scope.EXEC,
            deadline_ms=_SHORT_MS,
            handler=controller.close,
        ),
    )
