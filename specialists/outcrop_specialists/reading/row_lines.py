"""Takes the lines that look like rows of data out of a text, for a reader who is to see none.

Where `row_likeness.py` asks whether a text as a whole is data, this looks at each line beside its neighbours, and when
in doubt takes a line out: the number of lines that were taken out stands in their place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from outcrop_specialists.reading.row_likeness import CELL_WORDS, DELIMITERS, SPLIT

LEAST_WORDS, FIGURES_SHARE = 3, 0.6
"""A line of so many words, of which so many hold a digit, is a row wherever it stands."""
LONG_LINE, LONG_SHARE = 20, 0.35
"""A line of many words may be several rows."""
MOST_WORDS = 12
KEY_TIMES, KEY_WORDS = 3, 3
"""`key: value` is a record where the key comes so often, each time with a short value."""
PAIR_LINES, PATTERN_TIMES, LEAST_CELL_TAGS = 3, 4, 2
WORD_LINES, TERM_LINES, TERM_WORDS = 5, 8, 3
"""So many lines of one word, or of at most three that are no heading and no entry of a list, are a column."""
_DIGIT = re.compile(r"\d")
_DATE = re.compile(r"\W*(?:[0-9]{1,2}\.?\s+[A-Za-z]{3,}|[A-Za-z]{3,}\s+[0-9]{1,2}(?:st|nd|rd|th)?),?\s+[0-9]{4}\W*")
_ALONE = re.compile(r"\W*[<>~+-]?[0-9][0-9.,:/eE%+-]*\W*")
_KEY = re.compile(r"[-*\s\"']*([^\W0-9][\w .%()/-]{0,40}?)[\"']?\s*[:=]\s*(\S.*)")
_TAG = re.compile(r"<(\w[\w:.-]*)[^>]*>[^<]{0,80}</\1>")
_JSON = re.compile(r"\s*[\[{].*[0-9\"'].*[\]}],?\s*")
_CELL_TAG = re.compile(r"<(?:td|th|tr|li|row|cell|item|dt|dd|text)\b", re.IGNORECASE)
_ELEMENT = re.compile(r"<(\w[\w:.-]*)(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*')){2,}\s*/?>")
_OPENED = re.compile(r"<(\w[\w:.-]*)(\s[^<>]*)?>")
_OF_PROSE = frozenset((
    "a", "abbr", "b", "blockquote", "body", "br", "code", "div", "em", "figure", "font", "footer", "head", "header",
    "h1", "h2", "h3", "h4", "h5", "h6", "hr", "html", "i", "img", "link", "main", "meta", "nav", "ol", "p", "path",
    "pre", "rect", "s", "script", "section", "small", "span", "strong", "style", "sub", "sup", "svg", "title", "u",
    "ul",
))  # fmt: skip
"""Tags of running text and of drawings."""
_OBJECTS = re.compile(r"\{[^{}]*:[^{}]*\}\s*,\s*\{[^{}]*:")
_ENCODED = re.compile(r"(?![-_/+]{9})[A-Za-z0-9+/_-]{200}")
"""A word that nobody reads: base64 or the like, which may be a file."""
_TUPLES = re.compile(r"\([^()]+,[^()]+\)\s*[,;]\s*\([^()]+,[^()]+\)|\[[^\[\]]+,[^\[\]]+\]\s*,\s*\[[^\[\]]+,[^\[\]]+\]")
_BREAK = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# What parts cells as well as the delimiters that readers know.
_SIGN = re.compile(r"\s*(?:->|=>|::|[→·•~¦、；،؛:])\s*|\s(?:[/–—-]|and|und|y|et)\s")
_SQL_ROW = re.compile(r"\s*(?:(?:INSERT|REPLACE|MERGE)\b.*\bINTO\b|UPDATE\b.*\bSET\b|VALUES\s*\()", re.IGNORECASE)
_TUPLE = re.compile(r"\s*\((?=[^()]*[0-9'\"])[^()]+,[^()]*\)\s*[,;]?\s*")
_SENTENCE_ENDS = (".", "!", "?", ":")
NOTE = re.compile(r"\[\d+ lines that look like rows of data are not shown\]")
"""What stands in the place of rows."""


def without_row_lines(text: str) -> str:
    """The text with a note in the place of each stretch of lines that look like rows."""
    lines = with_plain_breaks(text).split("\n")
    numbers = [number for number, line in enumerate(lines) if line.strip()]
    taken = {numbers[place] for place in _rows([lines[number] for number in numbers])}
    return "\n".join(_noted(lines, taken))


def with_plain_breaks(text: str) -> str:
    """The text with one sign for every break of a line: files of old programs have others."""
    return _BREAK.sub("\n", text)


def _note(count: int) -> str:
    return f"[{count} lines that look like rows of data are not shown]"


def _noted(lines: Sequence[str], taken: set[int]) -> Iterator[str]:
    count = 0
    for number, line in enumerate(lines):
        if number in taken:
            count += 1
        elif count and not line.strip() and number + 1 in taken:
            continue  # blank lines between rows go with them
        else:
            if count:
                yield _note(count)
            count = 0
            yield line
    if count:
        yield _note(count)


def _rows(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines that look like rows."""
    found = {number for number, line in enumerate(lines) if is_row(line)}
    found |= _stretches([1 if _ALONE.fullmatch(line) else 0 for line in lines], lambda width: 2)
    for delimiter in DELIMITERS:
        widths = [_cells(line, delimiter) for line in lines]
        found |= _stretches(widths, partial(_least_rows, delimiter))
    found |= _stretches([_cells_by_signs(line) for line in lines], lambda width: 2)
    # One column: a word a line, or a few of them.
    found |= _stretches([1 if _is_word(line) else 0 for line in lines], lambda width: WORD_LINES)
    found |= _stretches([1 if _is_term(line) else 0 for line in lines], lambda width: TERM_LINES)
    found |= _stretches([_width_by_blanks(line) for line in lines], lambda width: 2)
    found |= _stretches([_words_with_figures(line) for line in lines], lambda width: 2 if width <= 8 else 3)
    # An identifier and a term, line after line.
    found |= _stretches([2 if _is_pair(line) else 0 for line in lines], lambda width: PAIR_LINES)
    return found | _records(lines) | _patterned(lines)


