"""Pages that stand in for an app that can't be shown."""

from __future__ import annotations

import pytest

from backend_api.previews.proxy.pages import page_of
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.targets.errors import HostUnreachableError, HostUnusableError


@pytest.mark.parametrize("language", ["en", "zh-CN"])
@pytest.mark.parametrize("kind", [HostUnusableError, HostUnreachableError])
def test_the_page_says_what_is_wrong_with_a_remote_host(kind: type[Exception], language: str) -> None:
    error = kind("The host <build> forwards no ports.")
    assert isinstance(error, HostUnusableError | HostUnreachableError)
    page = page_of(error, {"type": "http", "headers": [(b"accept-language", language.encode())]})
    assert page.status_code == 502
    assert "<p>The host &lt;build&gt; forwards no ports.</p>" in bytes(page.body).decode()


def test_the_page_tells_nothing_more_of_a_sandbox() -> None:
    page = page_of(SandboxUnavailableError("internal words"), {"type": "http", "headers": []})
    assert page.status_code == 503
    assert "internal words" not in bytes(page.body).decode()
