"""The failure cases of ../shared/data/cases that are delimited text: the tools give the answer that is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outcrop_specialists.columns.choice import numeric
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool

LISTED = Path(__file__).parents[3].parent / "shared" / "data" / "cases" / "cases_dev.json"
CASES: dict[str, dict[str, Any]] = (
    {case["id"]: case for case in json.loads(LISTED.read_text("utf-8"))} if LISTED.is_file() else {}
)
TEXTS = sorted(name for name in CASES if Path(name).suffix in (".csv", ".txt"))
ASKED: dict[str, Callable[[Asked], dict[str, Any]]] = {}


class Asked:
    """A case as an analyst has it: the file in the workspace, and the tools."""

    def __init__(self, context: ToolContext, path: str) -> None:
        self.context, self.path = context, path

    def call(self, tool: str, path: str | None = None, **arguments: Any) -> ToolResult:
        return run_tool(get_tool(tool), self.context, {"path": path or self.path, **arguments})

    def made(self, tool: str, path: str | None = None, **arguments: Any) -> str:
        """The path of the first file that the tool writes."""
        return self.call(tool, path, **arguments).artifacts[0].path

    def table(self, path: str | None = None) -> Table:
        return read_table(self.context, path or self.path)

    def figures(self, column: str, path: str | None = None) -> dict[str, Any]:
        return dict(self.call("summarize", path, columns=[column]).results["columns"][column])

    @property
    def notes(self) -> str:
        return " / ".join(self.table().notes)


def case(name: str) -> Callable[[Callable[[Asked], dict[str, Any]]], Callable[[Asked], dict[str, Any]]]:
    def put(answer: Callable[[Asked], dict[str, Any]]) -> Callable[[Asked], dict[str, Any]]:
        ASKED[name] = answer
        return answer

    return put


@case("trailing_delim.csv")
def _(asked: Asked) -> dict[str, Any]:
    frame = asked.table().frame
    mean = asked.figures("CU")["mean"]
    return {"rows": frame.height, "columns": frame.columns, "mean_CU": mean, "holes": frame["HOLEID"].n_unique()}


@case("units_row.csv")
def _(asked: Asked) -> dict[str, Any]:
    units, gold = asked.table().units, asked.figures("Au")
    return {"rows": gold["count"], "mean_Au": gold["mean"], "unit_Au": units["Au"], "unit_Cu": units["Cu"]}


@case("quoted_newlines.csv")
def _(asked: Asked) -> dict[str, Any]:
    found = asked.figures("m")
    return {"rows": found["count"], "sum_m": found["sum"]}


@case("unescaped_quotes.csv")
def _(asked: Asked) -> dict[str, Any]:
    assert "a quote character stands inside fields" in asked.notes
    found = asked.figures("depth")
    return {"rows": found["count"], "sum_depth": found["sum"]}


@case("preamble_footer.csv")
def _(asked: Asked) -> dict[str, Any]:
    frame = asked.table().frame
    assert "left out, being no rows but totals: 'Total'" in asked.notes
    return {
        "rows": frame.height,
        "mean_Zn": asked.figures("Zn ppm")["mean"],
        "max_Pb_site": frame.sort("Pb ppm")["Site"][-1],
    }


@case("cp1252_german.csv")
def _(asked: Asked) -> dict[str, Any]:
    frame = asked.table().frame
    return {"columns": frame.columns, "max": frame.sort("Höhe")["Probe"][-1]}


@case("utf16_tab.txt")
def _(asked: Asked) -> dict[str, Any]:
    found = asked.figures("δ13C ‰")
    return {"rows": found["count"], "mean_d13C": found["mean"]}


@case("bom_key.csv")
def _(asked: Asked) -> dict[str, Any]:
    kept = asked.table(asked.made("filter_rows", column="Sample", operator="==", value="Q2"))
    return {"Sb_Q2": kept.frame["Sb"].item(), "columns": kept.frame.columns}


@case("late_text.csv")
def _(asked: Asked) -> dict[str, Any]:
    found = asked.call("check_missing").results
    return {
        "rows": found["rows"],
        "censored": found["beyond_a_limit"]["As"]["below"],
        "missing": found["missing_cells"],
    }


@case("mixed_ids.csv")
def _(asked: Asked) -> dict[str, Any]:
    distinct = asked.call("query_data", operation="value_counts", columns=["sample"]).results["distinct"]
    kept = asked.table(asked.made("filter_rows", column="sample", operator="==", value="000837"))
    return {"distinct": distinct, "Mn_000837": kept.frame["Mn"].item()}


@case("na_text.csv")
def _(asked: Asked) -> dict[str, Any]:
    gaps = {each["name"]: each["missing"] for each in asked.call("check_missing").results["columns"]}
    kept = asked.made("filter_rows", column="country", operator="==", value="NA")
    return {
        "mean_NA": asked.figures("ppm", kept)["mean"],
        "missing_ppm": gaps["ppm"],
        "missing_country": gaps.get("country", 0),
    }


@case("sci_ids.csv")
def _(asked: Asked) -> dict[str, Any]:
    kept = asked.table(asked.made("filter_rows", column="bag", operator="==", value="1E2"))
    return {"codes": asked.table().frame["bag"].to_list(), "Au_1E2": kept.frame["Au"].item()}


@case("mixed_for_parquet.csv")
def _(asked: Asked) -> dict[str, Any]:
    frame = asked.table().frame
    frame.write_parquet(asked.context.workspace / "again.parquet")
    again = asked.table("again.parquet").frame
    assert again.equals(frame)
    azimuths = again["azimuth"].drop_nulls().to_list()
    words = [each for each in azimuths if not each.isdigit()]
    return {
        "rows": again.height,
        "numeric": len(azimuths) - len(words),
        "text": words,
        "missing": again["azimuth"].null_count(),
    }


@case("dl_mixed.csv")
def _(asked: Asked) -> dict[str, Any]:
    found = asked.call("check_missing").results
    below = asked.made("filter_rows", column="Au", operator="contains", value="<", keep="others")
    plain = asked.made("filter_rows", below, column="Au", operator="contains", value=">", keep="others")
    assert "negative numbers of the size of a limit read as results below it" in asked.notes
    return {
        **found["beyond_a_limit"]["Au"],
        "missing": found["missing_cells"],
        "mean_plain": asked.figures("Au", plain)["mean"],
    }


@case("sentinels.csv")
def _(asked: Asked) -> dict[str, Any]:
    assert "SUSPECTED fill values" in asked.notes
    found = asked.figures("rain", asked.made("replace_values", values=[-99, -999]))
    return {"mean": found["mean"], "missing": found["missing"]}


@case("euro_numbers.csv")
def _(asked: Asked) -> dict[str, Any]:
    return {"sum_Zn": asked.figures("Zn mg/kg")["sum"], "sum_Preis": asked.figures("Preis")["sum"]}


@case("mixed_units.csv")
def _(asked: Asked) -> dict[str, Any]:
    assert "several units, which this column gives" in asked.notes
    made = asked.made("convert_units", columns=["Cu"], to_units=["ppm"], unit_column="unit")
    return {"mean_ppm": asked.figures("Cu", made)["mean"]}


@case("dates_dayfirst.csv")
def _(asked: Asked) -> dict[str, Any]:
    days = asked.table().frame["date"].to_list()
    return {"first": str(min(days)), "last": str(max(days)), "days": (max(days) - min(days)).days}


@case("clr_zero.csv")
def _(asked: Asked) -> dict[str, Any]:
    found = asked.call("logratio_transform", columns=["A", "B", "C"])
    assert found.results["rows_with_replacement"] == 1
    assert "0.65" in found.results["rule"]
    first = asked.table(found.artifacts[0].path).frame.row(0)
    return {"clr_1": list(first[-3:])}


@case("aggregate_rows.csv")
def _(asked: Asked) -> dict[str, Any]:
    assert "SUSPECTED aggregate rows" in asked.notes
    assert "'commodity' is 'All' in 3 rows" in asked.notes
    kept = asked.made("filter_rows", column="commodity", operator="==", value="All", keep="others")
    return {"total": asked.figures("t", kept)["sum"]}


@case("qa_rows.csv")
def _(asked: Asked) -> dict[str, Any]:
    assert "SUSPECTED QA/QC rows among the samples" in asked.notes
    routine = asked.figures("Au", asked.made("flag_qaqc", keep="routine"))
    pairs = asked.call("qaqc_duplicates", columns=["Au"]).results["columns"]["Au"]
    return {"mean": routine["mean"], "n": routine["count"], "rpd_percent": pairs["mean_ard"]}


@case("interval_overlaps.csv")
def _(asked: Asked) -> dict[str, Any]:
    found = asked.table(asked.made("check_intervals")).frame
    spans = {
        kind: [list(row) for row in found.filter(found["issue"] == kind).select("hole", "from", "to").rows()]
        for kind in ("overlap", "duplicate", "gap")
    }
    return {"overlaps": spans["overlap"], "repeats": spans["duplicate"], "gaps": spans["gap"]}


@case("silent_numeric_only.csv")
def _(asked: Asked) -> dict[str, Any]:
    whole = asked.call("correlate", columns=["Cu", "Zn", "As"])
    assert any("As: 1 below 1 of 4 results" in note for note in whole.notes)
    kept = asked.made("filter_rows", column="As", operator="contains", value="<", keep="others")
    pairs = {(each["x"], each["y"]): each for each in asked.call("correlate", kept).results["strongest"]}
    (zinc,) = (each for each in whole.results["strongest"] if {each["x"], each["y"]} == {"Cu", "Zn"})
    arsenic = pairs["Cu", "As"]
    return {"Cu_Zn": zinc["r"], "Cu_As_n": arsenic["n"], "Cu_As": arsenic["r"]}


@case("lonlat.csv")
def _(asked: Asked) -> dict[str, Any]:
    made = asked.table(asked.made("reproject", source_crs="EPSG:4326", target_crs="EPSG:3577")).frame
    return {"x": made.row(0)[-2], "y": made.row(0)[-1]}


@case("row_cap.csv")
def _(asked: Asked) -> dict[str, Any]:
    found = asked.call("query_data", operation="filter_count", filter_column="g", operator="==", value="b").results
    return {"rows": asked.table().frame.height, "b": found["rows_that_meet"]}


@case("head_only.csv")
def _(asked: Asked) -> dict[str, Any]:
    found = asked.figures("v")
    return {"mean": found["mean"], "rows": found["count"]}


@case("near_names.csv")
def _(asked: Asked) -> dict[str, Any]:
    from outcrop_schemas.errors import ArgumentError

    with pytest.raises(ArgumentError, match="has no column 'HQ Location'; closest: 'Location'"):
        asked.call("summarize", columns=["Cu_pct"], by="HQ Location")
    found = asked.call("summarize", columns=["Cu_pct"], by="Location").results["columns"]["Cu_pct"]
    return {group: figures["mean"] for group, figures in found.items()}


@case("invented_data.csv")
def _(asked: Asked) -> dict[str, Any]:
    return {"sum": asked.figures("gdp")["sum"]}


@case("unbounded_reply.csv")
def _(asked: Asked) -> dict[str, Any]:
    found = asked.call("query_data", operation="head", n=100_000)
    assert len(found.results["rows"]) == 20
    assert "20000 of 20000 rows" in found.summary
    assert asked.table(found.artifacts[0].path).frame.height == 20_000
    return {}


@case("string_axis.csv")
def _(asked: Asked) -> dict[str, Any]:
    assert "'depth' (1 of 6 values are not numbers, first in data row 6)" in asked.notes
    made = asked.made("convert_types", columns=["depth"], to="number", max_missing_share=1)
    depth = numeric(asked.table(made), "depth")
    assert (depth.min(), depth.max(), depth.null_count()) == (2, 110, 1)
    found = asked.call("plot_scatter", made, x="depth", y="Cu")
    return {"artefact": Path(found.artifacts[0].path).suffix[1:], "points": found.results["points_drawn"]}


@case("no_show_save.csv")
def _(asked: Asked) -> dict[str, Any]:
    found = asked.call("plot_scatter", x="x", y="y")
    assert (asked.context.workspace / found.artifacts[0].path).stat().st_size > 5_000
    return {}


@case("huge_range.csv")
def _(asked: Asked) -> dict[str, Any]:
    asked.call("plot_histogram", column="v")
    found = asked.figures("v")
    return {"n": found["count"], "median": found["p50"], "max": found["max"]}


@pytest.mark.parametrize("name", TEXTS)
def test_every_case_of_delimited_text_has_its_right_answer(
    context: ToolContext, shared_file: Callable[[str], str], name: str
) -> None:
    found = ASKED[name](Asked(context, shared_file(f"cases/{name}")))
    right = CASES[name]["right"]
    tolerance = right.get("tolerance", 1e-6)
    for key, value in found.items():
        expected = right[key]
        if isinstance(expected, float) or (isinstance(expected, list) and isinstance(expected[0], float)):
            assert value == pytest.approx(expected, rel=1e-6, abs=tolerance if "tolerance" in right else 1e-9), key
        else:
            assert value == expected, key
