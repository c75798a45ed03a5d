"""The demo model's title for a conversation: by its first request, in the language of that."""

from __future__ import annotations

from backend_api.agent.model import Turn, UserTurn
from backend_api.agent.title import MAX_CHARACTERS, message_of_request
from backend_api.models.demo.request import Request, language_of, wanted
from backend_api.models.demo.scenes import read_script


def title_for(turns: list[Turn]) -> str:
    """The title, or empty for a request it does not know, so that the conversation keeps its first line as title."""
    last = turns[-1] if turns else None
    asked = wanted(message_of_request(last)) if isinstance(last, UserTurn) else ""
    script = read_script()
    found = script.find(asked)
    if found is None or found[0].title is None:
        return ""
    scene, match = found
    about = next((text for text in match.groupdict().values() if text), "").strip(" `'\".。!！")
    request = Request(language=language_of(asked), texts=script.texts)
    title = request.fill(scene.title or "", about=" ".join(about.split()) or request.text("anything"))
    return title if len(title) <= MAX_CHARACTERS else title[: MAX_CHARACTERS - 1].rstrip() + "…"
