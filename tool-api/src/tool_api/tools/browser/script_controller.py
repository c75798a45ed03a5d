"""JavaScript in the page, and the page's console. Both use a connection of their own, which ends if a page sends too
much: the one that the other tools share stays."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from contracts.tools import ToolResult
from tool_api.tools.browser import types
from tool_api.tools.browser.cdp import CdpClosedError, CdpConnection, CdpError, Payload
from tool_api.tools.browser.console import Console
from tool_api.tools.browser.driver import CHOOSER, BrowserDriver, RefusedError
from tool_api.tools.browser.tab import Tab
from tool_api.tools.tool import CallContext

SERIALIZER = Path(__file__).with_name("result.js").read_text(encoding="utf-8")
MAX_RESULT = 20_000
MAX_ERROR = 2_000
TERMINATE_S = 2.0
SPARE_S = 2.0
SETTLE_S = 4.0


class ScriptController:
    """Runs scripts and reads the console; output of the page is bounded and marked as the page's."""

    def __init__(self, driver: BrowserDriver) -> None:
        self._driver = driver

    async def script(self, context: CallContext, arguments: types.BrowserScript) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            if not await tab.responds():
                raise RefusedError("The page does not respond. Open another one, or restart the browser.")
            async with tab.file_choosers() as chooser, self._driver.tabs.beside(tab, _ignore) as (connection, session):
                try:
                    succeeded, said = await self._run(connection, session, arguments)
                except CdpClosedError:
                    if connection.was_overrun:
                        raise RefusedError("The script ran, but its result is too large. Return less.") from None
                    succeeded, said = True, "The script ran, and its page was closed."
                if chooser.done():
                    said = f"{said}\n{CHOOSER}"
            result = await self._driver.after(tab, "script", said, text=0)
            return result if succeeded else result.model_copy(update={"success": False})

        return await self._driver.act(context, act, arguments.answer)

    async def console(self, context: CallContext, arguments: types.BrowserConsole) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            if not await tab.responds():
                raise RefusedError("The page does not respond. Open another one, or restart the browser.")
            console = Console(arguments.level, arguments.limit)
            async with self._driver.tabs.beside(tab, console.on_event) as (connection, session):
                try:
                    # Enabling a domain repeats its earlier messages.
                    await connection.send("Log.enable", session=session)
                    await connection.send("Runtime.enable", session=session)
                except CdpClosedError:
                    if not connection.was_overrun:
                        raise
                    await tab.send("Runtime.discardConsoleEntries")
                    raise RefusedError("A console message was too large to be read; its text was dropped.") from None
            return await self._driver.observe(tab, "console", console.recent_messages(), text=0)

        return await self._driver.act(context, act)

    async def _run(self, connection: CdpConnection, session: str, arguments: types.BrowserScript) -> tuple[bool, str]:
        limit = float(arguments.timeout_s)
        parameters: Payload = {
            "expression": arguments.script,
            "awaitPromise": True,
            "replMode": True,
            "userGesture": True,
            "timeout": int(limit * 1000),
        }
        try:
            async with asyncio.timeout(limit + SPARE_S):
                answer = await connection.send(
                    "Runtime.evaluate", parameters, session=session, timeout_s=limit + SPARE_S
                )
                found: Payload = answer.get("result", {})
                if found.get("subtype") == "promise" and "exceptionDetails" not in answer:
                    # In this mode only an `await` is awaited.
                    promise: Payload = {"promiseObjectId": found.get("objectId")}
                    answer = await connection.send("Runtime.awaitPromise", promise, session=session, timeout_s=limit)
        except TimeoutError:
            with suppress(CdpError, TimeoutError):
                await connection.send("Runtime.terminateExecution", session=session, timeout_s=TERMINATE_S)
            return False, f"The script did not end within {limit:.0f} s."
        except CdpClosedError:
            raise
        except CdpError as error:
            if "navigated" in str(error).lower() or "context" in str(error).lower():
                return True, "The script ran, and opened another page."
            # Chrome's messages for a script it ended at the time limit.
            if "internal error" in str(error).lower() or "terminated" in str(error).lower():
                return False, f"The script did not end within {limit:.0f} s."
            raise
        if (failure := answer.get("exceptionDetails")) is not None:
            return False, _exception(failure)
        return True, await _result(connection, session, answer.get("result", {}))


def _ignore(_: str, __: Payload, ___: str | None) -> None:
    return


def _exception(failure: Payload) -> str:
    thrown: dict[str, Any] = failure.get("exception", {})
    what = thrown.get("description") or json.dumps(thrown.get("value")) or failure.get("text")
    place = f"line {int(failure.get('lineNumber', 0)) + 1}"
    return f"The script threw, in {place}: {str(what)[:MAX_ERROR]}"


async def _result(connection: CdpConnection, session: str, found: Payload) -> str:
    kind = str(found.get("subtype") or found.get("type", "undefined"))[:50]
    if kind == "undefined":
        return "The script returned nothing."
    if (handle := found.get("objectId")) is not None and kind not in ("function", "symbol"):
        parameters: Payload = {
            "objectId": handle,
            "functionDeclaration": SERIALIZER,
            "arguments": [{"value": MAX_RESULT}],
            "returnByValue": True,
        }
        answer = await connection.send("Runtime.callFunctionOn", parameters, session=session, timeout_s=5)
        if (failure := answer.get("exceptionDetails")) is not None:
            return f"The script returned a value of type {kind} that can't be serialised. {_exception(failure)}"
        value = str(answer.get("result", {}).get("value"))
    elif "value" in found:
        value = json.dumps(found["value"], ensure_ascii=False)
    else:
        value = str(found.get("unserializableValue") or found.get("description"))
    cut = f" (the first {MAX_RESULT} of {len(value)} characters)" if len(value) > MAX_RESULT else ""
    return f"The script returned, as {kind}{cut}:\n{value[:MAX_RESULT]}"
