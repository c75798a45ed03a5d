"""Links to files as signed tokens."""

from __future__ import annotations

import time
from collections.abc import Callable

from backend_api.computers.domain import FileLink, LinkInvalidError
from backend_api.kit.signed_tokens import TokenSigner

LINK_AUDIENCE = "backend-api/files"


class JwtFileLinks:
    """`FileLinks`."""

    def __init__(self, secret: str, *, algorithm: str, clock: Callable[[], float] = time.time) -> None:
        self._signer = TokenSigner(secret, algorithm, LINK_AUDIENCE, "file", clock)

    def sign(self, link: FileLink, *, expires_s: int) -> str:
        """A token for one file or folder."""
        claims: dict[str, object] = {"sub": link.user_id, "sid": link.session_id, "path": link.path}
        claims |= ({"dir": 1} if link.is_folder else {}) | ({"run": 1} if link.is_running else {})
        return self._signer.sign(claims, expires_s)

    def read(self, token: str) -> FileLink:
        """The link that the token names."""
        claims = self._signer.read(token)
        if claims is None:
            raise LinkInvalidError("The link is invalid or has expired. Request a new one.")
        try:
            return FileLink(
                user_id=str(claims["sub"]),
                session_id=str(claims["sid"]),
                path=str(claims["path"]),
                is_folder=claims.get("dir") == 1,
                is_running=claims.get("run") == 1,
            )
        except KeyError as error:
            raise LinkInvalidError("The link is invalid or has expired. Request a new one.") from error
