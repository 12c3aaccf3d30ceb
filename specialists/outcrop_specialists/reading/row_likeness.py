"""Whether a text is data, whatever its file is called: by its name, or because its lines look like rows of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from outcrop_schemas import wire
from outcrop_specialists.reading.json_text import SUFFIXES as JSON_SUFFIXES
from outcrop_specialists.reading.json_text import is_json
from outcrop_specialists.reading.las import is_las

ENDINGS = frozenset(
    (".csv", ".tsv", ".tab", ".psv", ".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".parquet", ".log", ".dat", ".las")
).union(JSON_SUFFIXES)
PACKED_ENDINGS = frozenset((".gz", ".bz2", ".xz", ".zip", ".bgz"))
LINE_SUFFIXES = (".jsonl", ".ndjson")
SAMPLED_LINES = 400
LEAST_LINES = 5
"""Fewer lines that are alike say nothing, unless they are long."""
LEAST_CELLS, LEAST_FIELDS = 200, 50
ALIKE, ALIKE_PAIRS = 0.7, 0.85
"""Shares of lines that have the same number of fields; of two fields more is asked, for prose has a comma a line."""
DELIMITERS = "\t;|,"
CELL_WORDS = 2
"""A cell has few words, a clause of prose between two commas more. Half of the cells may be remarks, unless a blank
stands behind most commas, as in prose."""
GUTTER_SHARE, SEGMENT_SHARE, SAME_SHARE, WIDEST = 0.98, 0.5, 0.9, 400
LONGEST_NUMBER = 40
LEAST_FIELDS_SMALL = 2
RECORD_TIMES, FIELD_WORDS = 10, 3
"""The fields of records have names that come so often, with short values."""
_TAG, _TAGS = re.compile(r"\s*</?([\w:.-]+)[^>]*>"), re.compile(r"<[^>]*>")
_CELL = re.compile(r"<(?:td|th|row|cell)\b", re.IGNORECASE)
_PAIR = re.compile(r"[-*\s]*[\"']?([^\W\d][\w .%()/-]{0,40}?)[\"']?\s*[:=](?:\s+(.*)|)")
NUMBER = re.compile(r"[<>~+-]?[0-9.,:/eE+-]*[0-9][.%]?|NaN|nan|NA")
QUOTED = re.compile(r'"[^"]*"')
SPLIT = re.compile(r"[\s,;|]+")
REMARK = ("#", "//", "%", "!", "--")


def is_named_data(name: str) -> bool:
    """Whether the name is that of a data file, packed or not."""
    path = Path(name.lower())
    return (Path(path.stem) if path.suffix in PACKED_ENDINGS else path).suffix in ENDINGS


def is_json_data(name: str, text: str) -> bool:
    """Whether the file is JSON by its name or its beginning."""
    path = Path(name.lower())
    return is_json(Path(path.stem) if path.suffix in PACKED_ENDINGS else path, text)


def is_json_document(name: str, text: str) -> bool:
    """Whether the file is one JSON document, and not one record a line, which are rows."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not is_json_data(name, text) or any(ending in LINE_SUFFIXES for ending in Path(name.lower()).suffixes):
        return False
    try:
        wire.loads(lines[0] if lines else "")
    except ValueError:
        return True
    return len(lines) == 1


def is_data(name: str, text: str) -> bool:
    """Whether a file of this name that begins like this is data and not text to be read."""
    return is_named_data(name) or is_json_data(name, text) or is_las(Path(name), text) or looks_like_rows(text)


