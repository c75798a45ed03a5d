"""The document tools' rows of the registry."""

from __future__ import annotations

from contracts.sandboxes import Scope
from tool_api.tools.documents import types
from tool_api.tools.documents.controller import DocumentController
from tool_api.tools.tool import AnyTool, Tool

_DEADLINE_MS = 30_000
_PRINT_DEADLINE_MS = 90_000


def document_tools(controller: DocumentController) -> tuple[AnyTool, ...]:
    """Save as Markdown, save as PDF."""
    return (
        Tool(
            name="save_to_markdown",
            description="Save a text for the person as a Markdown file of the workspace, such as a report.",
            arguments=types.SaveToMarkdown,
            phrase="Saving {file_name}",
            scope=Scope.FILES,
            deadline_ms=_DEADLINE_MS,
            handler=controller.save_to_markdown,
        ),
        Tool(
            name="save_to_pdf",
            description="Print Markdown as a PDF of the workspace: headings, tables, code, quotations, pictures of the "
            "workspace as ![what it shows](chart.png), formulas in TeX ($…$, $$…$$), diagrams as ```mermaid, any "
            "language. Pictures of the web are not fetched: save them in the workspace first.",
            arguments=types.SaveToPdf,
            phrase="Printing {file_name}",
            scope=Scope.FILES,
            deadline_ms=_PRINT_DEADLINE_MS,
            handler=controller.save_to_pdf,
        ),
    )
