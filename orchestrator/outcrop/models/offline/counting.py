"""Which operation of a table query is asked for: counts of values, rows that meet a condition, or a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outcrop.models.offline.schema import Property
from outcrop.models.offline.vocabulary import word_set
from outcrop.models.offline.words import Word

OPERATION, COUNTS, MEETING, HEAD, TAIL = "operation", "value_counts", "filter_count", "head", "tail"
COUNTING = word_set("many count counts number distinct unique frequency frequencies tally")
SHOWING = word_set("show preview see display print view look peek give list")


def query_arguments(
    words: Sequence[Word], properties: Sequence[Property], chosen: dict[str, Any], *, columns: int, has_condition: bool
) -> dict[str, Any]:
    """What to add to the arguments of a query; empty where the tool is none or nothing is to be told from the words.

    A count with a column but no condition counts the values of the column: "how many rows per island".
    """
    prop = next((prop for prop in properties if prop.name == OPERATION and COUNTS in prop.choices), None)
    if prop is None:
        return {}
    said = {word.lower for word in words}
    operation = chosen.get(OPERATION)
    is_count = operation in (None, MEETING) and (bool(said & COUNTING) or operation == MEETING)
    if is_count and columns == 1:
        operation = COUNTS
    elif is_count and has_condition:
        operation = MEETING
    elif operation == HEAD and "last" in said:
        operation = TAIL
    elif operation is None and said & SHOWING and not said & COUNTING:
        operation = TAIL if "last" in said else HEAD
    return {} if operation is None else {OPERATION: operation}
