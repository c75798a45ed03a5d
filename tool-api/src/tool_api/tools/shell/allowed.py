"""The allow list of a shell's commands, if the sandbox has one.

A guard rail for models, not a security border: that is the sandbox itself.
"""

from __future__ import annotations

import re
import shlex

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SUBSTITUTION = re.compile(r"`|\$\(|[<>]\(")
_OPERATORS = frozenset(";&|()\n")


def refused_command(text: str, allowed: frozenset[str]) -> str | None:
    """The first command that is not allowed, or None; an empty set allows all."""
    if not allowed:
        return None
    if found := _SUBSTITUTION.search(text):
        return found.group()
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    expects_name = True
    try:
        for word in lexer:
            if _OPERATORS.issuperset(word):
                expects_name = True
            elif expects_name and not _ASSIGNMENT.fullmatch(word):
                if word not in allowed:
                    return word
                expects_name = False
    except ValueError:
        return text
    return None