def _least_rows(delimiter: str, width: int) -> int:
    """So many lines of so many cells are rows: of two cells more is asked, for prose has a comma a line."""
    if width > 2 or delimiter == "\t":
        return 2
    return 4 if delimiter == "," else 3


def _cells_by_signs(line: str) -> int:
    """How many cells other signs part, 0 for fewer than three, for a sentence and for an address."""
    is_other = line.rstrip().endswith(_SENTENCE_ENDS) or "//" in line
    count = 0 if is_other else _cells(_SIGN.sub("|", line), "|")
    return count if count > 2 else 0


def _is_word(line: str) -> bool:
    return len(line.split()) == 1 and any(map(str.isalnum, line)) and not _is_marked(line)


def _is_term(line: str) -> bool:
    return len(line.split()) <= TERM_WORDS and any(map(str.isalnum, line)) and not _is_marked(line)


def _is_marked(line: str) -> bool:
    """Whether the line is a heading, an entry of a list, or ends like a sentence."""
    return line.lstrip().startswith(("#", "- ", "* ", "+ ")) or line.rstrip().endswith(_SENTENCE_ENDS)


def _is_pair(line: str) -> bool:
    words = [word for word in re.split(r"[\s:=]+", line.strip()) if word]
    return len(words) == 2 and any(map(_DIGIT.search, words)) and not line.rstrip().endswith(_SENTENCE_ENDS)


def _patterned(lines: Sequence[str]) -> set[int]:
    """Lines that say the same of other figures and names: one sentence a row is a table too."""
    patterns = {number: _pattern(line) for number, line in enumerate(lines)}
    times = Counter(pattern for pattern in patterns.values() if pattern)
    return {number for number, pattern in patterns.items() if pattern and times[pattern] >= PATTERN_TIMES}


def _pattern(line: str) -> str | None:
    """The words of a line with a mark for each that holds a figure; None where none does."""
    words = ["#" if _DIGIT.search(word) else word.lower() for word in line.split()]
    return " ".join(words) if "#" in words and len(words) > 1 else None


