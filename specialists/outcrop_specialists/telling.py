"""What a specialist says besides its answer while it works: that something is missing, and what it would have to ask.

Nobody answers a specialist while it works. What it says stands in its completion whatever becomes of the rest, typed,
so that whoever gave the work can help, and give it again.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_schemas.messages import ToolSchema


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Gap(_Told):
    """A capability that is missing."""

    capability: str = Field(min_length=1, max_length=limits.ENTRY_CHARS, description="What cannot be done.")
    reason: str = Field(min_length=1, max_length=limits.ENTRY_CHARS, description="Why, and what it was needed for.")
    package: str | None = Field(default=None, max_length=200, description="The package that would do it, by its name.")
    manager: Literal["pip", "conda", "apt", "npm", "other"] | None = Field(
        default=None, description="What would install it."
    )
    fallback: str | None = Field(
        default=None, max_length=limits.ENTRY_CHARS, description="What can be done without, and what is lost by it."
    )


class Question(_Told):
    """What only whoever gave the work can say."""

    question: str = Field(min_length=1, max_length=limits.ENTRY_CHARS)
    assumption: str = Field(
        min_length=1, max_length=limits.ENTRY_CHARS, description="By what the work goes on until somebody answers."
    )

    def line(self) -> str:
        """As it stands among the blockers."""
        return f"question: {self.question} (assumed meanwhile: {self.assumption})"


REPORT_GAP = ToolSchema(
    name="report_gap",
    description=(
        "Say that a tool or package is missing that the work needs. Nothing is installed now; go on with a fallback, "
        "or end with the status capability_gap. Where package and manager are named the user may have it installed; "
        "the work is then given again, with what you had come to."
    ),
    input_schema=Gap.model_json_schema(),
)
ASK = ToolSchema(
    name="ask",
    description=(
        "Ask what only whoever gave you the work can say, and by what assumption you go on: nobody answers while you "
        "work, the question stands in your outcome."
    ),
    input_schema=Question.model_json_schema(),
)


class Told:
    """What one specialist has said so far."""

    def __init__(self) -> None:
        self.gaps: list[Gap] = []
        self.questions: list[Question] = []

    def take(self, told: Gap | Question) -> dict[str, str]:
        """Keep it; what the model is answered. Raises ArgumentError where it has said enough."""
        kept: list[Gap] | list[Question] = self.gaps if isinstance(told, Gap) else self.questions
        if told in kept:
            return {"noted": "it was noted before"}
        if len(kept) >= limits.TOLD_ENTRIES:
            raise ArgumentError("question" if isinstance(told, Question) else "capability", "enough was said; go on")
        kept.append(told)  # type: ignore[arg-type]
        if isinstance(told, Gap):
            return {"noted": "it stands in your outcome", "go_on": told.fallback or "without it, or end the work"}
        return {"noted": "it stands in your outcome", "go_on": f"by your assumption: {told.assumption}"}

    def blockers(self) -> list[str]:
        """What stands among the blockers of a completion; of gaps all but the first, which has a field of its own."""
        more = [f"missing: {gap.capability}: {gap.reason}" for gap in self.gaps[1:]]
        return [*more, *(question.line() for question in self.questions)]

    def gap(self) -> Gap | None:
        return self.gaps[0] if self.gaps else None
