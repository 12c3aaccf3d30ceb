"""The lead's answer: what was done, with the figures as the specialists gave them, and what was not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from outcrop.models.offline.answers import cut, sentence, sentences
from outcrop.models.offline.figures import figures_of
from outcrop.models.offline.sequence import Record
from outcrop.models.offline.steps import Plan, quoted
from outcrop.models.offline.tables import Tables
from outcrop_schemas import limits

PLANNED_BY = "Planned by the offline model (no language model)"


def told_once(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Each note once, with the tools that have it: what is odd about a table is found by all that read it."""
    tools: dict[str, dict[str, None]] = {}
    for tool, note in notes:
        tools.setdefault(note, {})[tool] = None
    return [f"{', '.join(names)}: {note}" for note, names in tools.items()]


@dataclass(frozen=True)
class LeadReport:
    """Everything that is known at the end of a run."""

    tables: Tables
    plan: Plan
    records: Sequence[Record]

    def answer(self, *, no_roster: bool, specialists: Sequence[str]) -> dict[str, Any]:
        """A `LeadAnswer`: success only where every clause was done and nothing was left open."""
        done = [record for record in self.records if record.done]
        blockers = self._blockers(no_roster=no_roster)
        status = "error" if not done else "partial" if blockers else "success"
        findings = [f"{PLANNED_BY}: {self._planned(specialists)}", *self.tables.notes, *self.plan.notes]
        findings += [_finding(record) for record in done]
        findings += told_once(
            (record.step.card.name, note) for record in done if record.done for note in record.done.notes
        )
        return {
            "status": status,
            "summary": cut(self._summary(done, blockers), limits.SUMMARY_CHARS),
            "findings": sentences(findings),
            "blockers": sentences(blockers),
        }

    def _planned(self, specialists: Sequence[str]) -> str:
        steps = [f"{record.step.card.name} ({record.step.card.specialist})" for record in self.records]
        shown = ", ".join(steps[:10]) + (f" and {len(steps) - 10} more" if len(steps) > 10 else "")
        return shown or f"no step was found for {', '.join(specialists) or 'any specialist'}"

    def _blockers(self, *, no_roster: bool) -> list[str]:
        blockers = list(self.tables.blockers)
        if no_roster:
            blockers.append("No tools are listed for the specialists, so no step can be given to one")
        for record in self.records:
            said = quoted(record.step.clause)
            if record.done:
                blockers += [
                    f'"{said}": {blocker}' if said not in blocker else blocker for blocker in record.done.blockers
                ]
            elif self.tables.profiles:
                reason = record.failure.replace(f'"{said}": ', "") or "it was not reached"
                blockers.append(f'Not done: "{said}": {reason}')
        return [*blockers, *self.plan.blockers]

    def _summary(self, done: Sequence[Record], blockers: Sequence[str]) -> str:
        if not done:
            return (
                f"Nothing was done. {blockers[0]}" if blockers else "Nothing was done: the objective asks for nothing."
            )
        files = ", ".join(dict.fromkeys(PurePosixPath(record.table).name for record in done))
        total = len(self.records) + len(self.plan.blockers)
        parts = [f"{len(done)} of {total} steps done on {files}."]
        parts += [_said(record) for record in done]
        if blockers:
            parts.append(
                f"{len(blockers)} {'thing was' if len(blockers) == 1 else 'things were'} not done, see the blockers."
            )
        return " ".join(parts)


def _said(record: Record) -> str:
    return sentence((record.done.summary if record.done else "") or quoted(record.step.clause))


def _finding(record: Record) -> str:
    """What one step gave: the tool's own sentence, the figures that are not in it, and the files."""
    assert record.done
    paths = [str(artifact["path"]) for artifact in record.done.artifacts if artifact.get("path")]
    files = f" Files: {', '.join(paths)}." if paths else ""
    told = _said(record)
    room = limits.ENTRY_CHARS - len(files) - len(told) - 100
    figures = figures_of(record.done.results, room, told) if room > 0 else ""
    said = cut(quoted(record.step.clause), 80)
    return f'"{said}": {told}{f" In figures: {figures}." if figures else ""}{files}'
