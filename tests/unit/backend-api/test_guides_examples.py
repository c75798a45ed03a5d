"""The files that the guides show are taken as they stand there, where such a file is read."""

from __future__ import annotations

import json
import re
from pathlib import Path

from backend_api.agent.presets.kind_files import read_kinds
from backend_api.agent.presets.preset_files import read_presets
from backend_api.agents.http import ChangeAgentBody
from backend_api.mcp.client.config_file import read_mcp_file
from backend_api.skills.library.library import read_library

ROOT = Path(__file__).resolve().parents[3]


def shown(page: str, language: str, containing: str) -> str:
    """The first example of a page in this language that contains this, without the indentation of a list."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for indent, found, body in re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
        if found == language and containing in body:
            return re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
    raise AssertionError(f"{page} has no example with {containing}")


def test_the_servers_of_everybody(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(shown("mcp.md", "json", "mcpServers"))
    wiki, old, time = read_mcp_file(file, {"WIKI_TOKEN": "t0ken"})
    assert (wiki.server.transport, wiki.filled.headers) == ("http", {"Authorization": "Bearer t0ken"})
    assert (old.server.transport, old.server.tools) == ("sse", frozenset({"get_*"}))
    assert (time.is_program, [*time.filled.args]) == (True, ["mcp-server-time", "--local-timezone=UTC"])


def test_a_server_whose_users_sign_in_as_a_client_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(f'{{"mcpServers": {{{shown("mcp.md", "json", "client_id")}}}}}')
    (notes,) = read_mcp_file(file, {"NOTES_SECRET": "s3cret"})
    assert (notes.filled.client_id, notes.filled.client_secret) == ("deskmate", "s3cret")


def test_an_agent_of_everybody_is_the_one_that_is_put_over_the_api(tmp_path: Path) -> None:
    (tmp_path / "changelog.md").write_text(shown("agents.md", "", "+++"))
    (kind,) = read_kinds(tmp_path)
    curl = re.search(r"-d '(.*)'", shown("agents.md", "sh", "/api/agents/changelog"))
    assert curl is not None
    put = ChangeAgentBody.model_validate(json.loads(curl.group(1)))
    assert (kind.name, kind.description, kind.tools) == ("changelog", put.description, frozenset(put.tools or ()))


def test_a_preset(tmp_path: Path) -> None:
    (tmp_path / "law.md").write_text(shown("adding-things.md", "", 'label = "Law"'))
    law = next(preset for preset in read_presets(tmp_path) if preset.id == "law")
    assert law.tools == frozenset({"file_*", "web_search", "ask_user"})
    assert law.prompt.startswith("You read contracts")


def test_a_skill(tmp_path: Path) -> None:
    folder = tmp_path / "meeting-notes"
    folder.mkdir()
    (folder / "SKILL.md").write_text(shown("skills.md", "markdown", "name:"))
    skill = read_library(tmp_path).get("meeting-notes")
    assert skill is not None
    assert skill.instructions.startswith("# Meeting notes")
