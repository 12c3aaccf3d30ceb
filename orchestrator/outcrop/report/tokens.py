"""What filled the agents' windows, request by request: the lead first, then dispatches as they began."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from outcrop.recovery import RunRecord
from outcrop.report.dispatches import DispatchFact
from outcrop.settings import LEAD
from outcrop.steps import Step, recorded_steps, window_of
from outcrop_schemas import limits
from outcrop_specialists.context.segments import SEGMENTS


@dataclass(frozen=True)
class AgentTokens:
    """The requests of one agent, oldest first; `earlier` came before those."""

    agent: str
    title: str
    window: int
    steps: Sequence[Step]
    earlier: int

    @cached_property
    def segments(self) -> list[str]:
        """Those that any request has, in their order."""
        return [name for name in SEGMENTS if any(step.segments.get(name) for step in self.steps)]

    @cached_property
    def most(self) -> int:
        return max((step.total for step in self.steps), default=0)

    @property
    def is_estimated(self) -> bool:
        return not all(step.is_reported for step in self.steps)

    @property
    def totals(self) -> Mapping[str, int]:
        return {name: sum(step.segments.get(name, 0) for step in self.steps) for name in self.segments}  # type: ignore[call-overload]


@dataclass(frozen=True)
class Tokens:
    """`more` agents have requests too. `problems`: records that cannot be read."""

    agents: Sequence[AgentTokens]
    more: int
    problems: Sequence[str] = ()


def token_facts(run: RunRecord, dispatches: Sequence[DispatchFact]) -> Tokens:
    """From the exchanges alone, without putting a request together."""
    names = {LEAD: "the lead", **{fact.id: f"{fact.short} {fact.specialist}" for fact in dispatches}}
    files = {name: run.folder.exchanges / f"{name}.jsonl" for name in names}
    there = {name: title for name, title in names.items() if files[name].is_file()}
    others = [name for name, path in files.items() if name not in there and path.exists()]
    agents, problems = [], [f"{names[name]}: its requests cannot be read: no regular file" for name in others]
    for name in list(there)[: limits.REPORT_AGENTS]:
        steps, damaged = recorded_steps(run, name)
        if damaged:
            problems.append(f"{there[name]}: {damaged} lines of its requests are damaged and are left out")
        if steps:
            kept = steps[-limits.REPORT_REQUESTS :]
            agents.append(AgentTokens(name, there[name], window_of(run, name), kept, len(steps) - len(kept)))
    return Tokens(agents, max(0, len(there) - limits.REPORT_AGENTS), problems)
