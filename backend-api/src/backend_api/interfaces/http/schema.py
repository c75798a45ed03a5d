"""Write the schema files of the wire: `python -m backend_api.interfaces.http.schema [FOLDER]`, `contracts` by default."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from backend_api.interfaces.http.event_schema import event_schema


def render(document: dict[str, Any]) -> str:
    """The text of a schema file, stable between runs."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> None:
    """Write both files into the folder given, `contracts` by default."""
    folder = Path(arguments[0]) if arguments else Path("contracts")
    (folder / "events.schema.json").write_text(render(event_schema()))


if __name__ == "__main__":
    main(sys.argv[1:])
