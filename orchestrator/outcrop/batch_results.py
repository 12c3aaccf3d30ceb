"""What a batch leaves: one line a job in the order of the file, and a page for people."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path

from outcrop.batch_outcomes import BatchOutcome
from outcrop.spill import open_private
from outcrop.text import inert, shorten
from outcrop_schemas import limits, wire
from outcrop_schemas.outcome import RunOutcome

_TEXT_CHARS = 300
_FILES_SHOWN = 5
_STYLE = """:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{padding:.4rem .6rem;text-align:left;vertical-align:top}
th{border-bottom:2px solid}td{border-bottom:1px solid #8886}.bad{font-weight:bold}td.n{text-align:right}
code{overflow-wrap:anywhere}"""


def write_results(batch: BatchOutcome, ids: Mapping[int, str | None]) -> None:
    """Write both files whole, a job after the other: memory takes one at a time. Raises OSError, JournalError."""
    outcomes = batch.outcomes
    lines = (
        wire.dumps({"line": number, "id": ids.get(number), **outcomes.recorded(number)}) + b"\n" for number in outcomes
    )
    for path, parts in ((batch.results, lines), (batch.page, (part.encode() for part in _page(batch, ids)))):
        temporary = path.with_name(f".{path.name}")
        _write_parts(temporary, parts)
        temporary.replace(path)


def _write_parts(path: Path, parts: Iterable[bytes]) -> None:
    with os.fdopen(open_private(path), "wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())


def _page(batch: BatchOutcome, ids: Mapping[int, str | None]) -> Iterator[str]:
    """One file without a script or a request; all text from elsewhere is escaped."""
    outcomes, spending = batch.outcomes, batch.spending
    said = ", ".join(f"{count} {status}" for status, count in sorted(outcomes.statuses.items())) or "no job was run"
    spent = f"<p>Spent ${spending['spent_usd']} and {spending['spent_tokens']:,} tokens.</p>" if spending else ""
    # What went wrong is what is looked for.
    failed, good = outcomes.failed, outcomes.good
    shown = [*failed[: limits.BATCH_PAGE_FAILED], *good[: limits.BATCH_PAGE_GOOD]]
    yield (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Batch: {said}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>{len(outcomes)} jobs: {said}</h1>{spent}"
        + _left_out(len(failed), limits.BATCH_PAGE_FAILED, "failed")
        + _left_out(len(good), limits.BATCH_PAGE_GOOD, "were done")
        + '<table><thead><tr><th scope="col">Line</th><th scope="col">Status</th><th scope="col">Seconds</th>'
        '<th scope="col">Objective</th><th scope="col">What came of it</th></tr></thead><tbody>'
    )
    for number in shown:
        yield _row(number, ids.get(number), outcomes[number]) + "\n"
    yield "</tbody></table></body></html>\n"


def _left_out(count: int, most: int, what: str) -> str:
    if count <= most:
        return ""
    return f"<p>Of {count:,} jobs that {what} the first {most:,} are shown; results.jsonl has all of them.</p>"


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
