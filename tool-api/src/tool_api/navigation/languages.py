"""The supported languages, and the names of their files."""

from __future__ import annotations

# A header may be C or C++, whose grammar reads nearly all of C.
_ENDINGS = {
    "python": ("py", "pyi", "pyw"),
    "javascript": ("js", "mjs", "cjs", "jsx"),
    "typescript": ("ts", "mts", "cts"),
    "tsx": ("tsx",),
    "go": ("go",),
    "rust": ("rs",),
    "java": ("java",),
    "c": ("c",),
    "cpp": ("cpp", "cc", "cxx", "c++", "h", "hpp", "hh", "hxx", "h++", "inl"),
    "csharp": ("cs",),
    "ruby": ("rb", "rake", "gemspec", "ru"),
    "php": ("php", "phtml"),
    "bash": ("sh", "bash"),
}
NAMES = tuple(_ENDINGS)
_BY_ENDING = {ending: language for language, endings in _ENDINGS.items() for ending in endings}
_BY_NAME = {"Rakefile": "ruby", "Gemfile": "ruby", ".bashrc": "bash", ".bash_profile": "bash", ".profile": "bash"}
_INTERPRETERS = {"python": "python", "bash": "bash", "sh": "bash", "ruby": "ruby", "node": "javascript", "php": "php"}


def language_of(name: str) -> str | None:
    """The language by a file's name; empty if only its first line can tell, None if it is not supported."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    stem, dot, ending = name.rpartition(".")
    if not dot:
        return ""
    return _BY_ENDING.get(ending.lower()) if stem else None


def language_of_first_line(data: bytes) -> str | None:
    """The language by the interpreter in the first line, as in `#!/usr/bin/env python3`."""
    if not data.startswith(b"#!"):
        return None
    words = data[2:200].split(b"\n", 1)[0].decode("utf-8", "replace").split()
    program = next((word.rpartition("/")[2] for word in words if not word.endswith("/env")), "")
    return _INTERPRETERS.get(program.rstrip("0123456789."))
