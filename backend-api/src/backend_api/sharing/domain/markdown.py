"""A conversation as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_FENCES = re.compile(r"`{3,}")
_MARKS = re.compile(r"([!-/:-@\[-`{-~])")
_CHINESE = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of ours in an exported conversation. `files_left_out` is for one file, and for a `{count}` of them."""

    language: str
    untitled: str
    you: str
    agent: str
    asks: str
    thinking: str
    tool: str
    result: str
    failed: str
    plan: str
    approved: str
    rejected: str
    cut: str
    ends: Mapping[str, str]
    files_left_out: tuple[str, str]


ENGLISH = Words(
    language="en",
    untitled="Conversation",
    you="You",
    agent="Agent",
    asks="Agent asks",
    thinking="Thinking",
    tool="Tool: {name}",
    result="Result:",
    failed="Failed:",
    plan="Plan",
    approved="Plan approved",
    rejected="Plan rejected",
    cut="Interrupted here",
    ends={"stopped": "Stopped", "interrupted": "Interrupted", "failed": "Failed"},
    files_left_out=("1 file left out", "{count} files left out"),
)
CHINESE = Words(
    language="zh",
    untitled="对话",
    you="你",
    agent="智能体",
    asks="智能体提问",
    thinking="思考过程",
    tool="工具：{name}",
    result="结果：",
    failed="失败：",
    plan="计划",
    approved="计划已批准",
    rejected="计划已否决",
    cut="回答在此被打断",
    ends={"stopped": "已停止", "interrupted": "已中断", "failed": "失败"},
    files_left_out=("未附 1 个文件", "未附 {count} 个文件"),
)


def is_cut_short(fields: dict[str, Any], following: dict[str, Any] | None) -> bool:
    """Whether a message of the person's interrupted this answer. A run that ended says so itself."""
    is_partial = fields["type"] == "message.completed" and fields["partial"]
    return is_partial and following is not None and following["type"] == "message.user"


def markdown_of(fields: dict[str, Any], words: Words = ENGLISH, *, is_cut: bool = False) -> str:
    """The Markdown of a visible event; empty if it has none. `is_cut` is an answer that was interrupted."""
    match fields["type"]:
        case "message.user":
            said = [fields["text"]] if fields["text"] else []
            if fields["attachments"]:
                said.append("\n".join(f"- {path}" for path in fields["attachments"]))
            if left_out := fields.get("files_left_out"):
                one, several = words.files_left_out
                said.append(f"*{one if left_out == 1 else several.format(count=left_out)}*")
            return "\n\n".join([f"## {words.you}", *said])
        case "message.completed":
            text = f"{fields['text']}\n\n*{words.cut}*" if is_cut else fields["text"]
            return f"## {words.agent}\n\n{text}" if fields["text"].strip() else ""
        case "run.finished":
            return f"*{words.ends[fields['status']]}*" if fields["status"] in words.ends else ""
        case "thinking.completed":
            return f"### {words.thinking}\n\n{_quoted(fields['text'])}" if fields["text"].strip() else ""
        case "tool.called":
            arguments = json.dumps(fields["arguments"], ensure_ascii=False, indent=2)
            return f"### {words.tool.format(name=fields['name'])}\n\n{_fenced(arguments, 'json')}"
        case "tool.finished":
            return f"{words.result if fields['success'] else words.failed}\n\n{_fenced(fields['preview'])}"
        case "question.asked":
            return f"## {words.asks}\n\n" + "\n".join(f"- {one['text']}" for one in fields["questions"])
        case "question.answered":
            answers: dict[str, str] = fields["answers"] or {}
            return f"## {words.you}\n\n" + "\n".join(f"- {one}" for one in answers.values()) if answers else ""
        case "plan.proposed":
            return f"## {words.plan}\n\n{fields['plan']}"
        case "plan.decided":
            feedback = f"\n\n{fields['feedback']}" if fields["feedback"] else ""
            return f"**{words.approved if fields['decision'] == 'approve' else words.rejected}**{feedback}"
        case _:
            return ""


def printed_of(fields: dict[str, Any], words: Words = ENGLISH, *, is_cut: bool = False) -> str:
    """As `markdown_of`, for pages: headings of what was written stand below the one that says whose it is, and what the
    person wrote is no Markdown, as in the page."""
    if fields["type"] == "message.user":
        fields = {
            **fields,
            "text": _plain(fields["text"]),
            "attachments": [_plain(one) for one in fields["attachments"]],
        }
    text = markdown_of(fields, words, is_cut=is_cut)
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
