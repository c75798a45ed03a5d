"""One request of the person to the demo model, its results so far, and the texts for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from backend_api.agent.model import AssistantTurn, ToolTurn
from backend_api.models.demo.scenes import Text

Fields = Mapping[str, Any]
Language = Literal["en", "zh"]
_MENTIONS = re.compile(r"^(?:@[\w.-]+\s+)+")
_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`answers` of the model and `results` of tools since the request, in order; `attachments` are paths."""

    language: Language
    texts: Mapping[str, Text]
    fields: Fields = field(default_factory=dict[str, Any])
    attachments: Sequence[str] = ()
    answers: Sequence[AssistantTurn] = ()
    results: Sequence[ToolTurn] = ()

    def fill(self, text: Text, **more: Any) -> str:
        """Fills the text with fields and other texts. The value of a field is never filled itself."""
        fields = {**self.fields, **more}

        def value(found: re.Match[str]) -> str:
            name = found[1]
            if name in fields:
                return str(fields[name])
            return self.fill(self.texts[name], **more) if name in self.texts else found[0]

        return _NAME.sub(value, text if isinstance(text, str) else getattr(text, self.language))

    def text(self, name: str, **more: Any) -> str:
        return self.fill(self.texts[name], **more)


def wanted(message: str) -> str:
    """What a message asks for, without the parts it names first, such as `@papers @writing`."""
    return _MENTIONS.sub("", message.strip())


def language_of(text: str) -> Language:
    """Chinese if the request begins in Chinese: names in it, such as commands and files, may be in any language."""
    first = next((character for character in text if character.isalpha()), "")
    return "zh" if "\u4e00" <= first <= "\u9fff" else "en"


def fenced(output: str) -> str:
    shown = _shorten(output)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", shown)), default=0))
    return f"{fence}\n{shown}\n{fence}"


def quoted(answer: str) -> str:
    """Another agent's answer as a Markdown quote, which may contain code."""
    return "\n".join(f"> {line}".rstrip() for line in _shorten(answer).split("\n"))


def _shorten(output: str) -> str:
    body = output.strip() or "-"
    return body if len(body) <= 1500 else body[:1500] + "\n…"
