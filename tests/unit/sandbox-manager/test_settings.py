"""Which settings a deployment can have."""

from __future__ import annotations

import re
from pathlib import Path

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
    monkeypatch.setenv("SANDBOX_TUNING", "start-s=110")
    Settings()

    monkeypatch.setenv("SANDBOX_TUNING", "start-s=240")
    with pytest.raises(SettingsError, match=r"SANDBOX_TUNING: .*start-s is a number from 1 to 110"):
        Settings()


def test_what_the_example_says_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    example = (Path(__file__).parents[3] / ".env.example").read_text(encoding="utf-8")
    said = dict(re.findall(r"^([A-Z]\w*)=(.+)$", example, re.MULTILINE))
    monkeypatch.setenv("SANDBOX_MANAGER_TOKEN", "t" * 40)
    monkeypatch.setenv("MONGO_URI", "mongodb://127.0.0.1:1")
    for name in said:
        monkeypatch.delenv(name, raising=False)
    usual = Settings()
    assert usual.lifecycle.tuning["orphan-s"] == 600
    assert usual.workspaces.snapshots == {"count": 10, "mb": 2048, "total-mb": 4096}

    for name, value in said.items():
        monkeypatch.setenv(name, value)

    assert parts_of(Settings()) == parts_of(usual)


def parts_of(settings: Settings) -> list[object]:
    """All that is read from the environment."""
    return [
        *(settings.server, settings.registry, settings.lifecycle, settings.workspaces),
        *(settings.inside, settings.docker, settings.process),
    ]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("SANDBOX_SIZES", "large=4", "SANDBOX_SIZES"),
        ("SANDBOX_SIZES", "large=0:2048", "above 0"),
        ("SANDBOX_SIZES", "large=4:32", "at least 64"),
        ("SANDBOX_SIZES", "a=1:512,a=2:512", "twice"),
        ("SANDBOX_SIZES", "default=1:512", "kept for the default"),
        ("SANDBOX_SIZES", "huge=8:65536", "it could never start"),
        ("SNAPSHOT_LIMITS", "number=3", "count=10, mb=2048, total-mb=4096"),
        ("SNAPSHOT_LIMITS", "mb=0", "mb is a number from 1"),
        ("SANDBOX_IMAGES", "py", "name=value"),
        ("SANDBOX_IMAGES", "py=--privileged", "not an image name"),
    ],
)
def test_a_size_or_an_image_that_can_be_none_refuses_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str
) -> None:
    monkeypatch.setenv("SANDBOX_MANAGER_TOKEN", "t" * 40)
    monkeypatch.setenv("MONGO_URI", "mongodb://127.0.0.1:1")
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError, match=reason):
        Settings()
