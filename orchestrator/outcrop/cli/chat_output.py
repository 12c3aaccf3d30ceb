"""How an answer of the chat is shown: its text, what was checked of it, the files and runs behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outcrop.cli.output import one_line, report_run, say

if TYPE_CHECKING:
    from outcrop.chat.answer import Answered
    from outcrop.recovery import RunRecord
    from outcrop_schemas.outcome import RunOutcome

_FIGURES_SHOWN = 12


class Ended(KeyboardInterrupt):
    """A signal ends the conversation, not the answer under way alone."""


def say_answer(answered: Answered, *, is_alone: bool = True) -> None:
    """One answer."""
    if not is_alone:
        say(f"> {answered.message}")
    say(answered.answer or f"({answered.status}: {'; '.join(answered.errors)})")
    for line in _checks(answered):
        say(f"  {line}")
    say()


def say_runs(outcomes: Sequence[RunOutcome]) -> None:
    """The answers of the runs behind one, whole: what the chat's model is not shown the user is."""
    for outcome in outcomes:
        say(f"The run's own answer ({outcome.run_id}):", is_aside=True)
        report_run(outcome, is_aside=True)
        say()


def _checks(answered: Answered) -> Iterator[str]:
    for verdict, meaning in (
        ("verified", "computed again from their tables"),
        ("refuted", "their tables say otherwise"),
        ("unverifiable", "no verified claim is behind them"),
    ):
        texts = list(dict.fromkeys(each.text for each in answered.figures if each.verdict == verdict))
        if texts:
            more = f" and {len(texts) - _FIGURES_SHOWN} more" if len(texts) > _FIGURES_SHOWN else ""
            yield f"figures {verdict} ({meaning}): {', '.join(texts[:_FIGURES_SHOWN])}{more}"
    known = [one_line(each.path) for each in answered.files if each.known != "unknown"]
    if known:
        yield f"files: {', '.join(known)}"
    for warning in answered.warnings:
        yield f"warning: {one_line(warning)}"
    for run_id in answered.runs:
        yield f"run: {run_id} (outcrop show {run_id})"


def say_conversation(run: RunRecord) -> None:
    """A recorded chat, for reading."""
    from outcrop.chat.record import answers_of, earlier_of

    if continues := run.about.get("continues"):
        say(f"Goes on from {one_line(str(continues))} ({len(earlier_of(run))} turns)")
    for answered in answers_of(run):
        say()
        say_answer(answered, is_alone=False)
