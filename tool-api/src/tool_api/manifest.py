"""Write the gateway's list of tools: `python -m tool_api.manifest [path]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import contracts
from tool_api.registry import idle_tool_table

MANIFEST = Path(contracts.__file__).parent / "tool_manifest.json"


def manifest_text() -> str:
    """The specifications of all tools by name, in a form that changes only when they do."""
    table = idle_tool_table()
    specs = [table[name].spec().model_dump(mode="json") for name in sorted(table)]
    return json.dumps(specs, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else MANIFEST
    target.write_text(manifest_text(), encoding="utf-8")
