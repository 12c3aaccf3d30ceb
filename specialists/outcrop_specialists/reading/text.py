"""Reads delimited text and JSON: bytes to text, text to records, the delimiter, and the count checked a second way."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.header import Record
from outcrop_specialists.reading.json_text import is_json, read_json
from outcrop_specialists.reading.layout import lay_out
from outcrop_specialists.reading.tables import Table

BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "pipe", ",": "comma"}
SAMPLED_RECORDS = 1_000
LAS_SECTION = re.compile(r"^~[A-Za-z]", re.MULTILINE)
MARKUP = re.compile(r"\s*<(?:!doctype|\?xml|html|table)", re.IGNORECASE)


def read_text(path: Path) -> Table:
    """The table in a text file. Raises DataError."""
    text, notes = decode(path)
    _refuse_other_formats(path, text)
    if is_json(path, text):
        return read_json(path, text, notes)
    delimiter, quoting = find_dialect(path.name, text, notes)
    records = count_checked(path.name, text, delimiter, quoting, notes)
    return lay_out(path, records, notes, comma_decimals=delimiter != ",")


def decode(path: Path) -> tuple[str, list[str]]:
    """The text of a file with line ends as \\n, and notes. Raises DataError for binary content."""
    data = path.read_bytes()
    encoding = next((name for mark, name in BYTE_ORDER_MARKS if data.startswith(mark)), None)
    notes = []
    if encoding is None and b"\0" in data:
        raise DataError(
            f"{path.name}: is binary (NUL byte at offset {data.index(0)}); if it is UTF-16 text without "
            "a byte-order mark, save it as UTF-8"
        )
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if encoding is not None:
            raise DataError(f"{path.name}: begins as {encoding} but is not valid at byte {error.start}") from error
        text = _decode_cp1252(path.name, data)
        notes.append(f"not UTF-8 at byte {error.start}: read as Windows-1252 ({_foreign(text)} letters beyond ASCII)")
    if encoding and encoding != "utf-8-sig":
        notes.append(f"read as {encoding.upper()}")
    if "\r" in text:
        if "\n" not in text:
            notes.append("line ends are CR only")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise DataError(
            f"{path.name}: is binary (NUL character in line {text.count(chr(10), 0, text.index(chr(0))) + 1})"
        )
    return text, notes


def find_dialect(name: str, text: str, notes: list[str]) -> tuple[str, bool]:
    """Delimiter and whether quotes are honoured. A delimiter wins by giving most records the same field count."""
    shares: dict[str, float] = {}
    for delimiter in DELIMITERS:
        shares[delimiter] = _share_of_commonest(text, delimiter)
    best = max(DELIMITERS, key=lambda delimiter: shares[delimiter])
    if shares[best] == 0:
        _refuse_blank_separated(name, text)
        best = ","
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
    if LAS_SECTION.search(text[:5_000]) or path.suffix.lower() == ".las":
        raise DataError(f"{path.name}: is a LAS well log, which cannot be read yet; export its curves as CSV")
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


def _refuse_blank_separated(name: str, text: str) -> None:
    lines = [line.split() for line in text.split("\n", 200)[:200] if line.strip()]
    widths = Counter(map(len, lines))
    width, times = widths.most_common(1)[0]
    parts = [part for line in lines[1:] for part in line]
    numeric = sum(part.lstrip("+-").replace(".", "", 1).isdigit() for part in parts)
    if width > 1 and times >= 0.9 * len(lines) and numeric > len(parts) / 2:
        raise DataError(
            f"{name}: its {width} fields a line are separated by blanks, which cannot be read yet; use commas"
        )


def _decode_cp1252(name: str, data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}: is neither UTF-8 nor Windows-1252 text (byte {error.start}); save it as UTF-8"
        ) from error


def _foreign(text: str) -> int:
    return sum(not character.isascii() for character in text)
