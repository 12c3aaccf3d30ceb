"""A run as the chat sees its answer: what was found, checked, and screened of whatever tells of a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

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
    texts = [outcome.summary, *(text for name in _LISTS for text in getattr(outcome, name))]
    named = [text for artifact in artifacts for text in (artifact.path, artifact.title)]
    shown_texts, held = await sight.allowed([*texts, *named], tables, _allowance(outcome))
    screened = iter(shown_texts)
    summary = next(screened)
    lists = {name: [next(screened) for _ in getattr(outcome, name)] for name in _LISTS}
    shown: dict[str, Any] = {"run_id": outcome.run_id, "status": outcome.status, "summary": summary, **lists}
    shown["figures"] = _verdicts(outcome, {"summary": summary} | _findings(lists["findings"]))
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
    if any(held.values()):
        shown["not_shown"] = _NOT_SHOWN.format(figures=held.get("figures", 0), words=held.get("words", 0))
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


def _verdicts(outcome: RunOutcome, shown: dict[str, str]) -> dict[str, list[str]]:
    """The figures that are shown, by what came of computing them again."""
    found: dict[str, list[str]] = {}
    for figure in _standing(outcome, shown):
        found.setdefault(figure[1], []).append(figure[0])
    return found


def _standing(outcome: RunOutcome, shown: dict[str, str]) -> Iterator[tuple[str, str]]:
    standing = {where: {each.text for each in figures_in(text)} for where, text in shown.items()}
    for figure in outcome.figures:
        if figure.text in standing.get(figure.where, ()):
            yield figure.text, figure.verdict
