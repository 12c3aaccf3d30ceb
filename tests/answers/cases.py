"""The failure cases as tool calls: each gives what its `right` asks for, by the same keys. What a case demands in words
(`must`, `must_not`, `answer`, `sample_2`) is True where it was met."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from answers.asking import Answer, Asked
from outcrop_schemas.errors import ArgumentError, DataError

TO_PARQUET = """
import sys
import polars as pl
pl.read_csv(sys.argv[1]).write_parquet("again.parquet")
print("===RESULT===", "written", "===END_RESULT===", sep="\\n")
"""
Case = Callable[[Asked, str], dict[str, Any]]
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    def put(found: Case) -> Case:
        assert name not in CASES, name
        CASES[name] = found
        return found

    return put


def refusal(asked: Asked, path: str, **arguments: Any) -> str:
    """The error that a summary of the file meets."""
    try:
        asked.call("summarize", path, **arguments)
    except (DataError, ArgumentError) as error:
        return str(error)
    raise AssertionError(f"{path} was not refused")


def where(asked: Asked, path: str, expression: str) -> list[dict[str, str]]:
    """The rows that meet a condition, from the file that filter_rows writes."""
    return asked.rows(asked.made("filter_rows", path, expression=expression))


def inspected(asked: Asked, path: str) -> Answer:
    return asked.call("inspect_dataset", path)


@case("trailing_delim.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    return {
        "rows": asked.shape(path)[0],
        "columns": asked.names(path),
        "mean_CU": asked.figures(path, "CU", "mean")[0],
        "holes": asked.column(path, "HOLEID")["distinct"],
    }


@case("units_row.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    count, mean = asked.figures(path, "Au", "count", "mean")
    units = {name: asked.column(path, name)["unit"] for name in ("Au", "Cu")}
    return {"rows": count, "mean_Au": mean, "unit_Au": units["Au"], "unit_Cu": units["Cu"]}


@case("quoted_newlines.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    return {"rows": asked.shape(path)[0], "sum_m": asked.figures(path, "m", "sum")[0]}


@case("unescaped_quotes.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    assert "a quote character stands inside fields" in inspected(asked, path).said
    return {"rows": asked.shape(path)[0], "sum_depth": asked.figures(path, "depth", "sum")[0]}


@case("preamble_footer.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    highest = asked.rows(asked.made("rank_by_metric", path, column="Pb ppm", n=1))
    return {
        "rows": asked.shape(path)[0],
        "mean_Zn": asked.figures(path, "Zn ppm", "mean")[0],
        "max_Pb_site": highest[0]["Site"],
        "must_not": "left out, being no rows but totals: 'Total'" in inspected(asked, path).said
        and asked.meeting(path, "Site == 'Total'") == 0,
    }


@case("cp1252_german.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    highest = asked.rows(asked.made("rank_by_metric", path, column="Höhe", n=1))
    return {"columns": asked.names(path), "max": highest[0]["Probe"]}


@case("utf16_tab.txt")
def _(asked: Asked, path: str) -> dict[str, Any]:
    count, mean = asked.figures(path, "δ13C ‰", "count", "mean")
    return {"rows": count, "mean_d13C": mean}


@case("bom_key.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    (row,) = where(asked, path, "Sample == 'Q2'")
    return {"Sb_Q2": int(row["Sb"]), "columns": asked.names(path)}


@case("late_text.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    found = asked.results("check_missing", path)
    return {
        "rows": found["rows"],
        "censored": found["beyond_a_limit"]["As"]["below"],
        "missing": found["missing_cells"],
    }


@case("mixed_ids.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    (row,) = where(asked, path, "sample == '000837'")
    return {"distinct": asked.column(path, "sample")["distinct"], "Mn_000837": int(row["Mn"])}


@case("na_text.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    missing = asked.missing(path)
    by = asked.results("summarize", path, columns=["ppm"], by="country")["columns"]["ppm"]
    return {
        "mean_NA": by["NA"]["mean"],
        "missing_ppm": missing["ppm"],
        "missing_country": missing.get("country", 0),
    }


@case("sci_ids.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    (row,) = where(asked, path, "bag == '1E2'")
    codes = [code for (code,) in asked.results("query_data", path, operation="head", columns=["bag"])["rows"]]
    return {"codes": codes, "Au_1E2": float(row["Au"])}


@case("big_ids.jsonl")
def _(asked: Asked, path: str) -> dict[str, Any]:
    (row,) = where(asked, path, "ends_with(uid, '822')")
    sites = asked.results("query_data", path, operation="head", columns=["site"])["rows"]
    return {
        "distinct": asked.column(path, "uid")["distinct"],
        "Zn": int(row["Zn"]),
        "site": [site for (site,) in sites],
    }


@case("mixed_for_parquet.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    cleaned = asked.made("standardize_terms", path, column="azimuth")
    script = asked.call("run_script", code=TO_PARQUET, data=[cleaned])
    again = next(file for file in script.files if file.endswith(".parquet"))
    values = asked.column(again, "azimuth")
    numbers = asked.made("convert_types", again, columns=["azimuth"], to="number", max_missing_share=1)
    count = asked.figures(numbers, "azimuth", "count")[0]
    return {
        "rows": asked.shape(again)[0],
        "numeric": count,
        "text": [value for value in values["values"] if not value.replace(".", "").isdigit()],
        "missing": values["missing"],
    }


@case("dl_mixed.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    assert "negative numbers of the size of a limit read as results below it" in inspected(asked, path).said
    found = asked.results("check_missing", path)
    below = asked.made("filter_rows", path, column="Au", operator="contains", value="<", keep="others")
    plain = asked.made("filter_rows", below, column="Au", operator="contains", value=">", keep="others")
    beyond = found["beyond_a_limit"]["Au"]
    return {
        "below": beyond["below"],
        "above": beyond["above"],
        "missing": found["missing_cells"],
        "mean_plain": asked.figures(plain, "Au", "mean")[0],
    }


@case("sentinels.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    said = inspected(asked, path).said
    assert "SUSPECTED fill values" in said
    assert "-999 " in said
    assert "-99 " in said
    mean, missing = asked.figures(asked.made("replace_values", path, values=[-99, -999]), "rain", "mean", "missing")
    return {"mean": mean, "missing": missing}


@case("las_undeclared_null.las")
def _(asked: Asked, path: str) -> dict[str, Any]:
    suspected = "-9999" in next(note for note in inspected(asked, path).notes if note.startswith("SUSPECTED fill"))
    clean = asked.made("replace_values", path, values=[-9999])
    mean, count = asked.figures(clean, "GR", "mean", "count")
    return {"mean_GR": mean, "n_GR": count, "mean_RHOB": asked.figures(clean, "RHOB", "mean")[0], "must": suspected}


@case("euro_numbers.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    return {
        "sum_Zn": asked.figures(path, "Zn mg/kg", "sum")[0],
        "sum_Preis": asked.figures(path, "Preis", "sum")[0],
    }


@case("mixed_units.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    assert "several units, which this column gives" in inspected(asked, path).said
    made = asked.made("convert_units", path, columns=["Cu"], to_units=["ppm"], unit_column="unit")
    return {"mean_ppm": asked.figures(made, "Cu", "mean")[0]}


@case("dates_dayfirst.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    found = asked.column(path, "date")
    first, last = found["min"], found["max"]
    return {"first": first, "last": last, "days": (date.fromisoformat(last) - date.fromisoformat(first)).days}


@case("merged_header.xlsx")
def _(asked: Asked, path: str) -> dict[str, Any]:
    by = asked.results("summarize", path, columns=["Au"], by="Hole")["columns"]["Au"]
    return {"rows": asked.shape(path)[0], **{hole: figures["mean"] for hole, figures in by.items()}}


@case("formulas_nocache.xlsx")
def _(asked: Asked, path: str) -> dict[str, Any]:
    # The case takes the sum or a clear word that it cannot be read; never 0 or a silent gap.
    return {"answer": "3 formula cells of sheet 'S' hold no stored result (D2, D3, D4)" in refusal(asked, path)}


@case("late_string.xlsx")
def _(asked: Asked, path: str) -> dict[str, Any]:
    (row,) = where(asked, path, "not_null(remark)")
    return {"n": int(row["n"]), "remark": row["remark"], "rows": asked.shape(path)[0]}


@case("hidden_and_two_sheets.xlsx")
def _(asked: Asked, path: str) -> dict[str, Any]:
    said = refusal(asked, path)
    count, mean = asked.figures(f"{path}#*", "Li", "count", "mean")
    return {"mean": mean, "rows": count, "must": "'old' (1 rows × 2 columns, hidden)" in said}


@case("wrapped_multiple.las")
def _(asked: Asked, path: str) -> dict[str, Any]:
    (row,) = where(asked, path, "DEPT == 2")
    return {"rows": asked.shape(path)[0], "C15_at_2": float(row["C15"])}


@case("depth_equals_null.las")
def _(asked: Asked, path: str) -> dict[str, Any]:
    (row,) = where(asked, path, "DEPT == 999.25")
    return {"GR": float(row["GR"]), "mean": asked.figures(path, "GR", "mean")[0], "rows": asked.shape(path)[0]}


@case("more_curves_than_data.las")
def _(asked: Asked, path: str) -> dict[str, Any]:
    rows = asked.shape(path)[0]
    gone = asked.missing(path)["SP"] == rows
    return {"mean_DT": asked.figures(path, "DT", "mean")[0], "SP": "no data" if gone else "data"}


@case("missing_ascii_section.las")
def _(asked: Asked, path: str) -> dict[str, Any]:
    return {"answer": "no ~A section with data, but line 15" in refusal(asked, path)}


@case("clr_zero.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    found = asked.call("logratio_transform", path, columns=["A", "B", "C"])
    first = asked.rows(found.files[0])[0]
    stated = found.results["rows_with_replacement"] == 1 and "0.65" in found.results["rule"]
    return {"clr_1": [float(first[f"{part}_clr"]) for part in "ABC"], "sample_2": stated}


@case("aggregate_rows.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    said = inspected(asked, path).said
    kept = asked.made("filter_rows", path, column="commodity", operator="==", value="All", keep="others")
    named = "SUSPECTED aggregate rows" in said and "'commodity' is 'All' in 3 rows" in said
    return {"total": asked.figures(kept, "t", "sum")[0], "must": named}


@case("qa_rows.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    mean, count = asked.figures(asked.made("flag_qaqc", path, keep="routine"), "Au", "mean", "count")
    pair = asked.results("qaqc_duplicates", path, columns=["Au"])["columns"]["Au"]
    return {"mean": mean, "n": count, "rpd_percent": pair["mean_ard"]}


@case("interval_overlaps.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    issues = asked.rows(asked.made("check_intervals", path))

    def of(kind: str) -> list[list[Any]]:
        return [[row["hole"], float(row["from"]), float(row["to"])] for row in issues if row["issue"] == kind]

    return {"overlaps": of("overlap"), "repeats": of("duplicate"), "gaps": of("gap")}


@case("silent_numeric_only.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    whole = asked.call("correlate", path, columns=["Cu", "Zn", "As"])
    kept = asked.made("filter_rows", path, column="As", operator="contains", value="<", keep="others")

    def pair(found: Any, *names: str) -> Any:
        return next(each for each in found["strongest"] if {each["x"], each["y"]} == set(names))

    arsenic = pair(asked.results("correlate", kept, columns=["Cu", "As"]), "Cu", "As")
    return {
        "Cu_Zn": pair(whole.results, "Cu", "Zn")["r"],
        "Cu_As_n": arsenic["n"],
        "Cu_As": arsenic["r"],
        "must": pair(whole.results, "Cu", "As") is not None and "As: 1 below 1 of 4 results" in whole.said,
    }


@case("lonlat.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    made = asked.rows(asked.made("reproject", path, source_crs="EPSG:4326", target_crs="EPSG:3577"))
    x, y = list(made[0].values())[-2:]
    return {"x": float(x), "y": float(y)}


@case("row_cap.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    return {"rows": asked.shape(path)[0], "b": asked.meeting(path, "g == 'b'")}


@case("head_only.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    mean, count = asked.figures(path, "v", "mean", "count")
    return {"mean": mean, "rows": count}


@case("near_names.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    said = refusal(asked, path, columns=["Cu_pct"], by="HQ Location")
    by = asked.results("summarize", path, columns=["Cu_pct"], by="Location")["columns"]["Cu_pct"]
    return {
        **{group: figures["mean"] for group, figures in by.items()},
        "must": "has no column 'HQ Location'; closest: 'Location'" in said,
    }


@case("invented_data.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    countries = set(asked.column(path, "country")["values"])
    listed = {row["country"] for row in asked.rows(path)}
    return {"sum": asked.figures(path, "gdp", "sum")[0], "must_not": countries == listed}


@case("unbounded_reply.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    found = asked.call("query_data", path, operation="head", n=100_000)
    bounded = len(found.results["rows"]) <= 20 and "20000 of 20000 rows" in found.summary
    return {"must": bounded and len(asked.rows(found.files[0])) == 20_000}


@case("string_axis.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    said = inspected(asked, path).said
    numbers = asked.made("convert_types", path, columns=["depth"], to="number", max_missing_share=1)
    least, most, missing = asked.figures(numbers, "depth", "min", "max", "missing")
    chart = asked.call("plot_scatter", numbers, x="depth", y="Cu")
    reported = "'depth' (1 of 6 values are not numbers, first in data row 6)" in said
    return {
        "artefact": chart.files[0].rpartition(".")[2],
        "must": reported and (least, most, missing) == (2, 110, 1),
        "points": chart.results["points_drawn"],
    }


@case("no_show_save.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    from matplotlib.image import imread

    picture = asked.workspace / asked.made("plot_scatter", path, x="x", y="y")
    pixels = imread(picture)
    return {"artefact": picture.stat().st_size > 5_000 and float(pixels[..., :3].std()) > 0.01}


@case("huge_range.csv")
def _(asked: Asked, path: str) -> dict[str, Any]:
    bins = asked.results("plot_histogram", path, column="v")["bins"]
    count, median, most = asked.figures(path, "v", "count", "p50", "max")
    return {"n": count, "median": median, "max": most, "must": bins <= 1000}
