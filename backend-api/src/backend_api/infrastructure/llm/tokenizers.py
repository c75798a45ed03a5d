"""Tokens by the vocabularies of models, which come with the package: nothing is fetched.

A vocabulary takes half a second to load and its process 25 to 45 MB, and both hold up all else in it, so they are
loaded before there is anything to hold up. Where there is no build of the package, or none is loaded, the domain's
estimate counts.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from backend_api.domain.agent.sizes import CountTokens, estimated_tokens

logger = logging.getLogger(__name__)

NEWEST = "o200k_base"
"""OpenAI's; also for models that nobody outside has the vocabulary of, such as Anthropic's."""
VOCABULARIES: tuple[tuple[str, str], ...] = (
    ("deepseek", "deepseek_v3"),
    ("qwen", "qwen3"),
    ("qwq", "qwen3"),
    ("glm", "glm4"),
    ("kimi", "kimi_k2"),
    ("moonshot", "kimi_k2"),
    ("llama", "llama3"),
    ("mistral", "mistral_v3"),
    ("ministral", "mistral_v3"),
    ("magistral", "mistral_v3"),
    ("devstral", "mistral_v3"),
    ("codestral", "mistral_v3"),
    ("gemma", "gemma3"),
    ("gpt-4-", "cl100k_base"),
    ("gpt-3.5", "cl100k_base"),
)
"""The first whose name stands in the model's."""
PIECES, PIECE_CHARACTERS = 8, 1_000
"""Of a longer text so many pieces are counted, evenly over it: some milliseconds at most, and within a few percent."""
REMEMBERED = 50_000
_SHORT = 200
"""Characters that are counted sooner than remembered."""
_IN_NO_VOCABULARY = "zqxjkv"
"""Put together of parts: the table of those, a fifth of a second of work, is made for the first such word."""

Encode = Callable[[str], list[int]]


def vocabulary_of(model: str) -> str:
    """By the model's name."""
    name = model.lower()
    return next((vocabulary for part, vocabulary in VOCABULARIES if part in name), NEWEST)


class Tokenizers:
    """Those of one process. What was counted once is remembered, as a conversation is counted again at each turn where
    its provider tells nothing."""

    def __init__(self) -> None:
        self._loaded: dict[str, Encode] = {}
        self._counted: OrderedDict[tuple[str, int, int], int] = OrderedDict()

    def load(self, models: Iterable[str]) -> None:
        """What counting for these models needs. It holds up the whole process, also from another thread."""
        try:
            package: Any = import_module("splintr")
        except ImportError:
            logger.info("tokens are estimated: there is no tokenizer for this machine")
            return
        for name in {vocabulary_of(model) for model in models} - self._loaded.keys():
            encode: Encode = package.Tokenizer.from_pretrained(name).encode_ordinary
            encode(_IN_NO_VOCABULARY)
            self._loaded[name] = encode

    def counter(self, model: str) -> CountTokens:
        """Of texts as this model reads them."""
        vocabulary = vocabulary_of(model)

        def count(text: str) -> int:
            encode = self._loaded.get(vocabulary)
            if encode is None:
                return estimated_tokens(text)
            if len(text) <= _SHORT:
                return _count(encode, text)
            key = (vocabulary, hash(text), len(text))
            counted = self._counted.get(key)
            if counted is None:
                counted = self._counted[key] = _count_long(encode, text)
                if len(self._counted) > REMEMBERED:
                    self._counted.popitem(last=False)
            return counted

        return count


def _count_long(encode: Encode, text: str) -> int:
    if len(text) <= PIECES * PIECE_CHARACTERS:
        return _count(encode, text)
    step = (len(text) - PIECE_CHARACTERS) / (PIECES - 1)
    begins = [int(step * number) for number in range(PIECES)]
    counted = sum(_count(encode, text[begin : begin + PIECE_CHARACTERS]) for begin in begins)
    return round(counted * len(text) / (PIECES * PIECE_CHARACTERS))


def _count(encode: Encode, text: str) -> int:
    try:
        return len(encode(text))
    except UnicodeError:
        # Half of a surrogate pair, which no provider is sent either.
        return estimated_tokens(text)
