"""Reads delimited text and JSON: bytes to text, text to records, the delimiter, and the count checked a second way."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.aligned import aligned_records
from outcrop_specialists.reading.block_tables import block_tables
from outcrop_specialists.reading.encoding import decode
from outcrop_specialists.reading.header import Record
from outcrop_specialists.reading.json_text import is_json, json_tables
from outcrop_specialists.reading.las import is_las, las_tables
from outcrop_specialists.reading.several import Candidate, choose
from outcrop_specialists.reading.tables import Table

DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "pipe", ",": "comma"}
SAMPLED_RECORDS = 1_000
BLANKS = " "
UTF_8 = "UTF-8"
BLANK_LINE = re.compile(r"\n[ \t,;|\"]*\n\s*\S")
MARKUP = re.compile(r"\s*<(?:!doctype|\?xml|html|table)", re.IGNORECASE)


SEVERAL_CHARS = 256 << 20


def read_text(path: Path, wanted: str = "") -> Table:
    """The table in a text file, `wanted` by name where it holds several. Raises DataError."""
    from outcrop_specialists.reading.regular import read_regular

    quick = None if wanted else read_regular(path)
    return read_carefully(path, wanted) if quick is None else quick


def read_carefully(path: Path, wanted: str = "") -> Table:
    """The same, record by record. Raises DataError."""
    read_as: dict[str, str | int] = {}
    table = choose(path, text_tables(path, read_as), wanted)
    return replace(table, read_as={**read_as, **table.read_as})


def text_tables(path: Path, read_as: dict[str, str | int] | None = None) -> list[Candidate]:
    """The tables of a text file; `read_as` is told how it was read. Raises DataError where it holds no table."""
    text, notes = decode(path.name, path.read_bytes())
    _refuse_other_formats(path, text)
    told = {} if read_as is None else read_as
    told |= {"format": "text", "encoding": "; ".join(notes) or UTF_8}
    if is_las(path, text):
        told["format"] = "LAS"
        return las_tables(path, text, notes)
    if is_json(path, text):
        told["format"] = "JSON"
        return json_tables(path, text, notes)
    delimiter, quoting = find_dialect(path.name, text, notes)
    told["delimiter"] = DELIMITERS.get(delimiter, "blanks")
    # All records of a file in memory take ten times its size; of a large one several tables are looked for last.
    may_be_several = len(text) <= SEVERAL_CHARS and BLANK_LINE.search(text) is not None
    if delimiter == BLANKS:
        return block_tables(path, lambda: _aligned(path.name, text, notes), notes, may_be_several=may_be_several)
    return block_tables(
        path,
        lambda: count_checked(path.name, text, delimiter, quoting, notes),
        notes,
        may_be_several=may_be_several,
        comma_decimals=delimiter != ",",
    )


def _aligned(name: str, text: str, notes: list[str]) -> list[Record]:
    records = aligned_records(text, notes)
    if records is None:
        raise DataError(f"{name}: its first lines have columns separated by blanks, all of them have not; use commas")
    return records


def find_dialect(name: str, text: str, notes: list[str]) -> tuple[str, bool]:
    """Delimiter and whether quotes are honoured. A delimiter wins by giving most records the same field count."""
    shares: dict[str, float] = {}
    for delimiter in DELIMITERS:
        shares[delimiter] = _share_of_commonest(text, delimiter)
    best = max(DELIMITERS, key=lambda delimiter: shares[delimiter])
    if shares[best] == 0:
        best = ","
        if aligned_records("\n".join(text.split("\n", SAMPLED_RECORDS)[:SAMPLED_RECORDS]), []):
            return BLANKS, False
    rivals = [DELIMITERS[other] for other in DELIMITERS if other != best and shares[other] == shares[best] > 0]
    if rivals:
        notes.append(f"fields separated by {DELIMITERS[best]}; {' and '.join(rivals)} would give as regular a table")
    if '"' not in text:
        return best, False
    try:
        for _ in records_of(text, best):
            pass
    except csv.Error as error:
        notes.append(f"quotes do not close properly ({error}): every quote character read as it stands")
        return best, False
    return best, True


def records_of(text: str, delimiter: str, quoting: bool = True) -> Iterator[Record]:
    """All records, blank ones as []. Raises csv.Error where quotes do not close."""
    lines = io.StringIO(text, newline="")
    if quoting:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
    else:
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    for fields in reader:
        yield reader.line_num, fields


def count_checked(name: str, text: str, delimiter: str, quoting: bool, notes: list[str]) -> Iterator[Record]:
    """The records; their number must equal a count of line ends outside quotes. Raises DataError."""
    body = text.rstrip("\n")  # blank lines at the end are nothing
    lines = body.count("\n") + 1
    outside = sum(part.count("\n") for part in body.split('"')[::2]) + 1 if quoting else lines
    count = line = 0
    try:
        for line, fields in records_of(body, delimiter, quoting):
            count += 1
            yield line, fields
    except csv.Error as error:
        raise DataError(f"{name}: cannot be split into fields after line {line}: {error}") from error
    if count == outside:
        return
    if count != lines:
        raise DataError(
            f"{name}: {count} records by fields but {outside} by line ends outside quotes; check its quotes"
        )
    notes.append("a quote character stands inside fields: read as it stands, each line as one record")


def _refuse_other_formats(path: Path, text: str) -> None:
    if not text.strip():
        raise DataError(f"{path.name}: holds only blanks")
    if MARKUP.match(text[:200]):
        raise DataError(f"{path.name}: is HTML or XML, not a table; export it as CSV")


def _share_of_commonest(text: str, delimiter: str) -> float:
    """Share of the first records that have the commonest field count, 0 if that is one field."""
    counts: Counter[int] = Counter()
    try:
        for _, fields in islice(records_of(text, delimiter), SAMPLED_RECORDS):
            if fields and not fields[0].lstrip().startswith("#"):
                counts[len(fields)] += 1
    except csv.Error:
        counts = Counter(
            line.count(delimiter) + 1 for line in text.split("\n", SAMPLED_RECORDS)[:SAMPLED_RECORDS] if line
        )
    width, times = max(counts.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
    return times / counts.total() if width > 1 else 0.0
