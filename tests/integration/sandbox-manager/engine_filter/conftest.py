"""The filter between a test and a scripted engine."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from support.filtered import Setting, a_setting


@pytest.fixture
async def between() -> AsyncGenerator[Setting]:
    async with a_setting() as setting:
        yield setting
