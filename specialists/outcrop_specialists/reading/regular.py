"""Reads large regular text files quickly: head and tail record by record as every file is, the rows between by polars.

Nothing is decided here that `text.py` and `layout.py` would decide otherwise. The rows between are taken only where a
look at their bytes shows that all of them are alike: UTF-8, quotes only around whole fields, no blank line, as many
delimiters outside quotes as that many rows need. Where anything is in doubt the answer is None and the file is read
the careful way, which names lines.

Memory: the bytes are looked at in blocks; what grows with the file are the text columns and, one after the other,
their typed forms.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading import text as careful
from outcrop_specialists.reading.encoding import decode
from outcrop_specialists.reading.header import Record
from outcrop_specialists.reading.json_text import is_json
from outcrop_specialists.reading.las import is_las
from outcrop_specialists.reading.layout import lay_out
from outcrop_specialists.reading.plain import ahead, is_blank
from outcrop_specialists.reading.tables import Table

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Bytes = NDArray[Any]

LARGE_BYTES = 4 << 20
"""Smaller files take the careful way, which then is quick enough."""
BLOCK_BYTES = 8 << 20
FIRST_HEAD_BYTES = 256 << 10
TAIL_BYTES = 64 << 10
"""Lines below a table stand there."""
LONGEST_TAIL_BYTES = 8 << 20
LONGEST_HEAD_BYTES = 256 << 20
SPARE_RECORDS = 100
"""So many more than the sample that decides on delimiter and header are in the head."""
LONGEST_RECORD = 131_072
"""The csv module refuses longer fields."""
NEWLINE, QUOTE = 10, 34
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLANK_LINE = re.compile(careful.BLANK_LINE.pattern.encode())
BLANK_BEGINS = b'\n \t,;|"'
"""How a line begins that `BLANK_LINE` may find."""
ODD_BLANKS = (b"\0", b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""Blanks to Python and not to polars; and NUL, which no text has."""


class _IrregularError(Exception):
    """The file is not regular enough; what is wrong with it the careful way finds out."""


@dataclass
class Middle:
    """The rows between head and tail. `tail` are the records behind them."""

    delimiter: str
    blocks: list[pl.DataFrame] = field(default_factory=list)
    tail: list[Record] = field(default_factory=list)

    def columns(self, width: int, header: Sequence[str] | None) -> tuple[list[pl.Series], int]:
        """The rows as `width` text columns, and the rows of which empty fields beyond were dropped. May be asked once.

        `header` are the trimmed names, None where the table has none. Raises DataError where a row is empty, repeats
        the header or has another width.
        """
        import polars as pl

        frame = pl.concat(self.blocks, rechunk=False)
        self.blocks.clear()
        kept, beyond = frame[:, :width], frame[:, width:]
        is_odd = kept.width < width or not all(is_blank(column).all() for column in beyond.get_columns())
        is_odd = is_odd or _has_row(kept, [""] * width) or (header is not None and _has_row(kept, header))
        if is_odd:
            raise DataError("the rows between head and tail are not like those of the head")
        return kept.get_columns(), kept.height if beyond.width else 0


def read_regular(path: Path) -> Table | None:
    """The table of a large regular file of delimited text; None for any other file."""
    if path.stat().st_size < LARGE_BYTES:
        return None
    try:
        return _read(path)
    except (_IrregularError, DataError, csv.Error):
        return None


def _read(path: Path) -> Table:
    notes: list[str] = []
    with path.open("rb") as file:
        head = _head(file)
        text = _decoded(path, head)
        delimiter = _delimiter(path, text, notes)
        records = list(careful.count_checked(path.name, text, delimiter, True, []))
        if len(records) != careful.SAMPLED_RECORDS + SPARE_RECORDS:
            raise _IrregularError
        file.seek(len(head))
        middle = Middle(delimiter)
        lines = text.count("\n") + _take_blocks(path, file, len(records[-1][1]), middle)
        tail = _decoded(path, file.read())
    unasked: list[str] = []
    middle.tail = [(lines + n, row) for n, row in careful.count_checked(path.name, tail, delimiter, True, unasked)]
    if unasked or not middle.blocks or careful.BLANK_LINE.search(f"\n{tail}"):
        raise _IrregularError
    table = lay_out(path, records, notes, comma_decimals=delimiter != ",", middle=middle)
    read_as = {"format": "text", "encoding": careful.UTF_8, "delimiter": careful.DELIMITERS[delimiter]}
    return replace(table, read_as={**read_as, **table.read_as})


