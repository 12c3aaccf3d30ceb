"""Standards: z scores, bias and run rules."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.quality import qaqc_standards
from outcrop_specialists.tools.quality.control import violations

WriteFile = Callable[[str, str], str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = qaqc_standards.run(context, qaqc_standards.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


TEXT = (
    "sample,type,Au,Cu\nS1,,0.5,30\nQ1,STD A,1.02,100\nS2,,0.4,31\nQ2,STD A,0.98,101\nQ3,STD B,5.5,99\nS3,,0.3,30\n"
    "Q4,STD A,1.25,<5\nQ5,STD B,5.7,98\nS4,,0.2,25\nS5,,0.2,25\nS6,,0.2,25\n"
)
CERTIFIED = [
    {"standard": "STD A", "column": "Au", "value": 1.0, "sd": 0.05},
    {"standard": "std b", "column": "Au", "value": 5.0, "sd": 0.25},
]


def test_scores_and_bias_are_against_the_certified_values(
    context: ToolContext, write_file: WriteFile, read_rows: ReadRows
) -> None:
    result = run(context, write_file("a.csv", TEXT), certified=CERTIFIED)
    assert (result.results["standard_rows"], result.results["standards"], result.results["results"]) == (5, 2, 5)
    assert (result.results["beyond_2sd"], result.results["beyond_3sd"]) == (2, 1)
    found = result.results["by_series"]["STD A: Au"]
    values = np.array([1.02, 0.98, 1.25])
    assert found["bias_percent"] == pytest.approx(100 * (values.mean() - 1))
    assert found["mean_z"] == pytest.approx(((values - 1) / 0.05).mean())
    assert (found["n"], found["certified"], found["sd"]) == (3, 1.0, pytest.approx(values.std(ddof=1)))
    header, *rows = read_rows(result.artifacts[1].path)
    assert [row[header.index("sample")] for row in rows] == ["Q1", "Q2", "Q4", "Q3", "Q5"]
    assert rows[2][header.index("broken_rules")] == "beyond_3sd"
    assert result.results["by_series"]["STD B: Au"]["bias_percent"] == pytest.approx(12)


def test_certified_values_come_from_a_table_too(context: ToolContext, write_file: WriteFile) -> None:
    write_file("crm.csv", "standard,element,value,sd\nSTD A,Au,1.0,0.05\nSTD B,Au,5.0,0.25\nSTD C,Au,9,1\n")
    path = write_file("a.csv", TEXT)
    by_table = run(context, path, certified_path="crm.csv")
    assert by_table.results["beyond_3sd"] == 1
    assert any("certified but not in the table: std c: Au" in note for note in by_table.notes)


def test_without_certified_values_the_results_judge_themselves_which_is_said(
    context: ToolContext, write_file: WriteFile
) -> None:
    result = run(context, write_file("a.csv", TEXT), columns=["Cu"])
    assert any("no certified value, judged by their own mean and sd" in note for note in result.notes)
    assert any("1 results of standards beyond a limit" in note for note in result.notes)
    assert result.results["by_series"]["STD A: Cu"]["mean_z"] == pytest.approx(0, abs=1e-12)
    assert "bias not known" in result.summary


def test_runs_are_found_at_their_last_result() -> None:
    z = np.array([0.5, 2.5, 2.1, -2.5, 2.2, 1.5, 1.2, 1.1, 1.01, 0.3, 0.2, 0.1, 0.4, 0.2, -3.5])
    found = violations(z)
    assert np.flatnonzero(found.two_beyond_2sd).tolist() == [2]
    assert np.flatnonzero(found.four_beyond_1sd).tolist() == [7, 8]
    assert np.flatnonzero(found.ten_on_one_side).tolist() == [13]
    assert np.flatnonzero(found.beyond_3sd).tolist() == [14]
    assert found.texts()[0] is None
    assert violations(np.array([0.1])).counts() == dict.fromkeys(
        ("beyond_3sd", "two_beyond_2sd", "four_beyond_1sd", "ten_on_one_side"), 0
    )


def test_standards_can_be_named_in_a_column_of_their_own(context: ToolContext, write_file: WriteFile) -> None:
    path = write_file("a.csv", "id,CRM,Au\na,,5\nb,G1,1\nc,G1,1.1\nd,,6\ne,G1,1.3\n")
    result = run(context, path, standard_column="CRM", columns=["Au"])
    assert result.results["by_series"]["G1: Au"]["n"] == 3


def test_what_cannot_be_judged_is_refused_by_field(context: ToolContext, write_file: WriteFile) -> None:
    with pytest.raises(ArgumentError, match="no row is a standard") as refused:
        run(context, write_file("b.csv", "id,type,Au\na,Blank,1\nb,,2\nc,,3\n"))
    assert refused.value.field == "type_column"
    path = write_file("a.csv", TEXT)
    twice = [CERTIFIED[0], {**CERTIFIED[0], "value": 2.0}]
    for certified in (twice, [{"standard": "STD A", "column": "Zn", "value": 1}]):
        with pytest.raises(ArgumentError) as refused:
            run(context, path, certified=certified)
        assert refused.value.field == "certified"
    with pytest.raises(ArgumentError, match="no column 'value'") as refused:
        run(context, path, certified_path=write_file("crm.csv", "standard,element\nA,Au\n"))
    assert refused.value.field == "certified_path"
