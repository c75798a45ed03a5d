"""The options of a session in bodies and frames."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from backend_api.kit.http.schemas import RequestBody

ToolName = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class OptionsBody(RequestBody):
    """Options of a session. One that would have no effect is refused, so that nobody relies on it."""

    enable_teams: bool | None = Field(
        default=None,
        description="true: the agent may begin others that work beside it (`spawn_teammate`, `teammate.updated`, "
        "`team.message`), from the next time a run begins or goes on after a wait; null or false: it works alone, with "
        "sub-agents for single tasks.",
    )
    enable_tracing: bool | None = Field(
        default=None,
        description="true: each call of a model is stored as it is sent and answered, with secrets masked "
        "(`llm.request`, `llm.response`), from the next time a run begins or goes on after a wait; null or false: none "
        "is.",
    )
    enable_approval: bool | None = Field(
        default=None,
        description="true: calls of tools that change something wait for a person's approval (`approval.requested`), "
        "also in a run at work, from its next call on; false: they run at once; null: as the person's defaults and the "
        "preset have it.",
    )
    enable_plan_mode: bool | None = Field(
        default=None,
        description="true: the agent only reads until a plan of it is approved (`plan.proposed`), which makes it "
        "false; false: it works; null: as the server has it.",
    )
    enable_thinking: bool | None = Field(
        default=None,
        description="true: the model is asked to think; false: it is not, and no thinking is shown or kept; null: as "
        "the server and the model have it. Refused where the model (`thinking` of GET /api/models) can't do it.",
    )
    thinking_effort: Literal["high", "max"] | None = Field(
        default=None, description="How much the model thinks, with enable_thinking: true; null: the server's default."
    )
    max_turns: int | None = Field(
        default=None,
        ge=1,
        le=500,
        description="Maximum model calls of a run, its sub-agents' included; null: the server's default.",
    )

    denied_tools: list[ToolName] | None = Field(
        default=None,
        max_length=200,
        description="Tools of GET /api/tools, by name or glob (`browser_*`) in upper or lower case, the agent may not "
        "use here, from its next call on; null: those that the person's defaults and the preset deny, in whose place "
        "an own list counts, also an empty one. Of a tool that several rules name the strictest counts: denied, then "
        "asked, then allowed.",
    )
    asked_tools: list[ToolName] | None = Field(
        default=None,
        max_length=200,
        description="Tools, by name or glob in upper or lower case, whose calls wait for approval even without "
        "enable_approval; null: as above. What only reads never asks.",
    )
    allowed_tools: list[ToolName] | None = Field(
        default=None,
        max_length=200,
        description="Tools, by name or glob exactly as they are written, whose calls run without approval though "
        "enable_approval is true, and single commands, as in `shell_exec(git status)`, which run without approval "
        "though a rule asks for their tool; null: as above.",
    )

    def chosen(self) -> dict[str, Any]:
        """The options that were chosen."""
        return self.model_dump(exclude_none=True)

    def changes(self) -> dict[str, Any]:
        """The options that were sent; null resets one."""
        return self.model_dump(exclude_unset=True)
