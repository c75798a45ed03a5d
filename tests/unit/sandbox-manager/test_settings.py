"""Which settings a deployment can have."""

from __future__ import annotations

import pytest

from sandbox_manager.bootstrap.runtimes import RUNTIMES
from sandbox_manager.bootstrap.settings import Settings, SettingsError


def test_the_runtime_of_tests_is_no_value_a_deployment_can_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_MANAGER_TOKEN", "t" * 40)
    monkeypatch.setenv("MONGO_URI", "mongodb://127.0.0.1:1")
    monkeypatch.setenv("SANDBOX_RUNTIME", "fake")

    with pytest.raises(SettingsError, match="SANDBOX_RUNTIME"):
        Settings()

    assert set(RUNTIMES) == {"docker", "process", "auto"}


def test_a_start_takes_no_longer_than_the_gateway_waits_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_MANAGER_TOKEN", "t" * 40)
    monkeypatch.setenv("MONGO_URI", "mongodb://127.0.0.1:1")
    monkeypatch.setenv("SANDBOX_START_TIMEOUT_S", "110")
    Settings()

    monkeypatch.setenv("SANDBOX_START_TIMEOUT_S", "240")
    with pytest.raises(SettingsError, match="SANDBOX_START_TIMEOUT_S"):
        Settings()
