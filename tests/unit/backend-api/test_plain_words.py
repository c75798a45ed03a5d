"""What a person reads is in words of theirs: no part of ours is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
OURS = re.compile(r"\b(sandbox\w*|worker|lease|gateway|replica|tool API|VNC|endpoint)\b|沙箱|进程|网关", re.IGNORECASE)
TEXT = re.compile(r"""(['"`])(?P<text>(?:\\.|(?!\1).)*)\1""")


@pytest.mark.parametrize(
    "file", sorted((ROOT / "frontend" / "src" / "i18n").glob("[ez][nh]*.ts")), ids=lambda file: file.name
)
def test_the_page_names_no_part_of_ours(file: Path) -> None:
    texts = [found["text"] for found in TEXT.finditer(file.read_text(encoding="utf-8"))]
    assert [text for text in texts if OURS.search(text)] == []


def test_the_demo_model_names_no_part_of_ours() -> None:
    scenes = ROOT / "backend-api" / "src" / "backend_api" / "models" / "demo" / "scenes.yaml"
    lines = [line for line in scenes.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    assert [line for line in lines if OURS.search(line)] == []
