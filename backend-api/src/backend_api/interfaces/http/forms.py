"""Forms with files: read to their end or refused, and nothing of them stays open."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from fastapi import HTTPException, Request
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser

from backend_api.domain.errors import InvalidError

MAX_FIELDS = 10


class _Form(MultiPartParser):
    """A parser that refuses a body which ends before its form does.

    Starlette takes what came for all there is, and leaves the file that was cut to the garbage collector. It closes
    every file when the reading fails, so the reading fails.
    """

    def __init__(self, request: Request, body: AsyncGenerator[bytes, None], **bounds: Any) -> None:
        super().__init__(request.headers, self._whole(body), **bounds)
        self._has_ended = False

    def on_end(self) -> None:
        self._has_ended = True

    async def _whole(self, body: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async for piece in body:
            yield piece
        if not self._has_ended:
            raise InvalidError("The form is cut off.", field="body")


@asynccontextmanager
async def multipart_form(request: Request, *, max_files: int) -> AsyncGenerator[FormData]:
    """Its files are open inside the block. Raises `InvalidError` for any other body."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "multipart/form-data":
        raise InvalidError("The body must be multipart/form-data.", field="body")
    try:
        async with aclosing(request.stream()) as body:
            form = await _Form(request, body, max_files=max_files, max_fields=MAX_FIELDS).parse()
    except MultiPartException as error:
        raise HTTPException(400, error.message) from error
    try:
        yield form
    finally:
        await form.close()
