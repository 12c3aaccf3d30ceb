"""Writing to a person or to a program: text made safe for a terminal, JSON as one document."""

from __future__ import annotations

import contextlib
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

import orjson

from outcrop.report.links import REPORT
from outcrop.terminal import has_colours
from outcrop.text import inert
from outcrop.text import size as size
from outcrop_schemas import wire
from outcrop_schemas.claims import Verdict
from outcrop_schemas.hidden import json_escaped
from outcrop_schemas.hypotheses import Hypothesis
from outcrop_schemas.outcome import RunOutcome, VerifiedArtifact

_FIGURES_SHOWN = 8
_INDENT, _DIM, _AS_BEFORE = "  ", "\x1b[2m", "\x1b[0m"


def say(text: str = "", *, is_aside: bool = False) -> None:
    """One or more lines on stdout, whatever they hold made inert; wrapped between words on a terminal. What is said
    `is_aside` stands indented, and dimmed where the terminal can."""
    encoding = sys.stdout.encoding or "utf-8"
    shown = inert(text)
    if is_aside:
        shown = textwrap.indent(shown, _INDENT)
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        shown = "\n".join(_wrapped(line, width) for line in shown.split("\n"))
    shown = shown.encode(encoding, "replace").decode(encoding)
    if is_aside and has_colours(sys.stdout):
        shown = f"{_DIM}{shown}{_AS_BEFORE}"
    sys.stdout.write(shown + "\n")


def _wrapped(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip(" -")))
    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def warn(text: str) -> None:
    """One line on stderr; nothing where nobody reads it."""
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(f"outcrop: {inert(text, keep_newlines=False)}\n")
        sys.stderr.flush()


def say_json(value: Any) -> None:
    """One compact JSON document, on one line for whoever splits lines in whatever way."""
    _write_json(wire.dumps(value))


def say_json_with(head: Mapping[str, Any], name: str, entries: Iterable[Any]) -> None:
    """The same for an object whose last field is a list of any length: an entry after the other is written."""
    sys.stdout.flush()
    _write_text(wire.dumps({**head, name: []}).removesuffix(b"]}"))
    for number, entry in enumerate(entries):
        _write_text((b"," if number else b"") + wire.dumps(entry))
    _write_json(b"]}")


def say_json_pretty(value: Any) -> None:
    """One JSON document for reading."""
    _write_json(orjson.dumps(value, option=orjson.OPT_INDENT_2))


def _write_json(document: bytes) -> None:
    sys.stdout.flush()
    _write_text(document + b"\n")
    sys.stdout.buffer.flush()


def _write_text(part: bytes) -> None:
    # Only strings hold such characters, and there an escape means the same.
    sys.stdout.buffer.write(json_escaped(part.decode()).encode())


def table(rows: Iterable[Iterable[object]], header: Iterable[str]) -> None:
    """Aligned columns; the last one is not padded."""
    cells = [[inert(str(cell), keep_newlines=False) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        say("  ".join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)) + f"  {row[-1]}")


