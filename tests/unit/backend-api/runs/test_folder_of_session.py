"""A run has what is loaded of its session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from backend_api.agent.capability import Capability
from backend_api.agent.model import FinishPart, TextPart
from backend_api.folders.capability import folder_capability
from backend_api.folders.domain import Folder, FolderId, FolderOfSession
from backend_api.kit.ids import SessionId, UserId
from backend_api.runs.capabilities import capabilities
from backend_api.settings.domain.entity import StoredSettings
from support.scripted import HandlerBox, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working


async def test_the_instructions_of_a_folder_are_in_the_prompt_of_its_conversations_alone() -> None:
    stage, box = Stage(), HandlerBox()
    model = ScriptedModel([TextPart("Done."), FinishPart("stop")], [TextPart("Done."), FinishPart("stop")])
    within = await stage.open_session(title="within")
    without = await stage.open_session(title="without")

    async def load(user_id: UserId, session_id: SessionId) -> FolderOfSession | None:
        if session_id != within:
            return None
        at = datetime.now(UTC)
        folder = Folder(id=FolderId("f"), user_id=user_id, name="Work", instructions="Cite sources.", created_at=at)
        return FolderOfSession(folder=folder)

    def table(*sources: Any, **bounds: Any) -> Sequence[Capability]:
        return capabilities(*sources, **(bounds | {"of_modules": [folder_capability(load)]}))

    stage.store.settings[USER] = StoredSettings(user_id=USER, version=1)
    async with working(worker_for(stage, model, box, table=table)):
        for session in (within, without):
            run_id = await stage.say(session, "go")
            await until(lambda run=run_id: stage.run(run).status.is_end)  # type: ignore[misc]
    first, second = (request.system for request in model.requests)
    assert "folder “Work”" in first
    assert "Cite sources." in first
    assert "Cite sources." not in second
