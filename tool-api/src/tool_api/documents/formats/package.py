"""The parts of an Office document and their relations: any part may be missing or broken."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from urllib.parse import unquote

from tool_api.documents.archives import Archive, BrokenPartError
from tool_api.documents.formats.trees import Element, parse
from tool_api.documents.parts import RefusedDocumentError


@dataclass(frozen=True, slots=True)
class Relation:
    """The target of an identifier in a part: another part or, if `is_external`, an address."""

    kind: str
    target: str
    is_external: bool


class Package:
    def __init__(self, data: bytes) -> None:
        """Raises `RefusedDocumentError`."""
        self.archive = Archive(data)
        self.faults: dict[str, str] = {}
        self._relations: dict[str, dict[str, Relation]] = {}

    def tree(self, name: str) -> Element:
        """The root of a part. A damaged part yields what can be read, with its fault in `faults`.

        Raises:
            BrokenPartError: nothing of it can be read.
        """
        root, fault = parse(self.archive.read_xml(name))
        if fault:
            self.faults[name] = fault
        return root

    def relations(self, name: str) -> dict[str, Relation]:
        """The relations of a part by their identifiers, empty if the list of them can't be read."""
        if name not in self._relations:
            folder, _, file = name.rpartition("/")
            try:
                root = self.tree(posixpath.join(folder, "_rels", f"{file}.rels"))
            except BrokenPartError:
                root = ()
            self._relations[name] = {str(one.get("Id")): _relation(folder, one) for one in root if one.get("Target")}
        return self._relations[name]

    def related(self, name: str, kind: str) -> list[str]:
        """The parts of a kind that a part names."""
        return [one.target for one in self.relations(name).values() if one.kind == kind and not one.is_external]

    def target(self, name: str, identifier: str | None) -> str:
        """The part that a part names by an identifier. Raises `BrokenPartError`."""
        found = self.relations(name).get(identifier or "")
        if found is None or found.is_external:
            raise BrokenPartError("the file does not name its part")
        return found.target

    def main_part(self, *usual: str) -> str:
        """The part that the document is, or one of the usual names. Raises `RefusedDocumentError`."""
        for name in (*self.related("", "officeDocument"), *usual):
            if name in self.archive:
                return name
        raise RefusedDocumentError("It is not a text document, spreadsheet or presentation.")

    def main_tree(self, *usual: str) -> tuple[str, Element]:
        """The main part's name and tree. Raises `RefusedDocumentError`: without it there is no document."""
        name = self.main_part(*usual)
        try:
            return name, self.tree(name)
        except BrokenPartError as error:
            raise RefusedDocumentError(f"Its part {name} can't be read: {error}.") from error


def _relation(folder: str, element: Element) -> Relation:
    target = str(element.get("Target"))
    is_external = element.get("TargetMode") == "External"
    if not is_external:
        path = unquote(target.replace("\\", "/").partition("#")[0])
        target = posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")
    return Relation(str(element.get("Type") or "").rpartition("/")[2], target, is_external)
