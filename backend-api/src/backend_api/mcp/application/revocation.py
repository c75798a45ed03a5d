"""Revokes the tokens of an authorization server once they are no longer used."""

from __future__ import annotations

import logging

from backend_api.kit.ids import UserId
from backend_api.mcp.domain.entity import McpServer
from backend_api.mcp.domain.sign_in import Authorizer, Grant, McpSignInError

logger = logging.getLogger(__name__)


async def revoke(authorizer: Authorizer, server: McpServer, user_id: UserId, grant: Grant) -> None:
    """Revokes a grant. A failure is only logged: the grant is deleted here in any case, and expires by itself."""
    try:
        await authorizer.revoke(server.source, user_id, grant)
    except McpSignInError as error:
        log_values = {"server": server.name, "issuer": grant.client.issuer, "reason": error.detail}
        logger.warning("the tokens for an MCP server could not be revoked", extra=log_values)
