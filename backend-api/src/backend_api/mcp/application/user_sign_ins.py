"""Users' sign-ins at MCP servers, with their tokens decrypted."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from backend_api.kit.ids import UserId
from backend_api.kit.stored_time import to_millisecond
from backend_api.mcp.domain.entity import McpTarget
from backend_api.mcp.domain.sign_in import Grant, OAuthClient, SignIn, SignIns, binding_of, server_key
from backend_api.settings.domain.errors import SecretUnreadableError
from backend_api.settings.ports import SecretBox


@dataclass(frozen=True, slots=True)
class SignInsOfUsers:
    """Seals and opens users' tokens, each bound to its user, server and address: nothing else opens it."""

    store: SignIns
    box: SecretBox

    async def of(self, user_id: UserId) -> Mapping[str, SignIn]:
        """The user's sign-ins by `server_key`. Raises `StoreUnavailableError`."""
        return await self.store.of(user_id)

    def grant(self, sign_in: SignIn | None, target: McpTarget) -> Grant | None:
        """The tokens for the server as it is configured now, or None if there are none or they can't be decrypted any
        more."""
        return self.opened(sign_in) if sign_in is not None and sign_in.binding == binding_of(target) else None

    def opened(self, sign_in: SignIn) -> Grant | None:
        """The tokens, whatever the server's present configuration, or None if there are none or they can't be decrypted
        any more."""
        if sign_in.sealed is None:
            return None
        try:
            return _grant_from(self.box.open(sign_in.sealed, bound_to=bound_to(sign_in)))
        except (SecretUnreadableError, ValueError, KeyError, TypeError):
            return None

    def given(self, user_id: UserId, target: McpTarget, grant: Grant, at: datetime | None = None) -> SignIn:
        """The sign-in of a user who was given this grant `at`, by default now. Raises `SecretsOffError`."""
        bare = self.needed(user_id, target, at)
        return replace(bare, sealed=self.box.seal(_text_of(grant), bound_to=bound_to(bare)))

    def needed(self, user_id: UserId, target: McpTarget, at: datetime | None = None) -> SignIn:
        """A record without tokens: the server asks the user to sign in."""
        return SignIn(
            user_id=user_id,
            server=server_key(target.server),
            binding=binding_of(target),
            version=uuid.uuid4().hex,
            at=to_millisecond(at or datetime.now(UTC)),
        )


async def with_sign_ins(sign_ins: SignInsOfUsers, user_id: UserId, targets: Iterable[McpTarget]) -> list[McpTarget]:
    """The targets, each with the time its user signed in. Raises `StoreUnavailableError`."""
    known = await sign_ins.of(user_id)
    found = [(target, known.get(server_key(target.server))) for target in targets]
    return [
        replace(target, signed_in_at=one.at) if one is not None and sign_ins.grant(one, target) is not None else target
        for target, one in found
    ]


def bound_to(sign_in: SignIn) -> str:
    """The context a sign-in's sealed tokens are bound to: they open nowhere else."""
    return f"{sign_in.user_id}\nmcp sign-in\n{sign_in.server}\n{sign_in.binding}"


def _text_of(grant: Grant) -> str:
    expires_at = grant.expires_at.isoformat() if grant.expires_at is not None else None
    return json.dumps({**asdict(grant), "expires_at": expires_at})


def _grant_from(text: str) -> Grant:
    values = cast("dict[str, Any]", json.loads(text))
    expires_at = values.pop("expires_at")
    client = OAuthClient(**values.pop("client"))
    return Grant(client=client, expires_at=datetime.fromisoformat(expires_at) if expires_at else None, **values)
