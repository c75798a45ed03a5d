"""Starts the program that searches source code, and ends it with the call."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE
from dataclasses import asdict, dataclass, field, replace

from pydantic import TypeAdapter, ValidationError

from service_kit.programs import ProgramStart, running_program
from tool_api.navigation.places import Looked, Place, Question, Step
from tool_api.programs.modules import module_command

AT_ONCE = 2
_TO_TELL_S = 3.0
_MOST_BREAKS = 3
_MAX_LINE_BYTES = 16 * 1024 * 1024
_MAX_SAID_BYTES = 32 * 1024 * 1024
_STEP = TypeAdapter(Step)


@dataclass(slots=True)
class Answer:
    """The places that were found, and how far the search went."""

    places: list[Place] = field(default_factory=list[Place])
    looked: Looked = field(default_factory=Looked)


class SourcePrograms:
    """Starts a few searches at a time."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_ONCE)

    async def answer(self, question: Question, folder: int) -> Answer:
        """The answer for the folder of this descriptor. A file that breaks the program is left out, and the others are
        searched again."""
        loop = asyncio.get_running_loop()
        until = loop.time() + question.within_s
        async with self._room:
            while True:
                asked = replace(question, within_s=max(0.1, until - loop.time()))
                run = _Run()
                await run.go(asked, folder)
                answer = run.answer
                if run.is_finished:
                    answer.looked.hard += [path for path in question.skipped if path not in answer.looked.hard]
                    return answer
                answer.looked.is_whole = False
                if run.at is None or len(question.skipped) >= _MOST_BREAKS or loop.time() > until:
                    answer.looked.hard += [*question.skipped, *([run.at] if run.at else [])]
                    return answer
                question = replace(question, skipped=[*question.skipped, run.at])


class _Run:
    """One run of the program. `at` is the file it was in when the connection was cut off."""

    def __init__(self) -> None:
        self.answer = Answer()
        self.at: str | None = None
        self.is_finished = False

    async def go(self, question: Question, folder: int) -> None:
        start = ProgramStart(
            command=module_command("tool_api.navigation.program"),
            # The child's own descriptor, which it still has then: no other process may look into this one.
            folder=f"/proc/self/fd/{folder}",
            stdin=PIPE,
            line_bytes=_MAX_LINE_BYTES,
        )
        try:
            async with asyncio.timeout(question.within_s + _TO_TELL_S), running_program(start) as program:
                program.input.write(json.dumps(asdict(question)).encode())
                program.input.close()
                await self._listen(program.output)
        except (TimeoutError, ConnectionError):
            return

    async def _listen(self, said: asyncio.StreamReader) -> None:
        heard = 0
        try:
            while line := await said.readline():
                heard += len(line)
                step = _STEP.validate_json(line)
                self.at = step.at or self.at
                self.answer.places += step.places or []
                if step.looked is not None:
                    self.answer.looked, self.is_finished = step.looked, True
                    return
                if heard > _MAX_SAID_BYTES:
                    return
        except (ValidationError, ValueError):
            # Cut in the middle of a line, as a program is that broke.
            return
