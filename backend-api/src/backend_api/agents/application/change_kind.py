"""Write or delete one's own kind of sub-agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend_api.agent.subagent_kinds import (
    MAIN,
    MAX_DESCRIPTION_CHARACTERS,
    MAX_PROMPT_CHARACTERS,
    MAX_TOOL_RULE_CHARACTERS,
    MAX_TOOL_RULES,
    NAME,
    SubagentKind,
    find_kind,
)
from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_rules import FOREIGN_PREFIX, is_named
from backend_api.agents.application.kinds_of_users import KindsOfUsers
from backend_api.agents.domain import KindNameTakenError, KindNotFoundError, UserKinds
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.kit.invisible_characters import UNTYPEABLE
from backend_api.settings.application.effective_settings import OpenEffectiveSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeKind:
    """A change holds from the next run on, in every process; a deleted kind can't begin in a current run either. An
    agent at work keeps its definition.

    Raises `InvalidError` for a field, `KindNameTakenError`, `TooManyKindsError`, `KindNotFoundError`, `LimitError`,
    `StoreUnavailableError`.
    """

    kinds: KindsOfUsers
    own: UserKinds
    effective_settings: OpenEffectiveSettings
    tools: Sequence[ToolSpec]
    limiter: RateLimiter
    limits: Limits

    async def put(self, user_id: UserId, kind: SubagentKind) -> SubagentKind:
        """Add it, or replace the one of its name."""
        await self._count(user_id)
        kind = _checked(kind)
        self._check_tools(kind)
        if find_kind(self.kinds.shared, kind.name) is not None:
            raise KindNameTakenError(f"The server already provides an agent {kind.name}. Choose another name.")
        await self._check_model(user_id, kind.model)
        await self.own.put(user_id, kind)
        return kind

    async def delete(self, user_id: UserId, name: str) -> None:
        """Delete the kind, if it is the user's own."""
        await self._count(user_id)
        if not await self.own.delete(user_id, name):
            raise KindNotFoundError("You have no agent of this name.")

    async def _count(self, user_id: UserId) -> None:
        await self.limiter.hit(f"settings:{user_id}", limit=self.limits.settings_per_minute, window_s=60)

    def _check_tools(self, kind: SubagentKind) -> None:
        general = SubagentKind(name=kind.name, description="")
        for rule in sorted(kind.tools or ()):
            if rule.startswith(FOREIGN_PREFIX):
                continue
            if not any(is_named(tool.name, [rule]) for tool in self.tools if general.has(tool)):
                reason = f"There is no tool {rule} for agents. GET /api/tools lists them; * stands for any characters."
                raise InvalidError(reason, field="body.tools")

    async def _check_model(self, user_id: UserId, model: str | None) -> None:
        if model is None:
            return
        async with self.effective_settings(user_id) as effective:
            offered = {one.id for one in effective.catalogue.models()}
        if model not in offered:
            reason = "This model is not available. GET /api/models lists those that are."
            raise InvalidError(reason, field="body.model")


def _checked(kind: SubagentKind) -> SubagentKind:
    if not NAME.fullmatch(kind.name) or kind.name == MAIN:
        reason = "A name has 1 to 40 of the characters a-z, 0-9, - and _, and begins with a letter or digit."
        raise InvalidError(reason if kind.name != MAIN else "This name is the main agent's.", field="path.name")
    description, prompt = kind.description.strip(), kind.prompt.replace("\r\n", "\n").strip()
    if not description or len(description) > MAX_DESCRIPTION_CHARACTERS or "\n" in description:
        reason = f"A description is one line of 1 to {MAX_DESCRIPTION_CHARACTERS} characters."
        raise InvalidError(reason, field="body.description")
    if not prompt or len(prompt) > MAX_PROMPT_CHARACTERS:
        raise InvalidError(f"A prompt has 1 to {MAX_PROMPT_CHARACTERS} characters.", field="body.prompt")
    for field, text in (("description", description), ("prompt", prompt)):
        if unseen := UNTYPEABLE.search(text):
            reason = f"It contains the invisible character U+{ord(unseen.group()):04X}. Remove it."
            raise InvalidError(reason, field=f"body.{field}")
    rules = kind.tools or frozenset()
    if len(rules) > MAX_TOOL_RULES or any(not 0 < len(rule) <= MAX_TOOL_RULE_CHARACTERS for rule in rules):
        reason = f"At most {MAX_TOOL_RULES} names of at most {MAX_TOOL_RULE_CHARACTERS} characters are allowed."
        raise InvalidError(reason, field="body.tools")
    return replace(kind, description=description, prompt=prompt)
