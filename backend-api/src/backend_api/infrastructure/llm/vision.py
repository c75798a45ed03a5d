"""Which models see pictures, as far as their names tell.

Sources: Anthropic's and OpenAI's pages of models, and the cards of the open families. A name that says nothing is taken
for one that can't, as many servers refuse a conversation with a picture in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SEES = re.compile(
    r"(?:[a-z]+\.)*"
    r"(?:claude-(?!2|instant)|gpt-(?:4o|4\.[15]|4-turbo|4-vision|[5-9])|chatgpt-4o|o1(?!-mini|-preview)|o3(?!-mini)|o[4-9]"
    r"|gemini-|gemma-?[3-9]|llama-?4|llava|pixtral|.*-vl\b|.*\dvl\b|.*vision)"
)
_DOES_NOT = re.compile(
    r"gemma.*[:-](?:1b|270m)|gemma-?3n|gpt-4-turbo-preview|audio|realtime|transcribe|tts|search|embed|gpt-image"
)


def sees(model: str, said: Sequence[str]) -> bool:
    """Whether a model takes pictures. `said` are names of the deployment's: of one that does, or after a minus of one
    that does not; they count more than what the name tells."""
    if model in said or f"-{model}" in said:
        return model in said
    # Behind gateways a name has the vendor's before it, and often a tag after it.
    name = model.lower().rpartition("/")[2]
    return _SEES.match(name) is not None and _DOES_NOT.search(name) is None
