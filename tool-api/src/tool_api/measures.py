"""Everything the tool API counts. A new measure is a line here and a row in docs/operations.md."""

from __future__ import annotations

from service_kit.observation.instruments import Instruments

INSTRUMENTS = Instruments()

CALLS = INSTRUMENTS.counter("tool_api_calls_total", "Calls of tools.", "tool", "outcome")
CALL_SECONDS = INSTRUMENTS.histogram("tool_api_call_seconds", "Calls of tools from begin to end.", "tool")
CALLS_RUNNING = INSTRUMENTS.gauge("tool_api_calls_running", "Calls at work now.")
SHELLS = INSTRUMENTS.gauge("tool_api_shells", "Named shells that are open.")
VIEWERS = INSTRUMENTS.gauge("tool_api_vnc_viewers", "Viewers of the desktop.", "mode")
HTTP_REQUESTS = INSTRUMENTS.counter("tool_api_http_requests_total", "Requests.", "method", "route", "status")
