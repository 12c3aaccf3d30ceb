"""A run as the chat sees its answer: what was found, checked, and screened of whatever tells of a row."""

from __future__ import annotations

from collections import Counter
from typing import Any

from outcrop import figures
from outcrop.chat.sight import Sight
from outcrop.records import read
from outcrop.runs import RunFolder
from outcrop_schemas import limits
from outcrop_schemas.outcome import RunOutcome
from outcrop_specialists.citing import figures_in
from outcrop_specialists.unseen.allowance import Allowance
from outcrop_specialists.unseen.allowed import MARK
from outcrop_specialists.unseen.made import NO_NAME

_NOT_SHOWN = (
    f"{MARK} stands for {{figures}} figures and {{words}} words of this answer: only what was computed again of a "
    "whole column, of a group or of rows that the user's own words choose is shown to you, and no cell. The user sees "
    "the run's own answer whole; say so, and do not guess them."
)
REFUTED = "figures of this answer are refuted by their tables; the user is told which"
"""Which ones, and what stands in the tables, would tell of any cell whether a guess of it is right."""
_LISTS = ("findings", "recommendations", "blockers", "errors", "warnings")


def tables_of(folder: RunFolder, outcome: RunOutcome) -> list[str]:
    """The tables that a run had in hand: what it was given, what its dispatches were given, what they made."""
    found = dict.fromkeys(outcome.data)
    for record in read(folder.journal)[0].of("start"):
        found.update(dict.fromkeys(record.body.get("data", ())))
    found.update(dict.fromkeys(artifact.path for artifact in outcome.artifacts if artifact.kind == "table"))
    return list(found)


async def seen(outcome: RunOutcome, tables: list[str], sight: Sight) -> dict[str, Any]:
    """The answer of a run for the chat: nothing of the specialists' results, of its texts no row, and of figures those
    that code vouches for."""
    artifacts = outcome.artifacts[: limits.CHAT_ARTIFACTS]
    said = {name: getattr(outcome, name) for name in _LISTS} | {"warnings": _warnings(outcome)}
    texts = [outcome.summary, *(text for name in _LISTS for text in said[name])]
    named = [text for artifact in artifacts for text in (artifact.path, artifact.title)]
    passed = await sight.allowed([*texts, *named], tables, _allowance(outcome))
    screened = iter(passed.texts)
    summary = next(screened)
    lists = {name: [next(screened) for _ in said[name]] for name in _LISTS}
    shown: dict[str, Any] = {"run_id": outcome.run_id, "status": outcome.status, "summary": summary, **lists}
    shown["verified"] = _verified(outcome, {"summary": summary} | _findings(lists["findings"]), passed.vouched)
    shown["artifacts"] = [
        {
            **({"path": path} if (path := next(screened)) == artifact.path else {"path": NO_NAME}),
            "kind": artifact.kind,
            "title": next(screened),
            **({"rows": artifact.rows, "columns": artifact.columns} if artifact.rows is not None else {}),
        }
        for artifact in artifacts
    ]
    # Names of specialists are the lead's to choose from a list; they are no text of theirs.
    shown["dispatches"] = dict(Counter(f"{line.specialist}: {line.status}" for line in outcome.dispatches))
    if any(passed.held.values()):
        shown["not_shown"] = _NOT_SHOWN.format(figures=passed.held.get("figures", 0), words=passed.held.get("words", 0))
    return {name: value for name, value in shown.items() if value}


def _allowance(outcome: RunOutcome) -> Allowance:
    """What is behind a run's answer, for the white list."""
    return Allowance(
        objective=outcome.objective,
        claims=outcome.claims,
        counts=sorted({len(outcome.dispatches), len(outcome.artifacts), len(outcome.data)}),
        data=outcome.data,
        made=[artifact.path for artifact in outcome.artifacts],
    )


def _findings(findings: list[str]) -> dict[str, str]:
    return {f"findings[{number}]": text for number, text in enumerate(findings)}


def _warnings(outcome: RunOutcome) -> list[str]:
    """The warnings, but for what is refuted: there the cells stand."""
    refuted = set(figures.told(outcome.figures, outcome.claims))
    kept = [warning for warning in outcome.warnings if warning not in refuted]
    return [*kept, *([REFUTED] if refuted else [])]


def _verified(outcome: RunOutcome, shown: dict[str, str], vouched: frozenset[str]) -> list[str]:
    """The figures that are shown because they were computed again. Of one that the chat only guessed, the verdict
    would say whether it guessed right."""
    standing = {where: {each.text for each in figures_in(text)} for where, text in shown.items()}
    return [
        figure.text
        for figure in outcome.figures
        if figure.verdict == "verified" and figure.text in vouched and figure.text in standing.get(figure.where, ())
    ]
