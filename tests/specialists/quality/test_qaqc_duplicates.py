"""Duplicates: pairs found as people name them, precision by the published formulas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.quality import qaqc_duplicates
from outcrop_specialists.tools.quality.precision import precision, thompson_howarth

WriteFile = Callable[[str, str], str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = qaqc_duplicates.run(context, qaqc_duplicates.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


def test_precision_follows_its_formulas() -> None:
    first, second = np.array([0.3, 1.0, 2.0, np.nan, 0.01]), np.array([0.5, 1.1, 1.9, 4.0, 0.02])
    found = precision(first, second, np.array([False, False, False, False, True]))
    pairs = np.column_stack([first[:3], second[:3]])
    cv = pairs.std(axis=1, ddof=1) / pairs.mean(axis=1)
    relative = np.abs(pairs[:, 0] - pairs[:, 1]) / pairs.mean(axis=1)
    assert (found.pairs, found.at_limit, found.missing) == (3, 1, 1)
    assert found.rms_cv == pytest.approx(100 * np.sqrt((cv**2).mean()))
    assert found.mean_ard == pytest.approx(100 * relative.mean())
    assert found.median_ard == pytest.approx(100 * np.median(relative))
    assert found.bias_p is None


def test_thompson_howarth_recovers_a_known_error_and_wants_fifty_pairs() -> None:
    rng = np.random.default_rng(3)
    true = rng.uniform(1, 100, 5_500)
    sd = 0.5 + 0.1 * true
    first, second = true + sd * rng.normal(size=5_500), true + sd * rng.normal(size=5_500)
    found = thompson_howarth(first, second)
    assert found is not None
    assert found.groups == 500
    assert found.slope == pytest.approx(0.1, rel=0.1)
    assert found.intercept == pytest.approx(0.5, abs=0.3)
    assert thompson_howarth(first[:49], second[:49]) is None
    assert precision(first, second, np.zeros(5_500, dtype=bool)).bias_p == pytest.approx(
        stats.wilcoxon(second - first).pvalue
    )


def test_the_relative_difference_of_a_pair_named_in_another_column(
    context: ToolContext, write_file: WriteFile, read_rows: ReadRows
) -> None:
    text = "sample,type,Au\nS1,ORIG,0.10\nS2,ORIG,0.30\nS2D,DUP of S2,0.50\nBL1,BLANK,<0.01\nST1,STD 5.2,5.15\n"
    result = run(context, write_file("a.csv", text))
    assert result.results["pairs"] == 1
    assert result.results["found_by"] == "type names the original in sample"
    assert result.results["columns"]["Au"]["mean_ard"] == pytest.approx(50)
    header, pair = read_rows(result.artifacts[1].path)
    found = dict(zip(header, pair, strict=True))
    assert (found["original_row"], found["duplicate_row"], found["at_limit"]) == ("2", "3", "false")


def test_originals_are_found_by_the_end_of_an_identifier_and_the_rest_is_told(
    context: ToolContext, write_file: WriteFile
) -> None:
    rows = [
        "An6-T3-TR1-001,1.0", "T2-TR1-001,2.0", "Duplicate of (T3-TR1-001),1.2", "Duplcate(T2-TR1-001),<0.5",
        "Duplicate of T9-001,3", "A-7,1", "B-7,1", "Duplicate of 7,2", "C-1,4", "D-1,5",
    ]  # fmt: skip
    result = run(context, write_file("a.csv", "Field ID,Au\n" + "\n".join(rows) + "\n"))
    assert (result.results["pairs"], result.results["unmatched"]) == (2, 2)
    assert result.results["columns"]["Au"]["at_limit"] == 1
    assert any("1 duplicates without their original: T9-001" in note for note in result.notes)
    assert any("1 duplicates whose original stands in several rows: 7" in note for note in result.notes)
    assert any("1 originals found by the end" in note for note in result.notes)


def test_pairs_by_a_column_of_originals_and_by_a_shared_identifier(context: ToolContext, write_file: WriteFile) -> None:
    by_column = run(
        context,
        write_file("a.csv", "id,parent,Cu\na,,10\nb,,20\nc,a,12\nd,b,20\n"),
        id_column="id",
        original_column="parent",
        columns=["Cu"],
    )
    assert by_column.results["pairs"] == 2
    shared = run(context, write_file("b.csv", "id,Cu\na,10\nb,20\na,11\na,12\n"), id_column="id", columns=["Cu"])
    assert shared.results["pairs"] == 2
    assert shared.results["found_by"] == "rows with the same id, each against the first"


def test_what_cannot_be_paired_is_refused_by_field(context: ToolContext, write_file: WriteFile) -> None:
    path = write_file("a.csv", "id,type,Cu\na,Duplicate,10\nb,x,20\nc,y,3\n")
    with pytest.raises(ArgumentError, match="does not say of which sample") as refused:
        run(context, path, columns=["Cu"])
    assert refused.value.field == "original_column"
    with pytest.raises(ArgumentError) as refused:
        run(context, path, columns=["Cu"], original_column="type")
    assert refused.value.field == "id_column"
    gone = write_file("b.csv", "id,type,Cu\na,Dup of z,10\nb,x,20\nc,y,3\n")
    with pytest.raises(ArgumentError, match="no column holds the originals") as refused:
        run(context, gone, columns=["Cu"])
    assert refused.value.field == "id_column"


def test_the_duplicates_of_the_trench_and_the_core_all_find_their_originals(
    context: ToolContext, shared_file: Callable[[str], str], read_rows: ReadRows
) -> None:
    trench = run(context, shared_file("files/als_an6_trench.csv"), columns=["Au", "Cu"])
    assert (trench.results["pairs"], trench.results["unmatched"]) == (39, 0)
    core = run(context, shared_file("files/als_an1_core.csv"))
    header, *rows = read_rows(core.artifacts[1].path)
    pair = next(dict(zip(header, row, strict=True)) for row in rows if row[header.index("column")].startswith("Au"))
    assert (float(pair["original_value"]), float(pair["duplicate_value"])) == (0.89, 0.93)
