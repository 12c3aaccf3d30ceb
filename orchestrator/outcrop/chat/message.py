"""One message of a conversation on its way to its answer: asked, carried out, checked, recorded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from outcrop.chat.agent import chat_agent
from outcrop.chat.answer import Answered, ChatAnswer
from outcrop.chat.citations import Sources, objection, told
from outcrop.chat.history import Earlier
from outcrop.chat.sight import Sight
from outcrop.chat.toolbox import ChatToolbox, Researches
from outcrop.desk import Desk
from outcrop.gateway import Line
from outcrop.journal import now
from outcrop.lead.agent import status_of_failure
from outcrop.settings import CHAT
from outcrop_schemas import limits
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_schemas.outcome import Status
from outcrop_specialists.agent import AgentEnd
from outcrop_specialists.context.store import Store

CHAT_TURN, ANSWER, QUESTION, OBJECTION = "chat_turn", "chat_answer", "question", "objection"
"""Events of a chat's journal."""


class Answering:
    """The chat at work on one message."""

    def __init__(
        self,
        desk: Desk,
        line: Line,
        sight: Sight,
        sources: Sources,
        store: Store,
        researches: Researches,
        *,
        number: int,
        message: str,
        data: Sequence[str],
        pins: Mapping[str, str],
        earlier: Sequence[Earlier],
        attached: Sequence[str],
        runs: list[str],
        warnings: Sequence[str],
    ) -> None:
        self._desk, self._line, self._sources, self._store = desk, line, sources, store
        self._number, self._message, self._warnings = number, message, list(warnings)
        self._data, self._pins, self._earlier, self._attached = data, pins, list(earlier), attached
        self._runs, self._runs_before = runs, len(runs)
        self._started_at, self._started = now(), time.monotonic()
        self._model = _RecordedTurns(desk, line)
        self._objections = 0
        self._window = desk.gateway.models.window(CHAT)
        self.answered: Answered | None = None
        workspace = desk.shared.workspace
        self._toolbox = ChatToolbox(
            workspace,
            sight,
            sources,
            store,
            self._note,
            researches,
            self._window.tokens,
            runs,
            desk.shared.hands,
            desk.spans,
        )
        sight.hear(message)
        self._sources.know((word.strip(".,;:!?\"'()") for word in message.split() if "." in word), "named")

    def as_earlier(self) -> Earlier:
        """This turn, for those that follow."""
        answer = self.answered
        if answer is None or not answer.answer:
            return Earlier(self._message, f"(no answer: {answer.status if answer else 'interrupted'})")
        return Earlier(self._message, answer.answer)

    async def run(self) -> Answered:
        """Raises JournalError; what a model does not do is in the answer."""
        note = {"number": self._number, "message": self._message, "warnings": self._warnings}
        await self._note(QUESTION, note)
        try:
            end = await self._agent().run()
            answered = self._checked(end)
        except ModelError as error:
            answered = self._made(status_of_failure(error), errors=[f"model: {error}"])
        except asyncio.CancelledError:
            self.answered = self._made("cancelled", errors=["the answer was cancelled"])
            body = {"kind": ANSWER, "agent": CHAT, "answered": self.answered.model_dump(mode="json")}
            self._desk.journal.append_now("event", self._desk.folder.run_id, body)
            raise
        self.answered = answered
        await self._note(ANSWER, {"answered": answered.model_dump(mode="json")})
        return answered

    def _agent(self) -> Any:
        turns = self._desk.gateway.models.parameters(CHAT).turns or limits.AGENT_TURNS
        return chat_agent(
            self._model,
            self._toolbox,
            self._message,
            data=self._data,
            pins=self._pins,
            earlier=self._earlier,
            attached=self._attached,
            turns=turns,
            window=self._window,
            store=self._store,
            objects=self._objects,
        )

    def _objects(self, answer: BaseModel) -> str | None:
        """An answer that cites unknown files is given back once."""
        assert isinstance(answer, ChatAnswer)
        if self._objections:
            return None
        said = objection(self._sources.cited(answer))
        if said:
            self._objections += 1
            body = {"kind": OBJECTION, "agent": CHAT, "turn": self._model.asked, "text": said}
            self._desk.journal.append_now("event", self._desk.folder.run_id, body)
        return said

    def _checked(self, end: AgentEnd) -> Answered:
        if not isinstance(end.answer, ChatAnswer):
            return self._made("error", errors=[f"{end.stop}: {end.reason}"])
        cited = self._sources.cited(end.answer)
        figures, claims = self._sources.traced(end.answer.answer)
        warnings = told(cited, figures)
        return self._made(
            "partial" if warnings else "success",
            answer=end.answer.answer,
            figures=figures,
            claims=claims,
            files=cited,
            warnings=warnings,
        )

    def _made(self, status: Status, warnings: Sequence[str] = (), **fields: Any) -> Answered:
        return Answered(
            number=self._number,
            message=self._message,
            status=status,
            runs=self._runs[self._runs_before :],
            warnings=[*self._warnings, *warnings, *self._line.warnings],
            turns=self._model.recorded,
            started_at=self._started_at,
            duration_s=round(time.monotonic() - self._started, 3),
            **fields,
        )

    async def _note(self, kind: str, body: Mapping[str, Any]) -> None:
        await self._desk.note(kind, {"agent": CHAT, **body})


class _RecordedTurns:
    """The chat's model. Each request is noted in the journal before it is sent."""

    def __init__(self, desk: Desk, line: Line) -> None:
        self._desk, self._line = desk, line
        self.asked = self.recorded = 0

    async def create(self, request: ModelRequest) -> ModelResponse:
        if request.purpose != "turn":
            return await self._line.create(request)
        self.asked += 1
        await self._desk.note(CHAT_TURN, {"agent": CHAT, "number": self.asked})
        try:
            response = await self._line.create(request)
        except ModelError:
            self.recorded += 1
            raise
        self.recorded += 1
        return response
