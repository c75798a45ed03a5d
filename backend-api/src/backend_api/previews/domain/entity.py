"""A port of a session's sandbox that its user opened, so that a browser reaches the program that listens there."""

from __future__ import annotations

import base64
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NewType

from backend_api.identity.domain.entity import AccessClaims
from backend_api.kit.ids import SessionId, UserId
from backend_api.previews.domain.errors import PortRefusedError

PortId = NewType("PortId", str)
"""A DNS label that can't be guessed; each port's address has a host of this name."""
OpenedBy = Literal["agent", "person"]

FIRST_PORT = 1024
LAST_PORT = 65535
RESERVED_PORTS = frozenset({7000, 9222})
"""Ports of the sandbox's own services: the endpoint of its tools, and the control port of its browser."""
MAX_LABEL_CHARACTERS = 80
_ID_BYTES = 16
_ID = re.compile("[a-z2-7]{26}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedPort:
    """A port is open until it is closed or its session deleted, whatever happens to the sandbox meanwhile."""

    id: PortId
    session_id: SessionId
    user_id: UserId
    port: int
    label: str
    opened_at: datetime
    opened_by: OpenedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewGrant:
    """The right of one log-in to one opened port."""

    port_id: PortId
    claims: AccessClaims


def new_port_id() -> PortId:
    """A new id of 128 random bits in base 32."""
    return PortId(base64.b32encode(secrets.token_bytes(_ID_BYTES)).decode().rstrip("=").lower())


def port_id_from(text: str) -> PortId | None:
    """The id; None if the text is no id."""
    return PortId(text) if _ID.fullmatch(text) else None


def check_port(port: int) -> None:
    """Check the number. Raises `PortRefusedError`."""
    if not FIRST_PORT <= port <= LAST_PORT or port in RESERVED_PORTS:
        own = " and ".join(str(one) for one in sorted(RESERVED_PORTS))
        raise PortRefusedError(
            f"The port {port} can't be opened. Start the app on a port from {FIRST_PORT} to {LAST_PORT}, other than "
            f"{own}, which belong to the computer's own services.",
            field="body.port",
        )


def clean_label(label: str) -> str:
    """The label as one line of visible characters."""
    visible = "".join(one if one.isprintable() else " " for one in label)
    return " ".join(visible.split())[:MAX_LABEL_CHARACTERS]
