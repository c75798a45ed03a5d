"""The target that a session is opened on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.targets.application.change_targets import TargetRules
from backend_api.targets.application.configurations import Configurations
from backend_api.targets.domain import SandboxTarget, TargetId
from backend_api.targets.errors import TargetNotFoundError
from backend_api.targets.ports import Targets


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseTarget:
    """`SessionTargets`."""

    targets: Targets
    rules: TargetRules
    configurations: Configurations

    async def options(self, user_id: UserId, target_id: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """The session's options for this target. Refused if the target is not allowed any more. A session on a remote
        host asks before it changes something, unless the options choose otherwise."""
        try:
            target = await self.targets.get(TargetId(target_id), user_id)
        except TargetNotFoundError as error:
            raise InvalidError(
                "You have no such computer. GET /api/targets lists them.", field="body.target_id"
            ) from error
        if isinstance(target, SandboxTarget):
            await self.configurations.check_if_known(target.made_of)
            return options
        if self.rules.ssh == "off":
            reason = "Remote hosts have been turned off on this server (SSH_TARGETS)."
            raise InvalidError(reason, field="body.target_id")
        if target.ssh.host_key is None:
            reason = "Test this computer first, and confirm the fingerprint of its host key."
            raise InvalidError(reason, field="body.target_id")
        return {"enable_approval": True} | {**options}
