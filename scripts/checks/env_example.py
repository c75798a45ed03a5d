"""`.env.example` has every setting of the gateway, the manager and compose, and no other, nor
more than there may be; compose passes on each."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pydantic_settings import BaseSettings

from backend_api.main import settings as gateway
from backend_api.main.modules import MODULES
from house.tracked import ROOT, report
from sandbox_manager.bootstrap import settings as manager

MOST = 132
"""So many names there may be. A new one takes the place of another, or is a name in a setting that holds several."""
NOT_IN_COMPOSE = frozenset(
    {
        # REDIS_URL names them.
        "REDIS_HOST",
        "REDIS_PORT",
        # Of sandboxes that are processes; compose has containers.
        "SANDBOX_PROCESS_UNSAFE",
        "SANDBOX_SECCOMP_PROFILE",
    }
)


def names_of(model: type[BaseSettings]) -> set[str]:
    return {str(field.validation_alias or name).upper() for name, field in model.model_fields.items()}


def settings_of(module: object) -> set[str]:
    found: set[str] = set()
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, BaseSettings) and value is not BaseSettings:
            found |= names_of(value)
    return found


def compose_variables() -> set[str]:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    return set(re.findall(r"(?<!\$)\$\{(\w+)", text))


def named_in_compose() -> set[str]:
    return set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", (ROOT / "docker-compose.yml").read_text(encoding="utf-8")))


def main() -> int:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    written = set(re.findall(r"^(\w+)=", example, flags=re.MULTILINE))
    of_modules = {name for module in MODULES for name in names_of(module.settings)}
    settings = settings_of(gateway) | settings_of(manager) | of_modules
    status = report(
        "is how many settings there are", [f"{len(written)}, of {MOST} that may be"] if len(written) > MOST else []
    )
    status |= report("is a setting that .env.example lacks", sorted((settings | compose_variables()) - written))
    status |= report(
        "is a setting that docker-compose.yml passes to nobody", sorted(settings - named_in_compose() - NOT_IN_COMPOSE)
    )
    return report("is in .env.example but no setting", sorted(written - settings - compose_variables())) or status


if __name__ == "__main__":
    sys.exit(main())
