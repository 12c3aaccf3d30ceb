"""The lead's tools, and no others: two that look, dispatch, pin, hypothesis, remember, two that read on, checkpoint,
and complete.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from outcrop.desk import Desk
from outcrop.hypotheses import HYPOTHESIS, Hypotheses, HypothesisArguments
from outcrop.lead.roster import roster as roster
from outcrop.memory import Memory
from outcrop.own_tools import OwnTool, called
from outcrop.pins import PIN, Pins
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_schemas.messages import ToolSchema
from outcrop_schemas.outcome import Outcome
from outcrop_schemas.protocol import Offering, WindowSettings
from outcrop_specialists.completion import checked
from outcrop_specialists.context.checkpoint import CHECKPOINT
from outcrop_specialists.context.skills import READ_SKILL
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.window import READ_RESULT, result_chars
from outcrop_specialists.roles import ROLES
from outcrop_specialists.toolbox import bounded, read_page, skill_page
from outcrop_specialists.tools.registry import get_tool

DATA_TOOLS = ("list_files", "check_missing")
ATTACHMENTS = "attachments"
_RESULTS = frozenset({"results", "findings", "evidence"})


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DispatchArguments(_Arguments):
    """One piece of work."""

    specialist: str = Field(json_schema_extra={"enum": list(ROLES)})
    objective: str = Field(
        min_length=1,
        max_length=limits.OBJECTIVE_CHARS,
        description="What to do, complete in itself: the specialist knows nothing else.",
    )
    data: list[str] = Field(default=[], description="The files to work on, as listed.")
    context: dict[str, Any] = Field(
        default={},
        description="Facts the specialist needs, for example of earlier dispatches. `attachments` lists the paths of "
        "attached files that it is to see.",
    )
    hypotheses: list[str] = Field(
        default=[],
        max_length=limits.HYPOTHESES,
        description="Ids of the hypotheses that it tests: it is told their claims, what it says of them is entered.",
    )


class PinArguments(_Arguments):
    """A fact to keep word for word."""

    key: str
    value: str


class RememberArguments(_Arguments):
    """A fact to keep for later runs."""

    fact: str = Field(max_length=limits.MEMORY_FACT_CHARS, description="One sentence that is true beyond this run.")


def lead_schemas(tools: Offering = "all") -> list[ToolSchema]:
    """The lead's tools as its model sees them; the agent loop carries out `checkpoint`, and adds `complete`.

    Of the specialists' tools `all` tells everything, anything else name and a few words (`roster.py`).
    """
    return list(_schemas(is_short=tools != "all"))


@cache
def _schemas(*, is_short: bool) -> tuple[ToolSchema, ...]:
    # A run takes milliseconds to begin; making these took half of them.
    dispatch = f"Hand one piece of work to a specialist and wait for its outcome.\n{roster(is_short=is_short)}"
    return (
        ToolSchema(name="dispatch", description=dispatch, input_schema=DispatchArguments.model_json_schema()),
        *(get_tool(name).schema() for name in DATA_TOOLS),
        ToolSchema(
            name=PIN,
            description="Keep a fact word for word in everything you see.",
            input_schema=PinArguments.model_json_schema(),
        ),
        HYPOTHESIS,
        ToolSchema(
            name="remember",
            description="Keep a fact about this workspace for later runs; what fits an objective is shown with it.",
            input_schema=RememberArguments.model_json_schema(),
        ),
        READ_RESULT,
        READ_SKILL,
        CHECKPOINT,
    )


def _refuse_outcomes(value: Any) -> None:
    """A specialist sees the facts that its work needs, not what another found in full. Raises ArgumentError."""
    if isinstance(value, dict) and "dispatch_id" in value and not _RESULTS.isdisjoint(value):
        raise ArgumentError(
            "context", f"give the facts that are needed, not the outcome of {value['dispatch_id']} whole"
        )
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _refuse_outcomes(child)


def digest(outcome: Outcome) -> str:
    """An outcome as the lead sees it: data about the work, nothing about the process."""
    names = (
        "dispatch_id", "specialist", "status", "summary", "results", "truncated", "artifacts", "findings", "evidence",
        "recommendations", "blockers", "gap", "errors", "warnings",
    )  # fmt: skip
    shown = outcome.model_dump(mode="json", include=set(names))
    shown["results"] = without_rows(shown["results"])
    return wire.dumps({name: shown[name] for name in names if shown[name]}).decode()


def without_rows(value: Any) -> Any:
    """Results without rows of a table (a list of lists becomes its length): no row enters the lead's context."""
    if isinstance(value, dict):
        return {key: without_rows(child) for key, child in value.items()}
    if isinstance(value, list):
        if any(isinstance(item, list) for item in value):
            return f"({len(value)} rows, not for the lead)"
        return [without_rows(item) for item in value]
    return value


