"""What the chat answers with, and how an answer is recorded."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from outcrop_schemas import limits
from outcrop_schemas.claims import CheckedClaim
from outcrop_schemas.outcome import ReportedFigure, Status

Known = Literal["listed", "attached", "made", "given", "named", "unknown"]
"""How a file came into the conversation: listed by a tool, attached, made by a run, given with --data, named by the
user, or not at all."""


class ChatAnswer(BaseModel):
    """The answer to the user's message."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    answer: str = Field(
        min_length=1, max_length=limits.CHAT_ANSWER_CHARS, description="What the user reads, in plain text."
    )
    files: list[str] = Field(default=[], max_length=limits.CHAT_FILES, description="Paths of the files it cites.")


class CitedFile(BaseModel):
    """A file that an answer cites, and whether the conversation knows it."""

    model_config = ConfigDict(frozen=True)

    path: str
    known: Known


class Answered(BaseModel):
    """One turn of a chat: a message, its answer, and what came of checking it."""

    model_config = ConfigDict(frozen=True)

    number: int
    message: str
    status: Status
    answer: str = ""
    figures: list[ReportedFigure] = []
    claims: list[CheckedClaim] = []
    files: list[CitedFile] = []
    runs: list[str] = []
    warnings: list[str] = []
    errors: list[str] = []
    turns: int = 0
    """Turns of the model that are recorded."""

    started_at: str
    duration_s: float

    @property
    def is_good(self) -> bool:
        return self.status in ("success", "partial")
