"""The reading report of a table as data: what was found, what was repaired with its count, what is suspicious.

It says what `Table.notes` says in sentences, sorted by what a reader has to do about it. No cell of the data stands in
it. The JSON of a large table lies beside its typed copy in the cache.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from outcrop_specialists.reading.tables import Table

Kind = Literal["found", "repaired", "suspicious"]

SUSPICIOUS = re.compile(r"(?:'[^']*': )?(?:SUSPECTED|CHECK|CAUTION|NOT read|of its [0-9]+ numbers)|.*; NOT read: ")
FOUND = re.compile(
    r"lines? [0-9, to]+ (?:above|below|begins)|line ends|fields? separated|read as UTF|kept as text|times kept|"
    r"[0-9]+ names stand|sheet |section |table |list |.*units of [0-9]+ columns",
    re.IGNORECASE,
)
"""Of all else the values or rows that a tool gets are not as the file has them."""
COUNT = re.compile(r"(?:REPAIRED )?([0-9]+) ")
DETAILS = re.compile(r"'[^']*' \(([0-9]+)\b|'[^']*' ([0-9]+)\b")
SENTENCES = 60
SENTENCE_CHARS = 600


def report_of(table: Table) -> dict[str, Any]:
    """The report as JSON: file and table, size, types, how it was read, and three lists of sentences.

    `repaired` holds `what` and `count` (rows, lines or values; null where it concerns whole columns). A list longer
    than 60 is cut and its rest counted under `more`.
    """
    sorted_notes: dict[Kind, list[str]] = {"found": [], "repaired": [], "suspicious": []}
    for note in table.notes:
        sorted_notes[kind_of(note)].append(note[:SENTENCE_CHARS])
    more = {kind: len(notes) - SENTENCES for kind, notes in sorted_notes.items() if len(notes) > SENTENCES}
    report: dict[str, Any] = {
        "file": table.path.name,
        "table": table.name or None,
        "rows": table.height,
        "columns": len(table.columns),
        "types": types_of(table),
        "read_as": dict(table.read_as),
        "units": len(table.units),
        "columns_with_results_beyond_a_limit": len(table.qualifiers),
        "found": sorted_notes["found"][:SENTENCES],
        "repaired": [{"what": note, "count": count_in(note)} for note in sorted_notes["repaired"][:SENTENCES]],
        "suspicious": sorted_notes["suspicious"][:SENTENCES],
    }
    return {**report, "more": more} if more else report


def short_report(table: Table) -> dict[str, Any]:
    """What of the report fits beside other results: how it was read, and how many sentences of each kind there are."""
    kinds = Counter(kind_of(note) for note in table.notes)
    return {
        **({"read_as": dict(table.read_as)} if table.read_as else {}),
        "types": types_of(table),
        "repaired": kinds["repaired"],
        "suspicious": kinds["suspicious"],
    }


def types_of(table: Table) -> dict[str, int]:
    """How many columns there are of each type; qualifier columns are not counted."""
    from outcrop_specialists.columns.profile import type_name

    beside = set(table.qualifiers.values())
    return dict(Counter(type_name(kind) for name, kind in table.schema.items() if name not in beside))


def kind_of(note: str) -> Kind:
    """What a sentence of `Table.notes` tells."""
    if SUSPICIOUS.match(note):
        return "suspicious"
    return "found" if FOUND.match(note) else "repaired"


def count_in(note: str) -> int | None:
    """How many rows, lines or values a sentence counts: the number it begins with, else the sum of its columns'."""
    first = COUNT.match(note)
    if first:
        return int(first[1])
    counts = [int(one or other) for one, other in DETAILS.findall(note)]
    return sum(counts) if counts else None