class LeadToolbox:
    """The lead's tools at work. Every result is recorded in the journal, so that prompts can be rebuilt from it."""

    def __init__(
        self, desk: Desk, pins: Pins, store: Store, window: WindowSettings, attach: Sequence[str] = ()
    ) -> None:
        self._desk, self._pins, self._store, self._attach = desk, pins, store, attach
        self._told, self._window_tokens = window.tools, window.tokens
        self.outcomes: list[Outcome] = []
        self.hypotheses = Hypotheses()
        self._tools: dict[str, OwnTool[str]] = {
            "dispatch": self._dispatch,
            PIN: self._pin,
            HYPOTHESIS.name: self._hypothesis,
            "remember": self._remember,
            READ_RESULT.name: self._read,
            READ_SKILL.name: self._read_skill,
            **{name: self._data_tool(name) for name in DATA_TOOLS},
        }

    def schemas(self) -> list[ToolSchema]:
        return lead_schemas(self._told)

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        with self._desk.spans.tool(name, call_id, arguments) as span:
            content = await called(self._tools, name, arguments, call_id, self._desk.note, "lead_tool")
            span.returned(content)
        return content

    async def _dispatch(self, arguments: dict[str, Any], call_id: str) -> str:
        asked = checked(DispatchArguments, arguments)
        context = {name: value for name, value in asked.context.items() if name != ATTACHMENTS}
        _refuse_outcomes(context)
        attach = self._attachments(asked.context.get(ATTACHMENTS, []))
        order = self._desk.order(
            asked.specialist,
            asked.objective,
            asked.data,
            context,
            pins=self._pins.as_dict(),
            current_pins=self._pins.as_dict,
            attach=attach,
            hypotheses=self.hypotheses.named(asked.hypotheses),
        )
        outcome = await self._desk.dispatch(order)
        self.outcomes.append(outcome)
        self.hypotheses.take(outcome)
        await self._desk.note("lead_tool", {"call_id": call_id, "name": "dispatch", "dispatch_id": outcome.dispatch_id})
        return digest(outcome)

    def _attachments(self, named: Any) -> list[str]:
        """The attached files that a dispatch names. Raises ArgumentError for what is not attached to the run."""
        names = [named] if isinstance(named, str) else named if isinstance(named, list) else [named]
        for name in names:
            if name not in self._attach:
                there = ", ".join(self._attach) or "nothing"
                raise ArgumentError(f"context.{ATTACHMENTS}", f"{name!r} is not attached; attached is {there}")
        return names

    async def _pin(self, arguments: dict[str, Any], call_id: str) -> str:
        asked = checked(PinArguments, arguments)
        self._pins.set(asked.key, asked.value)
        content = wire.dumps({"pinned": asked.key}).decode()
        note = {"call_id": call_id, "name": PIN, "key": asked.key, "value": asked.value, "content": content}
        await self._desk.note("lead_tool", note)
        return content

    async def _hypothesis(self, arguments: dict[str, Any], call_id: str) -> str:
        made = self.hypotheses.changed(checked(HypothesisArguments, arguments))
        content = wire.dumps({"hypothesis": made.id, "status": made.status, "confidence": made.confidence}).decode()
        note = {"call_id": call_id, "name": HYPOTHESIS.name, "hypothesis": made.model_dump(), "content": content}
        await self._desk.note("lead_tool", note)
        return content

    async def _remember(self, arguments: dict[str, Any], call_id: str) -> str:
        asked = checked(RememberArguments, arguments)
        made = Memory(self._desk.shared.workspace.home).remember(asked.fact, f"run {self._desk.folder.run_id}")
        content = wire.dumps({"remembered": made.id}).decode()
        await self._desk.note("lead_tool", {"call_id": call_id, "name": "remember", "content": content})
        return content

    async def _read_skill(self, arguments: dict[str, Any], call_id: str) -> str:
        content = skill_page(self._desk.shared.workspace.folder, arguments, self._window_tokens)
        await self._desk.note("lead_tool", {"call_id": call_id, "name": READ_SKILL.name, "content": content})
        return content

    async def _read(self, arguments: dict[str, Any], call_id: str) -> str:
        content = read_page(self._store, arguments, self._window_tokens)
        await self._desk.note("lead_tool", {"call_id": call_id, "name": READ_RESULT.name, "content": content})
        return content

    def _data_tool(self, name: str) -> Callable[[dict[str, Any], str], Awaitable[str]]:
        async def call(arguments: dict[str, Any], call_id: str) -> str:
            outcome = await self._desk.call_tool(name, arguments)
            if not outcome.is_good:
                raise DataError("; ".join(outcome.errors) or f"{name}: {outcome.status}")
            # Notes on reading quote cells; the lead gets names, types and counts.
            found = {"summary": outcome.summary, "results": outcome.results, "reading_notes": len(outcome.findings)}
            content = bounded(wire.dumps(found).decode(), self._store, result_chars(self._window_tokens))
            await self._desk.note("lead_tool", {"call_id": call_id, "name": name, "content": content})
            return content

        return call
