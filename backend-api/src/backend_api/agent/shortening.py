"""Shortens texts, with a mark where something is left out."""

from __future__ import annotations


def shorten(text: str, limit: int) -> str:
    """The head and tail of a text over the limit, with a mark that states how much is left out."""
    if len(text) <= limit:
        return text
    mark = f"\n[... {len(text) - limit} characters left out ...]\n"
    return head_and_tail(text, max(limit - len(mark), 0), mark)


def head_and_tail(text: str, keep: int, mark: str) -> str:
    """The first two thirds and the last third of `keep` characters of the text, with the mark between."""
    head = keep * 2 // 3
    return text[:head] + mark + (text[len(text) - (keep - head) :] if keep > head else "")
