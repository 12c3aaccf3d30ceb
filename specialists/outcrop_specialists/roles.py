"""The specialists there are: what each is for, its prompt and its tools."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib.resources import files

from outcrop_schemas import limits
from outcrop_schemas.errors import UnknownNameError
from outcrop_specialists.tools.base import Tool
from outcrop_specialists.tools.registry import tools_of
from outcrop_specialists.views import OF_THE_WORK, StateField


@dataclass(frozen=True)
class Role:
    """One specialist. `view` names the fields of the run's state that stand in its briefs."""

    name: str
    purpose: str
    view: frozenset[StateField] = OF_THE_WORK

    @cached_property
    def tools(self) -> list[Tool]:
        return tools_of(self.name)

    def prompt(self, turns: int = limits.AGENT_TURNS) -> str:
        """The system prompt: the role's own file, then the rules that all specialists share, with limits filled in."""
        folder = files("outcrop_specialists.prompts")
        text = (folder / f"{self.name}.md").read_text("utf-8") + "\n" + (folder / "shared.md").read_text("utf-8")
        return text.format(
            result_chars=limits.RESULT_CHARS,
            own_chars=limits.SPECIALIST_RESULT_CHARS,
            rows=limits.PREVIEW_ROWS,
            records=limits.COMPLETE_LIST_RECORDS,
            summary_chars=limits.SUMMARY_CHARS,
            turns=turns,
            repeated=limits.REPEATED_CALLS,
        )


ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        Role(
            "cleaning",
            "repairs faults of a table: duplicates, detection limits, units, terms, types, QA/QC rows, unwanted rows",
        ),
        Role(
            "analytics",
            "computes: summaries, tests, regressions, log-ratios, clusters, outliers, QA/QC, drilling, variograms",
        ),
        Role(
            "plotting", "draws: scatter, histogram, box, probability, map, downhole, ternary, heat map, control chart"
        ),
    )
}


def get_role(name: str) -> Role:
    """The role of this name. Raises UnknownNameError."""
    if name not in ROLES:
        raise UnknownNameError("specialist", name, get_close_matches(name, ROLES), ROLES)
    return ROLES[name]
