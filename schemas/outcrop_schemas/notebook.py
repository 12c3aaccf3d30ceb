"""An outcome as a notebook shows it: a small piece of HTML, escaped and bounded, in the colours of the page around it.

What comes from specialists, files and models is hostile text: nothing but text becomes of it. No file is read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from outcrop_schemas import limits
from outcrop_schemas.hidden import visible

if TYPE_CHECKING:
    from outcrop_schemas.hypotheses import Hypothesis
    from outcrop_schemas.outcome import Outcome, RunOutcome, VerifiedArtifact

_GOOD, _HALF, _BAD = "✓", "◐", "✗"
_SIGNS = {"success": _GOOD, "partial": _HALF, "capability_gap": _HALF, "budget": _HALF}
# Notebooks typeset $…$ in the HTML that they show, other than in these classes (MathJax 3, MathJax 2).
_AS_TEXT = "mathjax_ignore tex2jax_ignore"
_CARD = "border:1px solid;border-radius:6px;padding:.6em .9em;margin:.3em 0;max-width:60em;overflow-wrap:anywhere"
_ASIDE = "opacity:.75;font-size:90%"
_LIST = "margin:.2em 0 .6em"
_BLOCK = "white-space:pre-wrap;max-height:24em;overflow:auto"


def said(text: object, limit: int = limits.NOTEBOOK_ENTRY_CHARS) -> str:
    """Foreign text as HTML that shows it: cut, hidden characters made visible, markup escaped."""
    given = str(text)
    cut = given if len(given) <= limit else given[: limit - 1] + "…"
    return escape(visible(cut))


def card(status: str, title: str, about: Iterable[str], parts: Iterable[str]) -> str:
    """One card: a status with its sign, a title, a line of facts, and parts that are HTML already."""
    sign = _SIGNS.get(status, _BAD)
    facts = " · ".join(said(fact) for fact in about if fact)
    return (
        f'<div class="outcrop-outcome {_AS_TEXT}" style="{_CARD}">'
        f"<div><strong>{sign} {said(status)}</strong> {said(title)}</div>"
        f'<div style="{_ASIDE}">{facts}</div>{"".join(parts)}</div>'
    )


def paragraph(text: str) -> str:
    """A paragraph of foreign text; nothing where there is none."""
    return f"<p>{said(text, limits.SUMMARY_CHARS)}</p>" if text else ""


def listed(title: str, entries: Sequence[str]) -> str:
    """The first entries under a title, the others counted; nothing where there are none."""
    if not entries:
        return ""
    shown = [said(entry) for entry in entries[: limits.NOTEBOOK_ENTRIES]]
    if more := len(entries) - len(shown):
        shown.append(f"… and {more} more")
    entries_html = "".join(f"<li>{entry}</li>" for entry in shown)
    return f'<div><strong>{said(title)}</strong><ul style="{_LIST}">{entries_html}</ul></div>'


def folded(title: str, values: Mapping[str, Any]) -> str:
    """Values as JSON text that is shown when it is asked for; nothing where there are none."""
    if not values:
        return ""
    text = json.dumps(values, ensure_ascii=False, indent=1, default=str)
    shown = said(text, limits.NOTEBOOK_RESULT_CHARS)
    return f'<details><summary>{said(title)}</summary><pre style="{_BLOCK}">{shown}</pre></details>'


def outcome_html(outcome: Outcome) -> str:
    """The outcome of one dispatch."""
    about = [outcome.dispatch_id, f"{outcome.duration_s:.1f} s", _tokens(outcome.usage)]
    parts = [
        paragraph(outcome.summary),
        *(listed(name, getattr(outcome, name)) for name in ("errors", "blockers", "findings", "warnings")),
        listed("files", _files(outcome.artifacts)),
        folded("gap", outcome.gap or {}),
        folded("results", outcome.results),
    ]
    return card(outcome.status, f"{outcome.specialist}: {outcome.objective}", about, parts)


def run_html(outcome: RunOutcome) -> str:
    """The answer of a run."""
    about = [outcome.run_id, outcome.model, f"{outcome.duration_s:.1f} s", _tokens(outcome.usage), _figures(outcome)]
    dispatches = [f"{_SIGNS.get(one.status, _BAD)} {one.specialist}: {one.objective}" for one in outcome.dispatches]
    refuted = [f"{one.text} ({one.where}): {one.reason}" for one in outcome.figures if one.verdict == "refuted"]
    parts = [
        paragraph(outcome.summary),
        *(listed(name, getattr(outcome, name)) for name in ("errors", "blockers", "findings")),
        listed("refuted figures", refuted),
        listed("hypotheses", [_hypothesis(one) for one in outcome.hypotheses]),
        *(listed(name, getattr(outcome, name)) for name in ("recommendations", "warnings")),
        listed("files", _files(outcome.artifacts)),
        listed("dispatches", dispatches),
        f'<div style="{_ASIDE}">record: {said(outcome.run_folder)}</div>' if outcome.run_folder else "",
    ]
    return card(outcome.status, outcome.objective, about, parts)


def _hypothesis(one: Hypothesis) -> str:
    return f"{one.status}: {one.claim} ({len(one.evidence_for)} for, {len(one.evidence_against)} against)"


def _figures(outcome: RunOutcome) -> str:
    verdicts = Counter(figure.verdict for figure in outcome.figures)
    return f"figures: {', '.join(f'{n} {name}' for name, n in sorted(verdicts.items()))}" if verdicts else ""


def _tokens(usage: Mapping[str, Any]) -> str:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    read, written = (sum(_whole(usage.get(name)) for name in some) for some in (names, ("output_tokens",)))
    return f"{read:,} tokens in, {written:,} out" if read or written else ""


def _whole(value: object) -> int:
    """A count that a specialist of somebody else's may have sent as anything."""
    return value if isinstance(value, int) else 0


def _files(artifacts: Iterable[VerifiedArtifact]) -> list[str]:
    return [_file(artifact) for artifact in artifacts]


def _file(artifact: VerifiedArtifact) -> str:
    size = f"{artifact.rows:,} rows" if artifact.rows is not None else f"{artifact.bytes:,} bytes"
    return f"{artifact.path} ({size})" + (f": {artifact.title}" if artifact.title else "")
