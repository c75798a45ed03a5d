"""Settings that there were: one that is still set is told of at the start, and not passed over."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

logger = logging.getLogger(__name__)

TABLE = Path(__file__).with_suffix(".txt")


def read_former() -> dict[str, str]:
    """What holds in place of each."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return {name: instead for name, _, instead in pairs}


def tell_of_former(environ: Mapping[str, str]) -> None:
    """A line of the log for each that is set."""
    for name, instead in read_former().items():
        if environ.get(name):
            logger.warning("no setting any more", extra={"setting": name, "instead": instead})
