"""Commands that can be found again among all of the machine's."""

from __future__ import annotations

import os
import random

import pytest


@pytest.fixture
def seconds() -> str:
    """A length of sleep nobody else uses, to find our own sleeps in /proc."""
    return f"6{os.getpid()}.{random.getrandbits(24)}"
