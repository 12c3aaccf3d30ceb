"""Rows and columns of a table that a specialist wrote, from its open descriptor: in bounded time and memory.

Encoding and delimiter are what the specialists' own reading door finds in the first lines.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from csv import QUOTE_MINIMAL, QUOTE_NONE
from io import TextIOWrapper
from typing import Literal

from outcrop.parquet import NoParquetError, shape_of
from outcrop_schemas.errors import DataError

DELIMITED = frozenset({".csv", ".tsv", ".tab"})
PARQUET = frozenset({".parquet", ".pq"})
# Counting the records of larger tables would hold up their outcome.
_MEASURED_BYTES = 256 << 20
# A record is in memory as a whole, each of its fields at fifty times a character.
_RECORD_CHARS = 1 << 20
_SAMPLE_BYTES = 256 << 10
_LINES_A_LOOK = 1_024


class NotMeasuredError(Exception):
    """Why rows and columns are not known."""


def measure(descriptor: int, name: str, suffix: str, size: int, refuse_late: Callable[[], None]) -> tuple[int, int]:
    """Records below the header and fields of the header. Raises NotMeasuredError.

    `refuse_late` is called now and then, and raises NotMeasuredError when the time for it is over.
    """
    if suffix in PARQUET:
        try:
            return shape_of(descriptor, size, refuse_late)
        except NoParquetError as error:
            raise NotMeasuredError(str(error)) from error
    if suffix not in DELIMITED:
        raise NotMeasuredError(f"{suffix or 'a file without a suffix'} is not measured")
    if size > _MEASURED_BYTES:
        raise NotMeasuredError(f"it is larger than {_MEASURED_BYTES >> 20} MiB")
    return _measure_delimited(descriptor, name, size, refuse_late)


def _measure_delimited(descriptor: int, name: str, size: int, refuse_late: Callable[[], None]) -> tuple[int, int]:
    encoding, delimiter, quoting = _dialect(descriptor, name, size)
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, newline="", encoding=encoding, errors="replace", closefd=False) as file:
        lines = _Lines(file, refuse_late)
        try:
            columns = rows = 0
            for record in csv.reader(lines, delimiter=delimiter, quoting=quoting):
                lines.in_record = 0
                if not record:
                    continue
                rows += 1
                columns = columns or len(record)
        except csv.Error as error:
            raise NotMeasuredError(f"it cannot be split into fields ({error})") from error
    return max(rows - 1, 0), columns


def _dialect(descriptor: int, name: str, size: int) -> tuple[str, str, Literal[0, 3]]:
    """Encoding, delimiter, and what of `csv` the quotes are read with. Raises NotMeasuredError."""
    from outcrop_specialists.reading.encoding import encoding_of
    from outcrop_specialists.reading.text import DELIMITERS, find_dialect

    sample = os.pread(descriptor, _SAMPLE_BYTES, 0)
    try:
        encoding = encoding_of(name, sample)
    except DataError as error:
        raise NotMeasuredError("it is not text") from error
    if encoding == "utf-8":
        encoding = "utf-8-sig"
    elif encoding.startswith(("utf-16", "utf-32")) and not _is_unmarked(sample):
        # Names an order of bytes, and a mark before the text would be part of it; without the order it is passed over.
        encoding = encoding[: len("utf-16")]
    text = sample.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")
    if size > len(sample):
        text = text[: text.rfind("\n") + 1] or text
    delimiter, is_quoted = find_dialect(name, text, [])
    if delimiter not in DELIMITERS:
        raise NotMeasuredError("its columns are separated by blanks")
    # Of a sample that is cut the last quote may be open; of a whole file the door has seen that quotes do not close.
    is_literal = size <= len(sample) and '"' in text and not is_quoted
    return encoding, delimiter, QUOTE_NONE if is_literal else QUOTE_MINIMAL


def _is_unmarked(sample: bytes) -> bool:
    """Whether a text in UTF-16 or UTF-32 begins without a byte-order mark."""
    return not sample.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"))


class _Lines:
    """The lines of a file, as long as one record does not take too many of them and there is time."""

    def __init__(self, file: TextIOWrapper, refuse_late: Callable[[], None]) -> None:
        self._file, self._refuse_late = file, refuse_late
        self.in_record = 0

    def __iter__(self) -> Iterator[str]:
        count = 0
        while line := self._file.readline(_RECORD_CHARS):
            self.in_record += len(line)
            if self.in_record >= _RECORD_CHARS:
                raise NotMeasuredError(f"a record of it has more than {_RECORD_CHARS >> 20} MiB")
            count += 1
            if count % _LINES_A_LOOK == 0:
                self._refuse_late()
            yield line
        self._refuse_late()
