"""The language of pages for people other than the front end."""

from __future__ import annotations


def wants_chinese(accept_language: str) -> bool:
    """Whether Chinese is preferred to English, by RFC 9110, section 12.5.4."""
    best, is_chinese = 0.0, False
    for one in accept_language[:1000].lower().split(","):
        name, _, weight = one.strip().partition(";q=")
        try:
            wanted = float(weight) if weight else 1.0
        except ValueError:
            continue
        language = name.partition("-")[0].strip()
        if language in ("zh", "en") and wanted > best:
            best, is_chinese = wanted, language == "zh"
    return is_chinese