def looks_like_rows(text: str) -> bool:
    """Whether the lines look like delimited data, fixed columns or figures: all of them, or those of the second half
    (what stands above a table can be long)."""
    lines = [line for line in text.split("\n", 20 * SAMPLED_LINES)[: 20 * SAMPLED_LINES] if line.strip()]
    if len(lines) < LEAST_LINES:
        # The last one may be cut.
        return any(_is_long_row(line) for line in lines) or _are_wide_rows(lines[:-1])
    return _are_rows(lines[:SAMPLED_LINES]) or _are_rows(lines[len(lines) // 2 :][:SAMPLED_LINES])


def is_small_table(text: str) -> bool:
    """Whether a text of whatever few lines is a header and rows: short fields without figures, then lines of as many
    fields, of which the second has a number. Two lines are enough; a letter has a greeting, and ends its sentences."""
    lines = [line.strip() for line in text.split("\n", SAMPLED_LINES)[:SAMPLED_LINES] if line.strip()]
    for delimiter in DELIMITERS if len(lines) > 1 else "":
        cells = [[cell.strip().strip('"') for cell in line.split(delimiter)] for line in lines]
        header, first = cells[0], cells[1]
        if len(header) < LEAST_FIELDS_SMALL or any(len(each) != len(header) for each in cells):
            continue
        is_header = all(name and len(name.split()) <= FIELD_WORDS and not re.search(r"\d", name) for name in header)
        if is_header and any(map(NUMBER.fullmatch, first)) and not lines[0].endswith((".", "!", "?", ":")):
            return True
    return False


def _are_rows(lines: Sequence[str]) -> bool:
    lines = [line.rstrip("\r") for line in lines if not line.lstrip().startswith(REMARK)]
    if len(lines) < LEAST_LINES:
        return False
    if sum(map(_is_mostly_figures, lines)) >= ALIKE * len(lines):
        return True
    return (
        any(_are_alike(lines, delimiter) for delimiter in DELIMITERS)
        or _has_columns(lines)
        or _are_words_alike(lines)
        or _are_records(lines)
    )


def _are_records(lines: Sequence[str]) -> bool:
    """Whether nearly all lines are fields of records: the same few keys (YAML) or tags (HTML, XML) again and again."""
    keys = [_record_key(line) for line in lines]
    times = Counter(key for key in keys if key)
    return sum(count for count in times.values() if count >= RECORD_TIMES) >= ALIKE_PAIRS * len(lines)


def _record_key(line: str) -> str:
    """The name of a field with a short value; empty where the line is none."""
    tag = _TAG.match(line)
    if tag:
        is_short = _CELL.search(line) or len(_TAGS.sub(" ", line).split()) <= FIELD_WORDS
        return f"<{tag[1].lower()}>" if is_short else ""
    pair = _PAIR.fullmatch(line)
    return pair[1].strip().lower() if pair and len((pair[2] or "").split()) <= FIELD_WORDS else ""


def _are_alike(lines: Sequence[str], delimiter: str) -> bool:
    """Whether most lines have the same number of fields, more than one, and these are cells rather than clauses."""
    split = [_fields(line, delimiter) for line in lines]
    width, times = Counter(map(len, split)).most_common(1)[0]
    if width < 2 or times < (ALIKE_PAIRS if width < 4 else ALIKE) * len(lines):
        return False
    fields = [field for each in split if len(each) == width for field in each]
    short = sum(len(field.split()) <= CELL_WORDS for field in fields)
    parted_by_blanks = sum(field.startswith(" ") for field in fields) * 2 > len(fields) - times
    return delimiter == "\t" or short >= (ALIKE_PAIRS if parted_by_blanks else 0.5) * len(fields)


def _fields(line: str, delimiter: str) -> list[str]:
    text = QUOTED.sub("q", line) if '"' in line else line
    # A sign that ends a line (of code, of a list in prose) parts nothing; no more does one that begins it.
    return text.strip().strip(delimiter).split(delimiter)


def _are_words_alike(lines: Sequence[str]) -> bool:
    """Whether nearly all lines have the same number of words, three or more, and most of these differ from line to
    line: columns that single blanks part. Sentences of one pattern have most words alike."""
    split = [line.split() for line in lines]
    width, times = Counter(map(len, split)).most_common(1)[0]
    if width < 3 or times < GUTTER_SHARE * len(lines) or len(lines) < 2 * LEAST_LINES:
        return False
    rows = [words for words in split if len(words) == width]
    same = sum(Counter(words[place] for words in rows).most_common(1)[0][1] >= SAME_SHARE * times
               for place in range(width))  # fmt: skip
    return width - same >= 3 and 2 * same < width


def _is_mostly_figures(line: str) -> bool:
    words = [word for word in SPLIT.split(line.strip()) if word]
    figures = sum(len(word) <= LONGEST_NUMBER and NUMBER.fullmatch(word) is not None for word in words)
    return 2 * figures > len(words)


def _is_long_row(line: str) -> bool:
    return len(SPLIT.findall(line[:100_000])) >= LEAST_CELLS and _is_mostly_figures(line[:100_000])


def _are_wide_rows(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and any(
        len(widths := {len(_fields(line, delimiter)) for line in lines}) == 1 and min(widths) >= LEAST_FIELDS
        for delimiter in DELIMITERS
    )


def _has_columns(lines: Sequence[str]) -> bool:
    """Whether blanks part the lines at the same places into three columns or more. What is the same in each line is no
    column; where that is most of it, the lines are sentences of one pattern."""
    if len(lines) < 2 * LEAST_LINES:
        return False
    shown = [line[:WIDEST].expandtabs(8)[:WIDEST].ljust(WIDEST) for line in lines]
    used = [sum(character != " " for character in place) for place in zip(*shown, strict=True)]
    most_in_gutter = (1 - GUTTER_SHARE) * len(lines)
    columns = same = start = 0
    for place, count in enumerate([*used, 0]):
        if count > most_in_gutter:
            continue
        if max(used[start:place], default=0) >= SEGMENT_SHARE * len(lines):
            written = [text for line in shown if (text := line[start:place].strip())]
            is_same = Counter(written).most_common(1)[0][1] >= SAME_SHARE * len(written)
            same, columns = same + is_same, columns + (not is_same)
        start = place + 1
    return columns >= 3 and columns > same
