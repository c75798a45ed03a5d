"""Writes the schema files of the wire into a folder: `python -m backend_api.main.schema [contracts]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from backend_api.conversations.http.event_schema import event_schema
from backend_api.kit.http.ports import WebOptions
from backend_api.main.app import describe_app


def render(document: dict[str, Any]) -> str:
    """The text of a schema file, stable between runs."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def schema_files() -> dict[str, str]:
    """The name and text of each file."""
    return {
        "events.schema.json": render(event_schema()),
        "openapi.json": render(describe_app(WebOptions()).openapi()),
    }


def main(arguments: list[str]) -> None:
    """Writes both files into the given folder, `contracts` by default."""
    folder = Path(arguments[0]) if arguments else Path("contracts")
    for name, text in schema_files().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