def bars(amounts: Mapping[str, int], whole: int, width: int = 40) -> list[str]:
    """A bar for each amount, as a share of the whole."""
    mark = "█" if (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" else "#"
    names = max(map(len, amounts), default=0)
    numbers = max((len(f"{amount:,}") for amount in amounts.values()), default=0)
    return [
        f"{name.replace('_', ' ').ljust(names)}  {f'{amount:,}'.rjust(numbers)}  "
        f"{mark * round(width * amount / whole) if whole else ''}".rstrip()
        for name, amount in amounts.items()
    ]


def report_run(outcome: RunOutcome, *, is_aside: bool = False) -> None:
    """What was found, which files there are, what could not be done, where the record is."""
    status = outcome.status.upper()
    say(f"\n{status}: {outcome.summary}" if outcome.summary else f"\n{status}", is_aside=is_aside)
    for title, entries in lists_of(outcome):
        section(title, entries, is_aside=is_aside)
    section("Hypotheses", map(hypothesis_lines, outcome.hypotheses), is_aside=is_aside)
    if outcome.figures:
        section("Figures", verdicts(outcome), is_aside=is_aside)
    if spending := outcome.usage.get("spending"):
        section("Spent on models", spending_lines(spending), is_aside=is_aside)
    section("Files", [_file(artifact) for artifact in outcome.artifacts], is_aside=is_aside)
    say(f"\nRecord: {outcome.run_folder}", is_aside=is_aside)
    say_report(Path(outcome.run_folder), is_aside=is_aside)


def lists_of(outcome: RunOutcome) -> list[tuple[str, list[str]]]:
    """What is told in lists, with the titles that a person sees."""
    return [
        ("Found", outcome.findings),
        ("Could not be done", outcome.blockers),
        ("Errors", outcome.errors),
        ("Warnings", outcome.warnings),
        ("Recommended", outcome.recommendations),
    ]


def say_report(run_folder: Path, label: str = "Report: ", *, is_aside: bool = False) -> None:
    """Where the page about a run is, if there is one."""
    page = run_folder / REPORT
    if page.is_file():
        say(f"{label}{page}", is_aside=is_aside)


def hypothesis_lines(held: Hypothesis) -> str:
    """The claim with its status, then what speaks for and against it."""
    parent = f", from {held.parent}" if held.parent else ""
    by = f", proposed by {held.proposed_by}" if held.proposed_by else ""
    sides = (("for", held.evidence_for), ("against", held.evidence_against))
    evidence = [f"  {side} ({each.dispatch_id}): {one_line(each.text)}" for side, entries in sides for each in entries]
    head = f"{held.id} {held.status}, {held.confidence} confidence{parent}{by}: {one_line(held.claim)}"
    return "\n".join([head, *evidence])


def spending_line(spending: Mapping[str, Any]) -> str:
    """What was spent, what is reserved for calls under way, and what remains under the ceiling."""
    said = [f"spent ${spending['spent_usd']} and {spending['spent_tokens']:,} tokens"]
    if spending.get("reserved_usd", "0") != "0":
        said.append(f"reserved ${spending['reserved_usd']}")
    if spending.get("ceiling_usd") is not None:
        said.append(f"${spending['remaining_usd']} of ${spending['ceiling_usd']} remain")
    if spending.get("ceiling_tokens") is not None:
        said.append(f"{spending['remaining_tokens']:,} of {spending['ceiling_tokens']:,} tokens remain")
    return "; ".join(said)


def spending_lines(spending: Mapping[str, Any]) -> list[str]:
    """The whole, then each specialist."""
    lines = [spending_line(spending)]
    for role, account in spending["by_specialist"].items():
        unknown = account["calls_of_unknown_cost"]
        also = f", {unknown} of unknown cost counted as their most" if unknown else ""
        lines.append(f"{role}: {spending_line(account)} ({account['calls']} calls{also})")
    return lines


def verdicts(outcome: RunOutcome) -> list[str]:
    """How many figures of the answer were computed again, and which their tables refute."""
    by_verdict = {verdict: [f for f in outcome.figures if f.verdict == verdict] for verdict in get_args(Verdict)}
    refuted = [f"{figure.text} ({figure.reason})" for figure in by_verdict["refuted"]]
    more = f" and {len(refuted) - _FIGURES_SHOWN} more" if len(refuted) > _FIGURES_SHOWN else ""
    return [
        f"{len(by_verdict['verified'])} verified: computed again from their tables",
        f"{len(refuted)} refuted{': ' if refuted else ''}{'; '.join(refuted[:_FIGURES_SHOWN])}{more}",
        f"{len(by_verdict['unverifiable'])} other numbers, with no claim behind them that could be checked",
    ]


def section(title: str, entries: Iterable[str], *, is_aside: bool = False) -> None:
    """A title and its entries; nothing where there are none."""
    listed = list(entries)
    if listed:
        say(f"\n{title}:", is_aside=is_aside)
    for entry in listed:
        say("  - " + entry.replace("\n", "\n    "), is_aside=is_aside)


def _file(artifact: VerifiedArtifact) -> str:
    title = f" — {artifact.title}" if artifact.title else ""
    return f"{one_line(artifact.path)} ({size(artifact.bytes)}){one_line(title)}"


def one_line(text: str) -> str:
    """Foreign text that must not end the line it stands in: a name with a line end could pass for other output."""
    return inert(text.replace("\n", "\\n").replace("\t", "\\t"), keep_newlines=False)
