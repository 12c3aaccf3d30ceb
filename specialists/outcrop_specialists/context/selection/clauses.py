"""A request as it is ranked: without the names of files, and a long one in its clauses, so that a step of many parts
finds the tools of each."""

from __future__ import annotations

import re

from outcrop_schemas import limits

FEWEST_WORDS = 4
"""A piece with fewer words ("and plot it") says too little by itself."""

_KINDS = {
    **dict.fromkeys(("csv", "tsv", "xlsx", "xls", "parquet", "json", "jsonl", "ndjson", "txt", "dat"), "the table"),
    **dict.fromkeys(("tif", "tiff", "vrt"), "the raster"),
    "las": "the well log",
    "py": "the script",
}
_FILE = re.compile(rf"[\w./-]*[\w-]\.(?P<ending>{'|'.join(_KINDS)})\b", re.IGNORECASE)
_ORDER = "then|also|afterwards|additionally|furthermore|secondly|thirdly|finally|lastly"
_BREAK = re.compile(
    rf"(?<=[.!?;:])\s+|\s*\n+\s*|;\s+|,?\s+(?:and\s+)?(?:{_ORDER})\b,?\s+|,\s+and\s+|\s+and\s+", re.IGNORECASE
)


def plain(text: str) -> str:
    """A request with each file name replaced by what kind of file it is: the name says nothing of what is to be done,
    yet its words would ("wells.csv")."""
    return _FILE.sub(lambda match: _KINDS[match["ending"].lower()], text)


def clauses_of(text: str) -> list[str]:
    """The clauses of a request, of which a single one is the request itself. A piece of few words stays with the one
    before it (or after it, at the beginning), so that together they are all that was said."""
    found: list[str] = []
    for piece in filter(None, _BREAK.split(text)):
        if found and min(len(found[-1].split()), len(piece.split())) < FEWEST_WORDS:
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    each = -(-len(found) // limits.REQUEST_CLAUSES) or 1
    return [" ".join(found[start : start + each]) for start in range(0, len(found), each)] or [text]
