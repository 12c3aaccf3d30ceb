"""Questions on laboratory exports of assays and on analyses of soils and minerals."""

from __future__ import annotations

import re
from typing import Any

from answers.asking import Asked, plan

TRENCH, CORE, GRAB = "als_an6_trench.csv", "als_an1_core.csv", "als_an7_grab.csv"
PYROXENES, SOILS = "cpx_trace_regression.xlsx", "colorado_soils.csv"


def _below(asked: Asked, file: str, column: str) -> Any:
    return asked.results("censored_summary", file, columns=[column])["columns"][column]


@plan(f"{TRENCH}#1")
def _(asked: Asked) -> Any:
    return asked.shape(TRENCH)[0]


@plan(f"{TRENCH}#2")
def _(asked: Asked) -> Any:
    found = re.search(r"REPAIRED (\d+) of \d+ rows .*? were moved right", asked.call("inspect_dataset", TRENCH).said)
    return found and int(found[1])


@plan(f"{TRENCH}#3")
def _(asked: Asked) -> Any:
    note = next(each for each in asked.call("inspect_dataset", TRENCH).notes if "more than once in the header" in each)
    return sorted(set(re.findall(r"'([^']+)' is now", note)))


@plan(f"{TRENCH}#4")
def _(asked: Asked) -> Any:
    # The file that melt writes gives a row for each value of each column, with the column's unit.
    long = asked.made("melt", TRENCH, id_columns=["Serial No", "Lab ID", "Field ID"])
    return len({row["variable"] for row in asked.rows(long) if row["unit"] == "%"})


@plan(f"{TRENCH}#5")
def _(asked: Asked) -> Any:
    counts = asked.results("flag_qaqc", TRENCH)["counts"]
    return [counts[kind] for kind in ("blank", "duplicate", "triplicate", "routine")]


@plan(f"{TRENCH}#6")
def _(asked: Asked) -> Any:
    return _below(asked, TRENCH, "Au")["below"]


@plan(f"{TRENCH}#7")
def _(asked: Asked) -> Any:
    return asked.figures(TRENCH, "Au", "mean", "p50", "p95", "max")


@plan(f"{TRENCH}#8")
def _(asked: Asked) -> Any:
    routine = asked.results("flag_qaqc", TRENCH, keep="routine")["path"]
    return asked.figures(routine, "Au", "count", "mean", "p50")


@plan(f"{TRENCH}#9")
def _(asked: Asked) -> Any:
    detected = asked.made("filter_rows", TRENCH, column="As", operator="contains", value="<", keep="others")
    below = _below(asked, TRENCH, "As")["below"]
    count, median, most = asked.figures(detected, "As", "count", "p50", "max")
    return [count, below, median, most]


@plan(f"{TRENCH}#10")
def _(asked: Asked) -> Any:
    return asked.figures(TRENCH, "Cu", "count", "mean", "p50", "max")


@plan(f"{TRENCH}#11")
def _(asked: Asked) -> Any:
    return asked.results("detect_outliers", TRENCH, columns=["Cu"])["high"]


@plan(f"{TRENCH}#12")
def _(asked: Asked) -> Any:
    return asked.results("correlate", TRENCH, columns=["Au", "Cu"], method="spearman")["strongest"][0]["r"]


@plan(f"{CORE}#1")
def _(asked: Asked) -> Any:
    return asked.shape(CORE)[0]


@plan(f"{CORE}#2")
def _(asked: Asked) -> Any:
    return asked.results("flag_qaqc", CORE)["counts"]["routine"]


@plan(f"{CORE}#3")
def _(asked: Asked) -> Any:
    length = asked.results("check_intervals", CORE)["length"]
    return [length, *asked.figures(CORE, "From", "min"), *asked.figures(CORE, "To", "max")]


@plan(f"{CORE}#4")
def _(asked: Asked) -> Any:
    issues = asked.rows(asked.made("check_intervals", CORE))
    return [[float(row["from"]), float(row["to"])] for row in issues if row["issue"] == "gap"]


@plan(f"{CORE}#5")
def _(asked: Asked) -> Any:
    return _below(asked, CORE, "Au")["below"]


@plan(f"{CORE}#6")
def _(asked: Asked) -> Any:
    routine = asked.results("flag_qaqc", CORE, keep="routine")["path"]
    return asked.results("profile_intervals", routine, columns=["Au"])["columns"][0]["grade"]


