"""`.env.example` has every setting of the gateway, the manager and compose, and no other."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pydantic_settings import BaseSettings

from backend_api.bootstrap import settings as gateway
from house.tracked import ROOT, report
from sandbox_manager.bootstrap import settings as manager


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


def main() -> int:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    written = set(re.findall(r"^(\w+)=", example, flags=re.MULTILINE))
    wanted = settings_of(gateway) | settings_of(manager) | compose_variables()
    status = report("is a setting that .env.example lacks", sorted(wanted - written))
    return report("is in .env.example but no setting", sorted(written - wanted)) or status


if __name__ == "__main__":
    sys.exit(main())