def _head(file: BinaryIO) -> bytes:
    """The bytes of the first records: enough to decide on delimiter and header."""
    wanted = careful.SAMPLED_RECORDS + SPARE_RECORDS
    size = FIRST_HEAD_BYTES
    while size <= LONGEST_HEAD_BYTES:
        file.seek(0)
        found = file.read(size)
        ends = _record_ends(_codes(found))
        if len(ends) >= wanted:
            return found[: ends[wanted - 1] + 1]
        if len(found) < size:
            break
        size *= 4
    raise _IrregularError


def _delimiter(path: Path, head: str, notes: list[str]) -> str:
    """As it is found from the whole file: whatever looks at a sample must have found it whole in the head."""
    if is_las(path, head) or is_json(path, head) or careful.MARKUP.match(head[:200]):
        raise _IrregularError
    if careful.BLANK_LINE.search(f"{head}.") or not all(
        _has_sample(head, delimiter) for delimiter in careful.DELIMITERS
    ):
        raise _IrregularError
    delimiter, is_quoted = careful.find_dialect(path.name, head, notes)
    if delimiter not in careful.DELIMITERS or is_quoted != ('"' in head):
        raise _IrregularError
    return delimiter


def _has_sample(head: str, delimiter: str) -> bool:
    """Whether a sample of records under this delimiter ends before the head does, or a fault in it."""
    try:
        records = sum(1 for _ in islice(careful.records_of(head, delimiter), careful.SAMPLED_RECORDS))
    except csv.Error as error:
        return "end of data" not in str(error)
    return records == careful.SAMPLED_RECORDS


def _take_blocks(path: Path, file: BinaryIO, width: int, middle: Middle) -> int:
    """Parse blocks of whole records until the tail, where the file is left; gives the lines passed."""
    lines = 0

    def parse(block: bytes) -> tuple[pl.DataFrame, int]:
        block = _plain(path, block)
        return _parsed(block, middle.delimiter, width), _count(block, b"\n")

    for frame, passed in ahead(parse, _blocks(file, path.stat().st_size - TAIL_BYTES)):
        middle.blocks.append(frame)
        lines += passed
    if path.stat().st_size - file.tell() > LONGEST_TAIL_BYTES:
        raise _IrregularError
    return lines


def _blocks(file: BinaryIO, until: int) -> Iterator[bytes]:
    """Blocks of whole records from where the file is; it is left behind the last one."""
    at = file.tell()
    while at < until:
        raw = file.read(min(BLOCK_BYTES, until - at))
        length = _length_of_records(raw)
        at += length
        file.seek(at)
        if not length:
            return
        yield raw[:length]


