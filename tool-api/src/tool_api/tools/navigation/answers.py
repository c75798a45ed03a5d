"""Results of code navigation for the model, and their display on the page."""

from __future__ import annotations

from dataclasses import replace

from contracts.tools import CodePlace, NavigationDisplay, ToolResult
from tool_api.navigation.languages import NAMES
from tool_api.navigation.places import MAX_FILE_BYTES, MAX_PLACES, Looked, Place
from tool_api.navigation.programs import Answer
from tool_api.tools.tool import done, failed

NO_NAME = "Give the name of one function, class, method or variable, such as parse or Parser.parse."
_MOST_WITH_CODE = 5
_MOST_LINES = 80
_MOST_CHARACTERS = 12_000
_MOST_NAMED = 5


def placed(answer: Answer, folder: str) -> Answer:
    """The answer sorted, with paths that begin at the workspace."""
    looked = answer.looked
    places = [replace(place, path=folder + place.path) for place in answer.places]
    return Answer(
        places=sorted(places, key=lambda place: (place.path, place.line)),
        looked=Looked(
            files=looked.files,
            left_out=looked.left_out,
            large=[folder + path for path in looked.large],
            hard=[folder + path for path in looked.hard],
            is_whole=looked.is_whole,
        ),
    )


def symbols(path: str, answer: Answer, query: str, *, is_folder: bool) -> ToolResult:
    """The definitions as `path:first-last kind name`, exact matches first."""
    if not is_folder and not answer.looked.files:
        return failed(f"{path} is not source code in a supported language, which are: {', '.join(NAMES)}.")
    places = sorted(answer.places, key=lambda place: _rank(place, query)) if query else answer.places
    lines = [f"{_location(place)} {place.kind} {_qualified_name(place)}" for place in places[:MAX_PLACES]]
    nothing = f"[no definition whose name holds {query}]" if query else "[no definitions]"
    advice = "name a smaller folder, or a longer part of the name" if query else "name a smaller folder"
    return _answer(path, query or path, places, lines, answer.looked, nothing, advice)


def definitions(path: str, answer: Answer, symbol: str) -> ToolResult:
    """The definitions as `symbols` lists them, each with its code."""
    lines: list[str] = []
    room = _MOST_CHARACTERS
    for number, place in enumerate(answer.places[:MAX_PLACES]):
        lines.append(f"{_location(place)} {place.kind} {_qualified_name(place)}")
        code = place.text.split("\n")[:_MOST_LINES] if place.text else []
        if number < _MOST_WITH_CODE and len("\n".join(code)) <= room:
            room -= len("\n".join(code))
            lines += code
            last = place.line + len(code) - 1
            if last < place.end_line:
                lines.append(f"[cut; read on by file_read from line {last + 1}]")
            lines.append("")
    return _answer(path, symbol, answer.places, lines, answer.looked, f"[{symbol} is not defined here]")


def references(path: str, answer: Answer, name: str) -> ToolResult:
    """The references as `path:line kind in container: the line`."""
    lines = [
        f"{place.path}:{place.line} {place.kind}{f' in {place.container}' if place.container else ''}: {place.text}"
        for place in answer.places[:MAX_PLACES]
    ]
    return _answer(path, name, answer.places, lines, answer.looked, f"[{name} is not used here]")


def _answer(
    path: str,
    subject: str,
    places: list[Place],
    lines: list[str],
    looked: Looked,
    nothing: str,
    advice: str = "name a smaller folder",
) -> ToolResult:
    left_out = looked.left_out + max(0, len(places) - MAX_PLACES)
    notes = _notes(looked, left_out, advice)
    display = NavigationDisplay(
        path=path,
        subject=subject,
        places=[_to_wire(place) for place in places[:MAX_PLACES]],
        is_cut=left_out > 0 or not looked.is_whole,
    )
    return done("\n".join([("\n".join(lines).rstrip() or nothing), *notes]), display=display)


def _to_wire(place: Place) -> CodePlace:
    return CodePlace(
        path=place.path,
        line=place.line,
        end_line=place.end_line,
        kind=place.kind,
        name=place.name,
        container=place.container,
        # For a definition the page opens the file.
        text=place.text if "\n" not in place.text else "",
    )


def _notes(looked: Looked, left_out: int, advice: str) -> list[str]:
    notes: list[str] = []
    if left_out:
        notes.append(f"[{left_out} more left out; {advice}]")
    if looked.large:
        notes.append(f"[not read, as larger than {MAX_FILE_BYTES // 1024**2} MB: {_list_paths(looked.large)}]")
    if looked.hard:
        notes.append(f"[not understood, as it takes too long: {_list_paths(looked.hard)}]")
    if not looked.is_whole:
        notes.append(
            f"[not all was looked through: it takes too long, after {looked.files} files; name a smaller folder]"
        )
    return notes


def _list_paths(paths: list[str]) -> str:
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(paths[:_MOST_NAMED]) + more


def _location(place: Place) -> str:
    lines = str(place.line) if place.line == place.end_line else f"{place.line}-{place.end_line}"
    return f"{place.path}:{lines}"


def _qualified_name(place: Place) -> str:
    return f"{place.container}.{place.name}" if place.container else place.name


def _rank(place: Place, query: str) -> tuple[int, str, int]:
    name, asked = place.name.lower(), query.lower()
    rank = 0 if place.name == query else 1 if name == asked else 2 if name.startswith(asked) else 3
    return rank, place.path, place.line
