"""Events in a session's stream when its opened ports change."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.events import PortClosed, PortOpened, PortResource, ResourcesUpdated
from backend_api.previews.domain.entity import OpenedPort

EVENTS_OF_A_CHANGE = 2
ChangeEvents = tuple[PortOpened | PortClosed, ResourcesUpdated]
"""The change, then all ports."""


def opening_events(port: OpenedPort, now_open: Sequence[OpenedPort]) -> ChangeEvents:
    """The events of an opening. `now_open` are all ports of the session, this one included."""
    opened = PortOpened(port_id=port.id, port=port.port, label=port.label, opened_by=port.opened_by)
    return opened, resources_of(now_open)


def closing_events(port: OpenedPort, now_open: Sequence[OpenedPort]) -> ChangeEvents:
    """The events of a closing. `now_open` are the ports that are left."""
    return PortClosed(port_id=port.id, port=port.port), resources_of(now_open)


def resources_of(ports: Sequence[OpenedPort]) -> ResourcesUpdated:
    """The event with these ports, in their order."""
    return ResourcesUpdated(
        resources=[
            PortResource(id=one.id, port=one.port, label=one.label, opened_at=one.opened_at, opened_by=one.opened_by)
            for one in ports
        ]
    )
