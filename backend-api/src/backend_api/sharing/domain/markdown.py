"""A conversation as Markdown."""

from __future__ import annotations

import json
import re
from typing import Any

_FENCES = re.compile(r"`{3,}")
_MARKS = re.compile(r"([!-/:-@\[-`{-~])")
_CHINESE = re.compile("[\u3400-\u9fff]")


_ENDS = {"stopped": "Stopped", "interrupted": "Interrupted", "failed": "Failed"}


def is_cut_short(fields: dict[str, Any], following: dict[str, Any] | None) -> bool:
    """Whether a message of the person's interrupted this answer. A run that ended says so itself."""
    is_partial = fields["type"] == "message.completed" and fields["partial"]
    return is_partial and following is not None and following["type"] == "message.user"


def markdown_of(fields: dict[str, Any], *, is_cut: bool = False) -> str:
    """The Markdown of a visible event; empty if it has none. `is_cut` is an answer that was interrupted."""
    match fields["type"]:
        case "message.user":
            files = "".join(f"\n- {path}" for path in fields["attachments"])
            return f"## You\n\n{fields['text']}" + (f"\n{files}" if files else "")
        case "message.completed":
            text = f"{fields['text']}\n\n*Interrupted here*" if is_cut else fields["text"]
            return f"## Agent\n\n{text}" if fields["text"].strip() else ""
        case "run.finished":
            return f"*{_ENDS[fields['status']]}*" if fields["status"] in _ENDS else ""
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


def printed_of(fields: dict[str, Any], *, is_cut: bool = False) -> str:
    """As `markdown_of`, for pages: headings of what was written stand below the one that says whose it is, and what the
    person wrote is no Markdown, as in the page."""
    if fields["type"] == "message.user":
        fields = {
            **fields,
            "text": _plain(fields["text"]),
            "attachments": [_plain(one) for one in fields["attachments"]],
        }
    text = markdown_of(fields, is_cut=is_cut)
    head, line, rest = text.partition("\n")
    return f"{head} {{#sec-{fields['seq']}}}{line}{rest}" if head.startswith("#") else text


def language_of(text: str) -> str:
    """By its letters: hyphens and the shape of Chinese ones depend on it."""
    return "zh-CN" if len(_CHINESE.findall(text)) > len(text) / 10 else "en"


def _plain(text: str) -> str:
    """Markdown that reads as this text, line by line."""
    lines = [_MARKS.sub(r"\\\1", line.expandtabs(4).rstrip()) for line in text.splitlines()]
    indented = [line[: len(line) - len(line.lstrip())].replace(" ", "\u00a0") + line.lstrip() for line in lines]
    after = [*indented[1:], ""]
    return "\n".join(f"{line}\\" if line and next_one else line for line, next_one in zip(indented, after, strict=True))


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def _fenced(text: str, language: str = "") -> str:
    """The text in a fence that is longer than any fence in it."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