def is_row(line: str) -> bool:
    """Whether a line by itself looks like a row of data, or several."""
    if len(_CELL_TAG.findall(line)) >= LEAST_CELL_TAGS or _SQL_ROW.match(line) or _TUPLE.fullmatch(line):
        return True
    elements = Counter(_ELEMENT.findall(line))
    if (elements and max(elements.values()) >= LEAST_CELL_TAGS) or _TUPLES.search(line) or _OBJECTS.search(line):
        return True
    if _has_records_in_tags(line) or _ENCODED.search(line):
        return True
    words = [word for word in SPLIT.split(line.strip()) if word]
    with_digit = sum(_DIGIT.search(word) is not None for word in words)
    if _DATE.fullmatch(line) or _JSON.fullmatch(line):
        return _DATE.fullmatch(line) is None
    if len(words) >= LONG_LINE:
        return with_digit >= LONG_SHARE * len(words)
    if len(words) >= LEAST_WORDS and with_digit >= FIGURES_SHARE * len(words):
        return True
    # One row of a delimited table: cells of a word or two, half of them with figures.
    cells = max((_split(line, delimiter) for delimiter in DELIMITERS), key=len)
    figures = sum(_DIGIT.search(cell) is not None for cell in cells)
    return len(cells) >= 3 and 2 * figures >= len(cells) and all(len(cell.split()) <= CELL_WORDS for cell in cells)


def _has_records_in_tags(line: str) -> bool:
    """Whether tags that are no markup of prose come again and again, several of them or with attributes:
    `<r><a>x</a><b>y</b></r>`."""
    opened = [(name, bool(rest.strip(" /"))) for name, rest in _OPENED.findall(line) if name.lower() not in _OF_PROSE]
    times = Counter(name for name, _ in opened)
    often = {name for name, count in times.items() if count >= KEY_TIMES}
    return len(often) > 1 or any(name in often and has_more for name, has_more in opened)


def _split(line: str, delimiter: str) -> list[str]:
    return line.strip().strip(delimiter).split(delimiter)


def _cells(line: str, delimiter: str) -> int:
    """How many cells the line has, 0 where these are clauses."""
    cells = _split(line, delimiter)
    short = sum(len(cell.split()) <= CELL_WORDS for cell in cells)
    is_prose = line.rstrip().endswith(_SENTENCE_ENDS) and delimiter in ",;"
    return len(cells) if len(cells) > 1 and short >= 0.75 * len(cells) and not is_prose else 0


def _width_by_blanks(line: str) -> int:
    """How many columns two blanks or more part, 0 for fewer than three."""
    columns = re.split(r"\s{2,}", line.strip())
    return len(columns) if len(columns) >= 3 else 0


def _words_with_figures(line: str) -> int:
    """The number of words of a line with a figure in it that is no sentence; 0 for any other."""
    words = line.split()
    is_short = LEAST_WORDS <= len(words) <= MOST_WORDS
    is_sentence = line.rstrip().endswith(_SENTENCE_ENDS)
    return len(words) if is_short and not is_sentence and any(map(_DIGIT.search, words)) else 0


def _stretches(widths: Sequence[int], least: Callable[[int], int]) -> set[int]:
    """The lines of every stretch of the same width other than 0 that is as long as `least` asks for that width."""
    found: set[int] = set()
    begin = 0
    for place in range(1, len(widths) + 1):
        if place < len(widths) and widths[place] == widths[begin]:
            continue
        if widths[begin] and place - begin >= least(widths[begin]):
            found.update(range(begin, place))
        begin = place
    return found


def _records(lines: Sequence[str]) -> set[int]:
    """Lines of `key: value`, or of a tag, where the same key comes again and again."""
    keys: dict[int, str] = {}
    for number, line in enumerate(lines):
        tag, pair = _TAG.search(line), _KEY.fullmatch(line)
        if tag:
            keys[number] = f"<{tag[1]}>"
        elif pair and len(pair[2].split()) <= KEY_WORDS:
            keys[number] = pair[1].strip().lower()
    times = Counter(keys.values())
    # Two records have several keys twice.
    twice = sum(count == KEY_TIMES - 1 for count in times.values())
    least = KEY_TIMES - 1 if twice > 1 else KEY_TIMES
    return {number for number, key in keys.items() if times[key] >= least}