def _plain(path: Path, block: bytes) -> bytes:
    """A block with line ends as \\n. Raises _IrregularError for what needs a note or reads differently elsewhere."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if b"\r" in block or block.startswith(BYTE_ORDER_MARK):
        raise _IrregularError
    if block.isascii():
        _refuse_odd(block)
    else:
        _decoded(path, block)
    return block


def _decoded(path: Path, piece: bytes) -> str:
    _refuse_odd(piece)
    text, notes = decode(path.name, piece)
    if notes:
        raise _IrregularError
    return text


def _refuse_odd(piece: bytes) -> None:
    if any(code in piece for code in ODD_BLANKS):
        raise _IrregularError


def _length_of_records(raw: bytes) -> int:
    """The bytes up to the last line end outside quotes; `raw` begins outside."""
    if b'"' not in raw:
        return raw.rfind(b"\n") + 1
    ends = _record_ends(_codes(raw))
    return int(ends[-1]) + 1 if len(ends) else 0


def _record_ends(codes: Bytes) -> Bytes:
    """Where line ends stand outside quotes."""
    import numpy

    ends: Bytes = numpy.flatnonzero(codes == NEWLINE)
    quotes = numpy.flatnonzero(codes == QUOTE)
    return ends[numpy.searchsorted(quotes, ends) % 2 == 0] if len(quotes) else ends


def _parsed(block: bytes, delimiter: str, width: int) -> pl.DataFrame:
    """The block as text columns, its rows and fields counted in its bytes. Raises _IrregularError."""
    import polars as pl

    is_quoted = b'"' in block
    if is_quoted:
        rows = _rows_with_quotes(block, delimiter, width)
    else:
        rows = _count(block, b"\n")
        if _count(block, delimiter.encode()) != rows * (width - 1):
            raise _IrregularError
    _check_lines(block)
    try:
        frame = pl.read_csv(
            block,
            has_header=False,
            separator=delimiter,
            quote_char='"' if is_quoted else None,
            schema={f"column_{number}": pl.String for number in range(width)},
            infer_schema=False,
            truncate_ragged_lines=False,
        )
    except pl.exceptions.PolarsError as error:
        raise _IrregularError from error
    if frame.shape != (rows, width):
        raise _IrregularError
    return frame


def _rows_with_quotes(block: bytes, delimiter: str, width: int) -> int:
    """The number of records. Raises _IrregularError where they have not all the same number of fields or where a
    quote opens elsewhere than at the beginning of a field or closes elsewhere than at its end.

    Doubled quotes inside are a closing and an opening one next to each other.
    """
    import numpy

    codes = _codes(block)
    quotes = numpy.flatnonzero(codes == QUOTE)
    marks = numpy.flatnonzero(codes == ord(delimiter))
    outside = int((numpy.searchsorted(quotes, marks) % 2 == 0).sum())
    ends = _record_ends(codes)
    edge = numpy.zeros(256, dtype=bool)
    edge[[NEWLINE, QUOTE, ord(delimiter)]] = True
    opening, closing = quotes[::2], quotes[1::2]
    is_regular = (
        outside == len(ends) * (width - 1)
        and len(opening) == len(closing)
        and (edge[codes[opening - 1]] | (opening == 0)).all()
        and edge[codes[closing + 1]].all()
    )
    if not is_regular:
        raise _IrregularError
    return len(ends)


def _check_lines(block: bytes) -> None:
    """Raises _IrregularError for a line that is blank or holds delimiters only (the careful way then looks for several
    tables), and where a line is longer than a field may be."""
    import numpy

    codes = _codes(block)
    ends = numpy.flatnonzero(codes == NEWLINE)
    may_be_blank = numpy.zeros(256, dtype=bool)
    may_be_blank[list(BLANK_BEGINS)] = True
    suspect = may_be_blank[codes[ends[:-1] + 1]].any() or may_be_blank[codes[0]]
    if suspect and BLANK_LINE.search(b"\n" + block + b"."):
        raise _IrregularError
    if numpy.diff(ends, prepend=-1).max() > LONGEST_RECORD:
        raise _IrregularError


def _codes(block: bytes) -> Bytes:
    import numpy

    return numpy.frombuffer(block, dtype=numpy.uint8)


def _count(block: bytes, byte: bytes) -> int:
    """Several times as quick as `bytes.count`."""
    import numpy

    return int(numpy.count_nonzero(_codes(block) == ord(byte)))


def _has_row(frame: pl.DataFrame, wanted: Sequence[str]) -> bool:
    """Whether a row has these cells, trimmed."""
    import polars as pl

    rows = frame
    for name, cell in zip(frame.columns, wanted, strict=True):
        written = pl.col(name).fill_null("")
        # What is so once trimmed begins with it or with a blank; only few texts are trimmed.
        may_be = written.str.starts_with(cell) if cell else written == ""
        rows = rows.filter(may_be | (written < "!") | (written >= "\x80"))
        rows = rows.filter(written.str.strip_chars() == cell)
        if rows.is_empty():
            return False
    return True
