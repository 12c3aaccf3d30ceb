"""Where files come from: the user, a tool of Outcrop, or a script that writes whatever it likes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from outcrop_schemas.errors import PathError, UnknownNameError
from outcrop_specialists.paths import resolve_inside
from outcrop_specialists.reading.address import MARK
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.lineage import GENERATIONS, record_of
from outcrop_specialists.tools.registry import FAMILIES, get_tool
from outcrop_specialists.unseen.vouched import Known, is_known_condition

RESULTS = "results"
TOOLS = "|".join(sorted({name for names in FAMILIES.values() for name in names}))
_BY_CODE = re.compile(rf"(.+?)_(?:{TOOLS})(?:[_-][^\W\d_]+)*_[0-9a-f]{{8}}\+*\.[a-z]+")
FREE = frozenset(("run_script", "run_command", "check_script", "derive_column", "replace_values", "band_math"))
"""Tools that write whatever number they are given."""
OF_COLUMNS = frozenset(("summarize", "correlate", "censored_summary"))


def is_of_a_run(path: str) -> bool:
    """Whether a run may have written the file."""
    return RESULTS in PurePosixPath(path).parts


def is_named_by_code(path: str, data: Sequence[str]) -> bool:
    """Whether a tool gave the file its name, after one of these; a script's own part of it holds no figure."""
    found = _BY_CODE.fullmatch(PurePosixPath(path).name)
    return found is not None and found[1] in {PurePosixPath(each).name.rpartition(".")[0] for each in data}


def is_of_columns(record: dict[str, Any]) -> bool:
    """Whether each row of a table that a tool made tells of whole columns: a summary without groups, correlations."""
    parameters = record.get("parameters")
    return record.get("tool") in OF_COLUMNS and isinstance(parameters, dict) and not parameters.get("by")


def is_vouched_table(context: ToolContext, path: str, known: Known) -> bool:
    """Whether no figure of a table was written freely: it is the user's own, or made of such by tools of Outcrop with
    parameters that are known."""
    for name, record, inputs in _generations(context, path):
        if record is None and is_of_a_run(name):
            return False
        if record is not None and not (inputs and _is_known_work(record, inputs, known)):
            return False
    return True


def users_files(context: ToolContext, path: str) -> list[str]:
    """The user's own files that a file was made of, in the end; itself, where the user made it."""
    found = _generations(context, path)
    return [name for name, record, _ in found if name and record is None and not is_of_a_run(name)]


def _generations(context: ToolContext, path: str) -> Iterator[tuple[str, dict[str, Any] | None, list[str]]]:
    """The file and all that it was made of, each with its record and inputs. Where a chain does not end, or leads out
    of the workspace, its last is a file of a run."""
    waiting, seen = [path], set[str]()
    while waiting:
        name = waiting.pop().partition(MARK)[0]
        if name in seen:
            continue
        seen.add(name)
        try:
            place = resolve_inside(context.workspace, name)
        except PathError:
            place = None
        if place is None or len(seen) > GENERATIONS:
            yield RESULTS, None, []
            return
        record = record_of(place)
        listed = record.get("inputs") if record else None
        inputs = [str(each["path"]) for each in listed or () if isinstance(each, dict) and "path" in each]
        yield name, record, inputs
        waiting += inputs


def _is_known_work(record: dict[str, Any], inputs: Sequence[str], known: Known) -> bool:
    name = str(record.get("tool"))
    if name in FREE or name not in TOOLS.split("|"):
        return False
    for field, value in chosen(record).items():
        if "expression" in field and not is_known_condition(str(value), known):
            return False
        if not all(text in inputs or known.says(text) for text in _texts(value)):
            return False
    return True


def chosen(record: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a tool's work that are not its defaults; of what is no tool of Outcrop's, all."""
    parameters = record.get("parameters")
    if not isinstance(parameters, dict):
        return {}
    try:
        fields = get_tool(str(record.get("tool"))).arguments.model_fields
    except UnknownNameError:
        fields = {}
    return {
        field: value
        for field, value in parameters.items()
        if value is not None and not (field in fields and fields[field].get_default(call_default_factory=True) == value)
    }


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (text for pair in value.items() for each in pair for text in _texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in _texts(each))
    elif value is not None and not isinstance(value, bool):
        yield str(value)