@plan(f"{CORE}#7")
def _(asked: Asked) -> Any:
    pairs = next(file for file in asked.call("qaqc_duplicates", CORE, columns=["Au"]).files if "pairs" in file)
    (row,) = asked.rows(pairs)
    return [float(row["original_value"]), float(row["duplicate_value"])]


@plan(f"{GRAB}#1")
def _(asked: Asked) -> Any:
    return asked.shape(GRAB)[0]


@plan(f"{GRAB}#2")
def _(asked: Asked) -> Any:
    found = _below(asked, GRAB, "Au")
    return [found["below"], found["max"], found["mean_by"]["dl/2"]]


@plan(f"{GRAB}#3")
def _(asked: Asked) -> Any:
    found = asked.results("inspect_columns", GRAB, columns=["Au Check"])
    return found["rows"] - found["columns"]["Au Check"]["missing"]


@plan(f"{PYROXENES}#1")
def _(asked: Asked) -> Any:
    rows, columns = asked.shape(PYROXENES)
    unnamed = re.search(r"(\d+) columns without a name", asked.call("inspect_dataset", PYROXENES).said)
    empty = sum(missing == rows for missing in asked.missing(PYROXENES).values())
    return [rows, columns, unnamed and int(unnamed[1]), empty]


@plan(f"{PYROXENES}#2")
def _(asked: Asked) -> Any:
    missing = asked.missing(PYROXENES)
    return [missing[name] for name in ("TI(PPM)", "CR(PPM)", "NI(PPM)", "CR2O3(WT%)")]


def _traces(asked: Asked) -> list[str]:
    return [name for name in asked.names(PYROXENES) if name.endswith("(PPM)")]


@plan(f"{PYROXENES}#3")
def _(asked: Asked) -> Any:
    complete = " and ".join(f"not_null(`{name}`)" for name in _traces(asked))
    return asked.meeting(PYROXENES, complete)


@plan(f"{PYROXENES}#4")
def _(asked: Asked) -> Any:
    found = {name: asked.meeting(PYROXENES, f"`{name}` == 0") for name in _traces(asked)}
    return {name: zeros for name, zeros in found.items() if zeros}


@plan(f"{PYROXENES}#5")
def _(asked: Asked) -> Any:
    positive = asked.made("filter_rows", PYROXENES, expression="`LA(PPM)` > 0 and `YB(PPM)` > 0")
    ratio = asked.made("derive_column", positive, name="LaYb", expression="`LA(PPM)` / `YB(PPM)`")
    return asked.figures(ratio, "LaYb", "count", "p50")


@plan(f"{PYROXENES}#6")
def _(asked: Asked) -> Any:
    found = asked.results("correlate", PYROXENES, columns=["LA(PPM)", "CE(PPM)"], transform="ln")["strongest"][0]
    return [found["n"], found["r"]]


@plan(f"{SOILS}#1")
def _(asked: Asked) -> Any:
    missing = asked.results("check_missing", SOILS)
    ratios = asked.rows(asked.made("logratio_transform", SOILS))
    return [missing["rows"], sum(name.endswith("_clr") for name in ratios[0]), missing["missing_cells"]]


@plan(f"{SOILS}#2")
def _(asked: Asked) -> Any:
    found = asked.column(SOILS, "In")
    return [found["min"], found["rows_at_min"]]


@plan(f"{SOILS}#3")
def _(asked: Asked) -> Any:
    return {name: asked.column(SOILS, name)["rows_at_min"] for name in ("Cd", "S", "Bi")}


@plan(f"{SOILS}#4")
def _(asked: Asked) -> Any:
    return asked.figures(SOILS, "Zn", "mean", "p50", "p95", "max", "skewness", also=["skewness"])


@plan(f"{SOILS}#5")
def _(asked: Asked) -> Any:
    logs = asked.results("detect_outliers", SOILS, columns=["Zn"], transform="log10")
    raw = asked.results("detect_outliers", SOILS, columns=["Zn"])
    return [logs["low"], logs["high"], raw["low"], raw["high"]]


@plan(f"{SOILS}#6")
def _(asked: Asked) -> Any:
    def r(path: str, x: str, y: str, **options: Any) -> Any:
        return asked.results("correlate", path, columns=[x, y], **options)["strongest"][0]["r"]

    ratios = asked.made("logratio_transform", SOILS)
    return [r(ratios, "Zn_clr", "Pb_clr"), r(SOILS, "Zn", "Pb"), r(SOILS, "Zn", "Pb", method="spearman")]
