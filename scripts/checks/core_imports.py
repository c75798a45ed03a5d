"""The core of each context of the gateway (domain, application, ports, and the agent) imports the standard library,
the core of other contexts, the families of errors, the words for amounts, a timeout for many waits, and how they are
watched, which itself imports the standard library, OpenTelemetry's API and the Prometheus client alone."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import ROOT, report

_WATCHED = "service_kit.observation"
# The API alone: what sends spans is the SDK, for bootstrap.
_TELEMETRY = ("opentelemetry.context", "opentelemetry.trace")
_COUNTS = "prometheus_client"
_FAMILIES = "service_kit.failures"
_AMOUNTS = "service_kit.amounts"
_TIMEOUTS = "service_kit.wait_limit"
_TERMINAL = "service_kit.terminal"
_GATEWAY = "backend-api/src/backend_api"
_CORE = re.compile(
    r"backend_api\.(?!kit\.)(?:agent(?!\.(?:http|mongo|presets|tools)\b)"
    r"|[a-z_]+\.(?:domain|application|ports|errors|paths)|(?!models|research)[a-z_]+\.listing"
    r"|research\.(?:attached|bibliography|corpus|findings|identity|keys|matching|naming|papers)"
    r"|writing\.(?:checking|citations|exporting|figures|projects|styles))\b"
    r"|backend_api\.kit\.(?:errors|http_address|ids|masking|measures|notifier|stored_time|invisible_characters)\b"
)
"""Modules of the gateway that know no database, no web framework and no network."""
_WITH_MEASURES = (_WATCHED, _TIMEOUTS, _AMOUNTS, _FAMILIES, _TERMINAL, *_TELEMETRY, _COUNTS)
_ALLOWED = {
    "service-kit/src/service_kit/observation": (_WATCHED, *_TELEMETRY, _COUNTS),
    "service-kit/src/service_kit/failures.py": (),
    "service-kit/src/service_kit/amounts.py": (),
    "service-kit/src/service_kit/wait_limit.py": (),
    "service-kit/src/service_kit/terminal": (_TERMINAL,),
}


def main() -> int:
    findings: list[str] = []
    for path in sorted((ROOT / _GATEWAY).rglob("*.py")):
        if _CORE.match(module_of(path)):
            findings += findings_of(path, _WITH_MEASURES)
    for folder, allowed in _ALLOWED.items():
        place = ROOT / folder
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            findings += findings_of(path, allowed)
    return report("the core must not import this", findings)


def module_of(path: Path) -> str:
    return "backend_api." + ".".join(path.relative_to(ROOT / _GATEWAY).with_suffix("").parts)


def findings_of(path: Path, allowed: tuple[str, ...]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)} {name}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in names_of(node)
        if not is_allowed(name, allowed) and not _CORE.match(name)
    ]


def names_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module == "backend_api.kit":
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return []


def is_allowed(name: str, allowed: tuple[str, ...]) -> bool:
    inside = any(name == prefix or name.startswith(prefix + ".") for prefix in allowed)
    return inside or name.split(".")[0] in sys.stdlib_module_names


if __name__ == "__main__":
    sys.exit(main())
