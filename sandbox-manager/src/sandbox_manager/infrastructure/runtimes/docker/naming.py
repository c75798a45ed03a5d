"""Names and labels of a sandbox's Docker objects. Labels are its immutable identity."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from sandbox_manager.domain.configuration import Configuration
from sandbox_manager.domain.identifiers import InvalidIdentifierError, parse_generation
from sandbox_manager.domain.sandbox import Identity, pool_session

_log = logging.getLogger(__name__)

_PREFIX = "agent-sandbox"
STACK = f"{_PREFIX}.stack"
ENDPOINT_CLIENT = f"{_PREFIX}.door-client"
SANDBOX = f"{_PREFIX}.id"
SESSION = f"{_PREFIX}.session"
USER = f"{_PREFIX}.user"
GENERATION = f"{_PREFIX}.generation"
IMAGE = f"{_PREFIX}.image"
SIZE = f"{_PREFIX}.size"


def labels_of(identity: Identity, stack: str) -> dict[str, str]:
    return {
        STACK: stack,
        SANDBOX: identity.sandbox_id,
        SESSION: identity.session_id,
        USER: identity.user_id,
        GENERATION: str(identity.generation),
    }


def choice_labels(configuration: Configuration) -> dict[str, str]:
    """Labels for people who look at the containers: the names of the chosen image and size, if any."""
    names = {IMAGE: configuration.image_name, SIZE: configuration.size_name}
    return {label: name for label, name in names.items() if name}


def workspace_labels(identity: Identity, stack: str) -> dict[str, str]:
    """A workspace outlives its sandboxes, so it carries neither their id nor their generation."""
    return {STACK: stack, SESSION: identity.session_id, USER: identity.user_id}


def identity_of(labels: Mapping[str, str] | None) -> Identity | None:
    """The identity in a sandbox's labels; None for labels of anything else."""
    try:
        return Identity(
            sandbox_id=(labels or {})[SANDBOX],
            session_id=(labels or {})[SESSION],
            user_id=(labels or {})[USER],
            generation=parse_generation((labels or {})[GENERATION]),
        )
    except KeyError:
        return None
    except InvalidIdentifierError as error:
        _log.warning("labels of an unknown sandbox ignored", extra={"reason": error.detail, "field": error.field})
        return None


def container_name(stack: str, identity: Identity) -> str:
    return f"{stack}-{identity.sandbox_id}"


def network_name(stack: str, identity: Identity) -> str:
    return f"{stack}-net-{identity.sandbox_id}"


def archives_name(stack: str, identity: Identity) -> str:
    """The volume with the archives of a session's workspace."""
    return f"{stack}-snap-{identity.session_id}"


def volume_name(stack: str, identity: Identity) -> str:
    return f"{stack}-ws-{identity.session_id}"


def pool_volume_name(stack: str, identity: Identity) -> str:
    """The volume a sandbox was pooled with."""
    return f"{stack}-ws-{pool_session(identity.sandbox_id)}"
