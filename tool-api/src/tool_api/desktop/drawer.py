"""Draws formulas and diagrams in a page of the printing browser that holds our libraries and nothing of a document."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from tool_api.tools.browser.cdp import CdpConnection, CdpError, Payload
from tool_api.tools.documents.drawings import LIBRARIES, MAX_DRAWINGS, MAX_SOURCE_CHARACTERS, Drawing, Drawn

_ALL_S = 30.0
"""Time limit for all drawings of a document: a text whose diagrams never end must be printed as well."""
_TOO_LONG = Drawn(fault="drawing it, or those before it, took too long")
_ANSWER = TypeAdapter(dict[Literal["made", "fault"], str])
_DRAW = Path(__file__).with_name("drawing.js").read_text()


async def draw(connection: CdpConnection, wanted: Sequence[Drawing]) -> list[Drawn]:
    """One result for each of the first `MAX_DRAWINGS` drawings, even if drawing it fails."""
    drawn: list[Drawn] = []
    wanted = wanted[:MAX_DRAWINGS]
    if not all((LIBRARIES / name).exists() for name in ("katex.min.js", "mermaid.min.js")):
        return [Drawn(fault="its renderer is not installed here")] * len(wanted)
    try:
        async with asyncio.timeout(_ALL_S):
            target = await connection.send("Target.createTarget", {"url": "about:blank"})
            try:
                session = await _attach(connection, str(target["targetId"]))
                await _load(connection, session, wanted)
                for number, one in enumerate(wanted):
                    drawn.append(await _draw_one(connection, session, one, number))
            finally:
                await connection.send("Target.closeTarget", {"targetId": target["targetId"]}, timeout_s=5)
    except (TimeoutError, CdpError):
        drawn += [_TOO_LONG] * (len(wanted) - len(drawn))
    return drawn


async def _attach(connection: CdpConnection, target: str) -> str:
    attached = await connection.send("Target.attachToTarget", {"targetId": target, "flatten": True})
    session = str(attached["sessionId"])
    # Whatever a library might ask for.
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    await connection.send("Network.enable", session=session)
    await connection.send("Network.emulateNetworkConditions", offline, session=session)
    return session


async def _load(connection: CdpConnection, session: str, wanted: Sequence[Drawing]) -> None:
    libraries = {"mermaid.min.js" if one.is_diagram else "katex.min.js" for one in wanted}
    for name in sorted(libraries):
        source = await asyncio.to_thread((LIBRARIES / name).read_text)
        await _evaluate(connection, session, source)


async def _draw_one(connection: CdpConnection, session: str, one: Drawing, number: int) -> Drawn:
    if len(one.source) > MAX_SOURCE_CHARACTERS:
        return Drawn(fault=f"it is over {MAX_SOURCE_CHARACTERS} characters")
    arguments = ", ".join(json.dumps(value) for value in (one.kind, one.source, number))
    answer = await _evaluate(connection, session, f"({_DRAW})({arguments})")
    try:
        answered = _ANSWER.validate_python(answer["result"]["value"])
    except (KeyError, TypeError, ValidationError):
        return Drawn(fault="it could not be drawn")
    return Drawn(made=answered.get("made", ""), fault=answered.get("fault", "it is empty"))


async def _evaluate(connection: CdpConnection, session: str, expression: str) -> Payload:
    parameters = {"expression": expression, "awaitPromise": True, "returnByValue": True}
    return await connection.send("Runtime.evaluate", parameters, session=session, timeout_s=_ALL_S)
