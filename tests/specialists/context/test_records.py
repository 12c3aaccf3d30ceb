"""A figure of a result stands with what it is a figure of: labels and unit of its record, the column of its cell."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas import limits, wire
from outcrop_specialists.context.facts import facts_of_call, facts_of_result
from outcrop_specialists.context.projection import projected
from outcrop_specialists.context.records import fields_of

NAMES = st.text("abcdefghijklmnopqrstuvwxyzé", min_size=2, max_size=10).filter(
    lambda name: name not in ("path", "file")
)
FIGURES = st.floats(-1e6, 1e6, allow_nan=False) | st.integers(-(10**9), 10**9)


def told(value: Any) -> list[str]:
    return facts_of_result(wire.dumps(value).decode())


def has_all(line: str, *words: object) -> bool:
    return all(re.search(rf"(?<![\w.]){re.escape(str(word))}(?![\w]|\.\d)", line) for word in words)


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (
            {"columns": [{"name": "Cu", "type": "number", "unit": "ppm", "min": 0.002, "max": 1.5, "sd": None}]},
            ["columns[0] (name Cu, unit ppm): type = number, min = 0.002, max = 1.5"],
        ),
        (
            {"results": {"greatest_difference": {"first": "schist", "second": "vein", "difference": 0.159}}},
            ["results.greatest_difference (first schist, second vein).difference = 0.159"],
        ),
        (
            {"results": {"columns": ["rock", "mean"], "rows": [["granite", 1.25], ["schist", 7.75]]}},
            ["results.rows[0] (rock granite).mean = 1.25", "results.rows[1] (rock schist).mean = 7.75"],
        ),
        ([["rock", "mean"], ["granite", 1.25]], ["[1] (rock granite).mean = 1.25"]),
        (
            {"holes": [{"hole": "north twin", "intervals": [{"from": 0, "to": 1.5}]}]},
            ["holes[0].intervals[0] (hole north twin): from = 0, to = 1.5"],
        ),
        ({"results": {"column": "Gold", "unit": "g/t", "mean": 1.2}}, ["results (column Gold, unit g/t).mean = 1.2"]),
        ({"results": {"Au": {"mean": 1.5, "sd": 0.5}}}, ["results.Au: mean = 1.5, sd = 0.5"]),
        ({"results": {"mean": 1.5}, "carrier": "Lufthansa"}, ["results (carrier Lufthansa).mean = 1.5"]),
        ({"answer": "approved", "items": []}, ["answer = approved"]),
        (
            {"comments": [{"hole": "twin", "text": "Never drill it."}]},
            ["comments[0] (hole twin).text = Never drill it."],
        ),
        (
            {"results": {"groups": ["granite", "schist"], "means": [1.25, 7.75]}},
            ["results: groups[0] = granite, groups[1] = schist, means[0] = 1.25, means[1] = 7.75"],
        ),
    ],
)
def test_a_line_a_record_with_its_labels(value: Any, lines: list[str]) -> None:
    assert told(value) == lines


@given(
    records=st.lists(st.tuples(NAMES, st.sampled_from(["ppm", "g/t", "%"]), FIGURES, FIGURES), min_size=1, max_size=30)
)
def test_every_figure_stands_in_a_line_with_name_and_unit_of_its_record(
    records: list[tuple[str, str, Any, Any]],
) -> None:
    value = [{"name": name, "unit": unit, "min": low, "max": high} for name, unit, low, high in records]
    found = told({"summary": "s", "results": {"columns": value}})
    for number, (name, unit, low, high) in enumerate(records):
        [line] = [line for line in found if f"columns[{number}]" in line]
        low, high = wire.dumps(low).decode(), wire.dumps(high).decode()
        assert f"(name {name}, unit {unit}): min = {low}, max = {high}" in line


@given(
    heading=st.lists(NAMES, min_size=2, max_size=8, unique=True),
    cells=st.lists(st.lists(FIGURES | NAMES, min_size=8, max_size=8), min_size=1, max_size=10),
)
def test_every_cell_of_a_table_stands_with_its_column_and_the_texts_of_its_row(heading: list[str], cells: Any) -> None:
    rows = [row[: len(heading)] for row in cells]
    found = "\n".join(told({"results": {"columns": heading, "rows": rows}}))
    for number, row in enumerate(rows):
        of_row = " ".join(re.findall(rf"(?m)^results\.rows\[{number}\].*$", found))
        for name, cell in zip(heading, row, strict=True):
            cell = cell if isinstance(cell, str) else wire.dumps(cell).decode()
            assert f"{name} {cell}" in of_row or f"{name} = {cell}" in of_row


def test_a_record_too_long_for_a_line_has_its_labels_in_each() -> None:
    value = {"columns": [{"name": "Cu", "unit": "ppm", **{f"percentile_{n}": n / 7 for n in range(100)}}]}
    found = told(value)
    assert len(found) > 5
    assert all(line.startswith("columns[0] (name Cu, unit ppm)") and len(line) < 400 for line in found)
    assert len([field for line in found for field in fields_of(line)]) == 100


def test_one_line_a_record_is_shorter_than_one_a_figure() -> None:
    columns = [{"name": f"el{n}", "min": n / 7, "max": n * 7, "missing": n, "distinct": n + 5} for n in range(40)]
    found = told({"results": {"columns": columns}})
    apart = [
        f"results.columns[{n}].{key} = {v}" for n, c in enumerate(columns) for key, v in c.items() if key != "name"
    ]
    assert len(found) == 40
    assert sum(map(len, found)) < 0.8 * sum(map(len, apart))


def test_texts_that_no_figure_goes_with_are_kept_if_they_are_few() -> None:
    few, many = ["aisle", "window"], [f"word{chr(97 + n % 26)}" * 2 for n in range(500)]
    assert any("seats[1] = window" in line for line in told({"results": {"seats": few}}))
    assert len(told({"results": {"seats": many}})) < limits.FACTS_OF_A_RESULT / 10
    assert has_all(" ".join(told({"results": {"names": many, "n": list(range(500))}})), many[499], 499)


def test_what_a_tool_is_asked_with_stands_by_itself_and_a_condition_whole() -> None:
    found = facts_of_call("query", {"cutoff": 0.37, "where": [{"column": "Au", "is": ">", "value": 0.5}]})
    assert found[0] == "query.cutoff = 0.37"
    assert found[1:] == ["query.where[0] (column Au, is >).value = 0.5"]


def test_a_named_field_of_a_stale_result_has_its_labels_too() -> None:
    pairs = [{"x": "Au", "y": "Cu", "r": 0.25, "n": 7}, {"x": "Au", "y": "Ag", "r": 0.75, "n": 8}]
    found = projected(wire.dumps({"summary": "s", "results": {"strongest": pairs}}).decode(), ["strongest"])
    assert found is not None
    assert found[1:] == [
        "results.strongest[0] (x Au, y Cu): r = 0.25, n = 7",
        "results.strongest[1] (x Au, y Ag): r = 0.75, n = 8",
    ]
