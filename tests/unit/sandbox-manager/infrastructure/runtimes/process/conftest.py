"""What all tests of process sandboxes share."""

from __future__ import annotations

import pytest

from sandbox_manager.infrastructure.runtimes.process import memory_watch


@pytest.fixture(autouse=True)
def patient_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round waits for its looks, however busy the machine is."""
    monkeypatch.setattr(memory_watch, "_JOIN_S", 60.0)
