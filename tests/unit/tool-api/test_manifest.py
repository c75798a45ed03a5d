"""The gateway reads the manifest, so it must say what the tools are."""

from __future__ import annotations

import json

from contracts.tools import ToolSpec
from tool_api.manifest import MANIFEST, manifest_text


def test_the_committed_manifest_is_what_the_tools_are() -> None:
    assert MANIFEST.read_text(encoding="utf-8") == manifest_text(), "run python -m tool_api.manifest"


def test_the_manifest_lists_valid_specifications_by_name() -> None:
    specs = [ToolSpec.model_validate(spec) for spec in json.loads(manifest_text())]
    assert [spec.name for spec in specs] == sorted(spec.name for spec in specs)
    assert {"shell_exec", "file_read"} <= {spec.name for spec in specs}
