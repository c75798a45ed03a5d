"""What a gateway of these settings would start with, before anything is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend_api.main.runtime import Plan, plan
from backend_api.main.settings import load_settings


def local_plan(monkeypatch: pytest.MonkeyPatch, folder: Path, **settings: str) -> Plan:
    """Of a gateway without log-in, with the demo model and its data in the folder; `settings` are of the environment.
    Raises `SettingsError`."""
    given = {"AUTH_MODE": "local", "DATA_DIR": str(folder), "LLM_PROVIDER": "demo", "HOST": "127.0.0.1", **settings}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return plan(load_settings())
