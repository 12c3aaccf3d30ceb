"""The tool that describes a table."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from outcrop_schemas import limits
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.inspection.inspect_dataset import Arguments, run
from outcrop_specialists.tools.inspection.preview import further_names


def test_every_column_is_described_and_no_text_of_a_row_is_shown(
    context: ToolContext, write_file: Callable[[str, str], str]
) -> None:
    name = write_file("a.csv", "SampleID,Longitude,Au_ppm\ns1,10.5,<0.01\ns2,-20,0.5\ns3,NA,0.7\n")
    found = run(context, Arguments(path=name))
    assert found.results["rows"] == 3
    assert found.results["more_columns"] == 0
    assert [(c["name"], c["type"], c["role"], c["unit"]) for c in found.results["columns"]] == [
        ("SampleID", "text", "sample_id", None),
        ("Longitude", "number", "longitude", None),
        ("Au_ppm", "number", "element", "ppm"),
    ]
    assert found.results["columns"][1] | {"missing": 1, "min": -20.0, "max": 10.5} == found.results["columns"][1]
    gold = found.results["columns"][2]
    assert (gold["censored"], gold["qualifier"], gold["min"], gold["max"]) == (1, "Au_ppm_q", 0.005, 0.7)
    assert "qualifier" not in found.results["columns"][1]
    assert "1 results in 1 columns are beyond a limit" in found.summary
    assert any("read as missing: 'Longitude' (1 × NA)" in note for note in found.notes)
    assert "s1" not in json.dumps(found.as_json())


def test_a_wide_table_is_described_up_to_the_limit(context: ToolContext, write_rows: Callable[..., str]) -> None:
    width = limits.PROFILE_COLUMNS + 5
    name = write_rows("w.csv", [f"c{i}" for i in range(width)], [range(width)] * 2)
    found = run(context, Arguments(path=name))
    assert len(found.results["columns"]) == limits.PROFILE_COLUMNS
    assert found.results["more_columns"] == 5
    assert found.results["more_names"] == [f"c{i}" for i in range(limits.PROFILE_COLUMNS, width)]
    assert "not_named" not in found.results


@pytest.mark.parametrize(("width", "length", "named"), [(3000, 3, 2000), (400, 150, 133)])
def test_the_names_of_further_columns_are_bounded_and_the_rest_counted(width: int, length: int, named: int) -> None:
    found = further_names([f"{i:0{length}}" for i in range(width)])
    assert (len(found["more_names"]), found["not_named"]) == (named, width - named)
    assert sum(map(len, found["more_names"])) <= 20_000
