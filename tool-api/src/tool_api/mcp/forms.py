"""Tools and their results in the form of the protocol."""

from __future__ import annotations

from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent, ToolAnnotations
from mcp_types import Tool as ListedTool
from pydantic import ValidationError

from contracts.tools import BrowserDisplay, CodeDisplay, CodePicture, DesktopDisplay, ImageDisplay, ToolResult
from tool_api.tools.argument_faults import argument_faults
from tool_api.tools.tool import AnyTool


def listed(tool: AnyTool) -> ListedTool:
    """A tool as clients see it."""
    spec = tool.spec()
    return ListedTool(
        name=spec.name,
        description=spec.description,
        input_schema=spec.parameters,
        annotations=ToolAnnotations(read_only_hint=spec.read_only, destructive_hint=spec.dangerous),
    )


def to_call_result(result: ToolResult) -> CallToolResult:
    """A result: its text, and the pictures it shows."""
    content: list[ContentBlock] = [TextContent(text=result.output)]
    match result.display:
        case (
            BrowserDisplay(image=str(image), image_media_type=str(kind))
            | DesktopDisplay(image=str(image), image_media_type=str(kind))
            | ImageDisplay(image=str(image), image_media_type=str(kind))
        ):
            content.append(ImageContent(data=image, mime_type=kind))
        case CodeDisplay(outputs=outputs):
            for output in outputs:
                match output:
                    case CodePicture(image=str(image), image_media_type=str(kind)):
                        content.append(ImageContent(data=image, mime_type=kind))
                    case _:
                        continue
        case _:
            pass
    return CallToolResult(content=content, is_error=not result.success)


def refused(error: ValidationError) -> CallToolResult:
    """The result for invalid arguments, worded so that a model can correct them."""
    lines = [f"- {'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}" for fault in argument_faults(error)]
    return failed("\n".join(["The arguments are not valid, and nothing was done:", *lines]))


def failed(text: str) -> CallToolResult:
    """The result of a call that was not carried out."""
    return CallToolResult(content=[TextContent(text=text)], is_error=True)
