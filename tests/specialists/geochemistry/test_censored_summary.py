"""Censored summaries against the textbook, a survival library's estimator and known samples."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.geochemistry import censored_summary
from outcrop_specialists.tools.geochemistry.ordering import kaplan_meier, ros_values

WriteFile = Callable[[str, str], str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = censored_summary.run(context, censored_summary.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


def column(*results: object) -> str:
    return "id,Au\n" + "".join(f"s{number},{result}\n" for number, result in enumerate(results))


def test_ros_of_one_limit_is_a_line_through_the_detected_results() -> None:
    values = np.array([1.0, 1.0, 2.0, 3.0, 5.0, 8.0])
    below = np.array([True, True, False, False, False, False])
    # 4 of 6 reach the limit: positions of the detected 1/3 + 2/3 i/5, of the censored 1/3 j/3.
    line = stats.linregress(stats.norm.ppf(1 / 3 + 2 / 3 * np.arange(1, 5) / 5), np.log(values[2:]))
    expected = np.exp(line.intercept + line.slope * stats.norm.ppf(np.array([1, 2]) / 9))
    found = ros_values(values, below)
    assert found is not None
    assert found[:2] == pytest.approx(expected)
    assert found[2:].tolist() == [2, 3, 5, 8]


def test_ros_agrees_with_the_reference_of_the_shared_folder(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(shared / "data" / "tools"))
    reference = __import__("ros").ros
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = rng.lognormal(0, 1, 60)
        limits = rng.choice([0.3, 0.7, 1.5], 60)
        below = values < limits
        values = np.where(below, limits, values)
        np.testing.assert_allclose(ros_values(values, below), reference(values, below), rtol=1e-10)
    sys.modules.pop("ros", None)


def test_ros_recovers_the_mean_of_a_log_normal_sample() -> None:
    rng = np.random.default_rng(1)
    values = rng.lognormal(0, 1, 20_000)
    limits = np.where(rng.random(20_000) < 0.5, 0.5, 1.0)
    found = ros_values(np.maximum(values, limits), values < limits)
    assert found is not None
    assert found.mean() == pytest.approx(values.mean(), rel=5e-3)


def test_kaplan_meier_is_the_product_limit_estimate_of_flipped_results() -> None:
    values = np.array([1.0, 2, 2, 3, 3, 4, 5, 5, 7])
    below = np.array([True, False, True, False, True, False, False, False, False])
    flipped = stats.ecdf(stats.CensoredData(uncensored=-values[~below], right=-values[below]))
    survival = flipped.sf
    # P(X < v) of the flipped sample is its survival at -v.
    steps = {-quantile: p for quantile, p in zip(survival.quantiles, survival.probabilities, strict=True)}
    found = kaplan_meier(values, below, [40, 60, 90])
    levels = np.unique(values)
    under = np.array([steps[level] for level in levels])
    masses = np.append(under[1:], 1.0) - under
    masses[0] += under[0]
    assert found.mean == pytest.approx((masses * levels).sum())
    reached = np.append(under[1:], 1.0)
    for percent, value in found.quantiles.items():
        expected = levels[np.searchsorted(reached, percent / 100 - 1e-12)]
        assert value is None if percent / 100 <= under[0] else value == expected


def test_the_share_below_the_limit_picks_the_method(context: ToolContext, write_file: WriteFile) -> None:
    detected = [0.5, 0.7, 1.1, 1.6, 2.0, 2.2, 3.0, 3.5, 4.0]
    few = run(context, write_file("a.csv", column("<0.1", *detected)))
    record = few.results["columns"]["Au"]
    assert record["method"] == "dl/2"
    assert record["mean"] == pytest.approx((0.05 + sum(detected)) / 10)
    assert record["median"] == pytest.approx(np.median([0.05, *detected]))
    some = run(context, write_file("b.csv", column(*["<0.4"] * 4, *detected)))
    record = some.results["columns"]["Au"]
    assert (record["method"], record["below"], record["limits"]) == ("ros", 4, [0.4])
    modelled = ros_values(np.array([0.4] * 4 + detected), np.array([True] * 4 + [False] * 9))
    assert modelled is not None
    assert record["mean"] == pytest.approx(modelled.mean())
    assert any("fewer than 10 detected" in note for note in some.notes)
    most = run(context, write_file("c.csv", column(*["<0.4"] * 12, *detected)))
    record = most.results["columns"]["Au"]
    assert record["method"] == "percentiles only"
    assert "mean" not in record
    assert "median" not in record
    assert record["p75"] in detected
    assert "median below the limits" in most.summary


def test_groups_limits_and_missing_results_are_counted(
    context: ToolContext, write_file: WriteFile, read_rows: ReadRows
) -> None:
    rows = ["r1,<0.1,1", "r1,0.5,2", "r1,0.6,2", "r1,0.9,3", "r2,<0.2,4", "r2,,5", "r2,>10,6", "r2,1,7", "r2,2,8"]
    path = write_file("a.csv", "rock,Au,n\n" + "\n".join(rows) + "\n")
    result = run(context, path, columns=["Au"], by="rock")
    assert set(result.results["columns"]) == {"Au: r1", "Au: r2"}
    header, first, second = read_rows(result.artifacts[0].path)
    figures = dict(zip(header, second, strict=True))
    assert (figures["n"], figures["missing"], figures["below_limit"], figures["above_limit"]) == ("4", "1", "1", "1")
    assert (figures["least_limit"], figures["max"]) == ("0.2", "10.0")
    assert dict(zip(header, first, strict=True))["method"] == "ros"
    assert any("above a limit, taken as the limit: Au 1" in note for note in result.notes)
    assert any("without any result: Au 1" in note for note in result.notes)


def test_a_complete_column_is_plain_and_a_table_without_limits_is_refused(
    context: ToolContext, write_file: WriteFile
) -> None:
    path = write_file("a.csv", column(1, 2, 3, 4))
    assert run(context, path, columns=["Au"]).results["columns"]["Au"]["method"] == "complete"
    with pytest.raises(ArgumentError, match="no column with results beyond a limit") as refused:
        run(context, path)
    assert refused.value.field == "columns"


def test_gold_in_the_trench_has_the_known_mean(context: ToolContext, shared_file: Callable[[str], str]) -> None:
    path = shared_file("files/als_an6_trench.csv")
    record = run(context, path, columns=["Au"], percentiles=[95]).results["columns"]["Au"]
    assert (record["n"], record["below"], record["max"]) == (707, 128, 11.3)
    assert record["mean_by"]["dl/2"] == pytest.approx(0.058656294200848655, rel=1e-9)
    assert record["method"] == "ros"


@pytest.mark.parametrize("word", ["bdl", "<LOD", "nd", "<LOR"])
@pytest.mark.parametrize(("count", "median", "p75"), [(12, None, 4.4), (4, 3.75, 8.2), (1, 4.4, 8.2)])
def test_without_a_limit_there_is_no_mean_and_percentiles_are_of_all_results(
    context: ToolContext, write_file: WriteFile, word: str, count: int, median: float | None, p75: float
) -> None:
    detected = [1.5, 2.25, 3.75, 10.5, 7.1, 8.2, 9.3, 4.4]
    found = run(context, write_file("t.csv", column(*[word] * count, *detected)), percentiles=[75])
    record = found.results["columns"]["Au"]
    everything = sorted([-1.0] * count + detected)
    assert (record["n"], record["below"], record["below_limit_not_given"]) == (count + 8, count, count)
    assert record["method"] == "percentiles only"
    assert not {"mean", "sd", "mean_by"} & record.keys()
    for name, percent in (("median", 50), ("p75", 75)):
        value = everything[int(percent / 100 * len(everything))]
        assert record.get(name) == (None if value < 0 else value)
    assert (record.get("median"), record["p75"]) == (median, p75)
    assert "lowest" in found.results["rule"]
    assert any("no mean or sd" in note for note in found.notes)


def test_negative_numbers_are_not_said_to_be_complete(context: ToolContext, write_file: WriteFile) -> None:
    path = write_file("t.csv", column(*[-0.01] * 4, 0.5, 0.6, 0.7, 0.8, 0.9))
    found = run(context, path, columns=["Au"])
    record = found.results["columns"]["Au"]
    assert (record["method"], record["negative_suspected_below"]) == ("negatives as numbers", 4)
    assert "4 negative numbers, suspected results below a limit, taken as numbers" in found.summary
    assert "none below a limit" not in found.summary
    with pytest.raises(ArgumentError, match="negative numbers in Au may be codes"):
        run(context, path)


def test_a_limit_of_the_header_serves_results_without_one(context: ToolContext, write_file: WriteFile) -> None:
    rows = "".join(f"s{i},{'bdl' if i % 4 == 0 else i}\n" for i in range(1, 21))
    record = run(context, write_file("t.csv", f"id,Au\n,ppm\nLOR,0.5\n{rows}")).results["columns"]["Au"]
    assert (record["below"], record["limits"], record["method"]) == (5, [0.5], "ros")
    assert "below_limit_not_given" not in record
