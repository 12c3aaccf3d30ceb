"""What a batch leaves: one line a job in the order of the file, and a page for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from outcrop.jobs import Line
from outcrop.spill import write_private
from outcrop.text import inert, shorten
from outcrop_schemas import wire
from outcrop_schemas.outcome import RunOutcome

_TEXT_CHARS = 300
_FILES_SHOWN = 5
_STYLE = """:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{padding:.4rem .6rem;text-align:left;vertical-align:top}
th{border-bottom:2px solid}td{border-bottom:1px solid #8886}.bad{font-weight:bold}td.n{text-align:right}
code{overflow-wrap:anywhere}"""


def write_results(
    results: Path,
    page: Path,
    lines: Sequence[Line],
    outcomes: Mapping[int, RunOutcome],
    spending: Mapping[str, Any] | None,
) -> None:
    """Write both files whole. Raises OSError."""
    ids = {line.number: line.job.id for line in lines}
    text = b"".join(
        wire.dumps({"line": number, "id": ids.get(number), **outcome.model_dump(mode="json")}) + b"\n"
        for number, outcome in outcomes.items()
    )
    for path, data in ((results, text), (page, _page(ids, outcomes, spending).encode())):
        temporary = path.with_name(f".{path.name}")
        write_private(temporary, data)
        temporary.replace(path)


def _page(ids: Mapping[int, str | None], outcomes: Mapping[int, RunOutcome], spending: Mapping[str, Any] | None) -> str:
    """One file without a script or a request; all text from elsewhere is escaped."""
    counts = Counter(outcome.status for outcome in outcomes.values())
    said = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no job was run"
    spent = f"<p>Spent ${spending['spent_usd']} and {spending['spent_tokens']:,} tokens.</p>" if spending else ""
    # What went wrong is what is looked for.
    order = sorted(outcomes, key=lambda number: (outcomes[number].is_good, number))
    rows = "\n".join(_row(number, ids.get(number), outcomes[number]) for number in order)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Batch: {said}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>{len(outcomes)} jobs: {said}</h1>{spent}"
        '<table><thead><tr><th scope="col">Line</th><th scope="col">Status</th><th scope="col">Seconds</th>'
        '<th scope="col">Objective</th><th scope="col">What came of it</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></body></html>\n"
    )


def _row(number: int, name: str | None, outcome: RunOutcome) -> str:
    told = outcome.summary or "; ".join(outcome.errors)
    files = [f"<br><code>{_safe(artifact.path)}</code>" for artifact in outcome.artifacts[:_FILES_SHOWN]]
    more = len(outcome.artifacts) - len(files)
    listed = "".join(files) + (f"<br>and {more} more files" if more > 0 else "")
    which = f"{number}{f' ({_safe(name)})' if name else ''}"
    kind = "" if outcome.is_good else ' class="bad"'
    return (
        f'<tr><td>{which}</td><td{kind}>{outcome.status}</td><td class="n">{outcome.duration_s:.1f}</td>'
        f"<td>{_safe(outcome.objective)}</td><td>{_safe(told)}{listed}</td></tr>"
    )


def _safe(text: str) -> str:
    return escape(shorten(inert(" ".join(text.split())), _TEXT_CHARS))
