"""What arguments of tools stand for: every one with text in it has a place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from outcrop_specialists.tools import argument_kinds as kinds
from outcrop_specialists.tools.registry import all_tools


def textual(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    """Whether free text may stand in an argument, itself, in a list or as a key."""
    if "$ref" in schema:
        return True
    if "enum" in schema or "const" in schema:
        return False
    parts = [*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]
    return schema.get("type") in ("string", "object") or any(textual(part, whole) for part in parts)


def arguments() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for tool in all_tools():
        schema = tool.arguments.model_json_schema()
        for name, given in schema["properties"].items():
            if textual(given, schema):
                yield tool.name, name, given


def test_every_argument_with_text_in_it_is_known() -> None:
    known = kinds.EXPRESSIONS | kinds.COLUMNS | kinds.KEYED | kinds.OTHER | {kinds.PAIRS}
    unknown = [
        f"{tool}.{name}"
        for tool, name, schema in arguments()
        if not (kinds.is_file(name) or schema.get("x-role") or name in known or (tool, name) in kinds.NOT_COLUMNS)
    ]
    assert unknown == []


def test_columns_are_told_by_the_file_that_they_are_of() -> None:
    arguments = {
        "path": "a.csv", "right_path": "b.csv", "on": ["hole"], "right_on": ["BHID"], "how": "left", "suffix": "_b",
    }  # fmt: skip
    found = kinds.columns_in("merge_datasets", arguments)
    assert {name: list(columns) for name, columns in found.items() if columns} == {
        "path": ["hole"],
        "right_path": ["BHID"],
    }
    assert kinds.paths_in("merge_datasets", arguments) == {"path": ["a.csv"], "right_path": ["b.csv"]}


def test_columns_of_expressions_pairs_and_keys_are_found() -> None:
    call = {"path": "a.csv", "derived": [{"name": "r", "expression": "`Cu ppm` / Zn + log(col('As'))"}]}
    assert set(kinds.columns_in("derive_column", call)["path"]) == {"Cu ppm", "Zn", "As"}
    assert set(kinds.columns_in("compute_ratios", {"path": "a.csv", "pairs": ["Cu/Zn"]})["path"]) == {"Cu", "Zn"}
    assert set(kinds.columns_in("select_columns", {"path": "a", "rename": {"Au": "gold"}})["path"]) == {"Au"}


def test_values_that_are_asked_for_go_with_their_column() -> None:
    call = {"path": "a.csv", "expression": "rock in ('granite', 'schist') and Cu > 5 and kind == 'drill'"}
    assert kinds.columns_in("filter_rows", call)["path"] == {
        "rock": ["granite", "schist"],
        "Cu": [],
        "kind": ["drill"],
    }
    call = {"path": "a.csv", "column": "rock", "operator": "==", "value": "granite"}
    assert kinds.columns_in("filter_rows", call)["path"] == {"rock": ["granite"]}
    call = {"path": "a.csv", "column": "Cu", "by": "rock", "groups": ["granite"]}
    assert kinds.columns_in("compare_groups", call)["path"] == {"Cu": [], "rock": ["granite"]}


def test_choices_and_values_are_no_columns() -> None:
    assert set(kinds.columns_in("convert_types", {"path": "a", "columns": ["d"], "to": "date"})["path"]) == {"d"}
    assert not kinds.columns_in("stack_tables", {"paths": ["a", "b"], "columns": "all"}).get("path")
    call = {"path": "a", "values": [-9], "columns": ["d"], "replacement": "x"}
    assert set(kinds.columns_in("replace_values", call)["path"]) == {"d"}
