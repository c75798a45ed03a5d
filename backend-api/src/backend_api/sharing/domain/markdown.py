"""A conversation as Markdown."""

from __future__ import annotations

import json
import re
from typing import Any

_FENCES = re.compile(r"`{3,}")


def markdown_of(fields: dict[str, Any]) -> str:
    """The Markdown of a visible event; empty if it has none."""
    match fields["type"]:
        case "message.user":
            files = "".join(f"\n- {path}" for path in fields["attachments"])
            return f"## You\n\n{fields['text']}" + (f"\n{files}" if files else "")
        case "message.completed":
            return f"## Agent\n\n{fields['text']}" if fields["text"].strip() else ""
        case "thinking.completed":
            return f"### Thinking\n\n{_quoted(fields['text'])}" if fields["text"].strip() else ""
        case "tool.called":
            arguments = json.dumps(fields["arguments"], ensure_ascii=False, indent=2)
            return f"### Tool: {fields['name']}\n\n{_fenced(arguments, 'json')}"
        case "tool.finished":
            return f"{'Result' if fields['success'] else 'Failed'}:\n\n{_fenced(fields['preview'])}"
        case "question.asked":
            return "## Agent asks\n\n" + "\n".join(f"- {one['text']}" for one in fields["questions"])
        case "question.answered":
            answers: dict[str, str] = fields["answers"] or {}
            return "## You\n\n" + "\n".join(f"- {one}" for one in answers.values()) if answers else ""
        case "plan.proposed":
            return f"## Plan\n\n{fields['plan']}"
        case "plan.decided":
            feedback = f"\n\n{fields['feedback']}" if fields["feedback"] else ""
            return f"**Plan {'approved' if fields['decision'] == 'approve' else 'rejected'}**{feedback}"
        case _:
            return ""


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def _fenced(text: str, language: str = "") -> str:
    """The text in a fence that is longer than any fence in it."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
