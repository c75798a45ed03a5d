"""The data folder of a former version, put where the present one looks for it (see `write_former_data.py`)."""

from __future__ import annotations

import json
import platform
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast

import pymongo
from bson import json_util

from sandbox_manager.infrastructure.token_keys import generate_private_key

FOLDER = Path(__file__).resolve().parents[1] / "data" / "former"
PASSWORD = "correct horse battery"
"""Of both users."""
GATEWAY, MANAGER = "agent", "agent_sandboxes"
"""Names of its databases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where it is now: the folder with `sandboxes`, the stack's name and the machine's."""

    folder: Path
    stack: str
    host: str = field(default_factory=platform.node)

    def filled(self, text: str) -> str:
        for name in ("folder", "stack", "host"):
            text = text.replace(f"{{{name}}}", str(getattr(self, name)))
        return text


def told(place: Place) -> dict[str, Any]:
    """What the former version said of each session, by the sessions' ids."""
    return json.loads(place.filled((FOLDER / "told.json").read_text(encoding="utf-8")))


def as_told(now: Any, former: Any) -> Any:
    """What is said now, without the fields that came since."""
    if isinstance(now, dict) and isinstance(former, dict):
        said, known = cast("dict[str, Any]", now), cast("dict[str, Any]", former)
        return {name: as_told(value, known[name]) for name, value in said.items() if name in known}
    if isinstance(now, list | tuple) and isinstance(former, list):
        ones, others = cast("Sequence[Any]", now), cast("list[Any]", former)
        return [as_told(one, other) for one, other in zip_longest(ones, others)]
    return cast("Any", now)


def fill_gateway_database(uri: str, name: str, place: Place) -> None:
    _fill(uri, name, place, "database.json")


def fill_all(uri: str, place: Place) -> None:
    """Both databases and the folder of the sandbox manager."""
    fill_gateway_database(uri, GATEWAY, place)
    _fill(uri, MANAGER, place, "sandboxes.json")
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        client[MANAGER]["door_keys"].insert_one({"_id": "door", "private_key": generate_private_key()})
    with tarfile.open(FOLDER / "sandboxes.tar.gz") as archive:
        archive.extractall(place.folder, filter="fully_trusted")
    for known in (place.folder / "sandboxes" / "live").glob("*/*.json"):
        known.write_text(place.filled(known.read_text()))


def _fill(uri: str, name: str, place: Place, file: str) -> None:
    stored = json_util.loads(place.filled((FOLDER / file).read_text(encoding="utf-8")))
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        for collection, content in stored.items():
            client[name].create_collection(collection)
            for index in content["indexes"]:
                options = {key: value for key, value in index.items() if key not in ("v", "key")}
                if options["name"] != "_id_":
                    client[name][collection].create_index(list(index["key"].items()), **options)
            if content["documents"]:
                client[name][collection].insert_many(content["documents"])
