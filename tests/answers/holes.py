"""Questions on drill tables and well logs."""

from __future__ import annotations

import json
from typing import Any

from answers.asking import Asked, plan

ASSAY, COLLAR, SURVEY = "babbitt_assay.csv", "babbitt_collar.csv", "babbitt_survey.csv"
COLLARS, DEVIATION = "gswa_collars.csv", "p135_deviation_survey.xlsx"
LOG, SECOND_NULL, CUTTINGS = "P-135_wrapped.LAS", "scorpio_e1_6038187.las", "P-135_cuttings_las3.las"
WIDE = "sample_utf16le_bom.las"


@plan(f"{ASSAY}#1")
def _(asked: Asked) -> Any:
    found = asked.results("check_intervals", ASSAY)
    return [found["rows"], found["holes"]]


@plan(f"{ASSAY}#2")
def _(asked: Asked) -> Any:
    missing = asked.missing(ASSAY)
    return [missing[name] for name in ("CU", "NI", "S", "FE")]


@plan(f"{ASSAY}#3")
def _(asked: Asked) -> Any:
    return asked.figures(ASSAY, "CU", "count", "mean", "p50", "p90", "max")


@plan(f"{ASSAY}#4")
def _(asked: Asked) -> Any:
    found = asked.results("detect_outliers", ASSAY, columns=["CU"])
    return [found["low"], found["high"]]


@plan(f"{ASSAY}#5")
def _(asked: Asked) -> Any:
    found = asked.results("correlate", ASSAY, columns=["CU", "NI"])["strongest"][0]
    return [found["n"], found["r"]]


@plan(f"{ASSAY}#6")
def _(asked: Asked) -> Any:
    return asked.results("profile_intervals", ASSAY, columns=["CU"])["columns"][0]["grade"]


@plan(f"{ASSAY}#7")
def _(asked: Asked) -> Any:
    return asked.results("check_intervals", ASSAY)["deepest_to"][::-1]


@plan(f"{ASSAY}#8")
def _(asked: Asked) -> Any:
    issues = asked.results("check_intervals", ASSAY)["issues"]
    return [issues["overlap"], issues["zero_length"] + issues["from_beyond_to"]]


@plan(f"{COLLAR}#1")
def _(asked: Asked) -> Any:
    def without(other: str) -> Any:
        return asked.results("merge_datasets", COLLAR, right_path=other, on=["BHID"], how="anti")["rows_after"]

    return [without(SURVEY), without(ASSAY)]


@plan(f"{COLLAR}#2")
def _(asked: Asked) -> Any:
    return asked.figures(COLLAR, "ZCOLLAR", "min", "max", "mean")


@plan(f"{SURVEY}#1")
def _(asked: Asked) -> Any:
    found = asked.results("desurvey", SURVEY, collar_path=COLLAR)
    return [found["stations"], found["single_station_holes"]]


@plan(f"{SURVEY}#2")
def _(asked: Asked) -> Any:
    convention = asked.results("desurvey", SURVEY, collar_path=COLLAR)["dip_convention"]
    return [*asked.figures(SURVEY, "DIP", "min", "max"), convention.replace("_", " ")]


@plan(f"{COLLARS}#1")
def _(asked: Asked) -> Any:
    places = asked.results("check_coordinates", COLLARS)
    distinct = [asked.column(COLLARS, name)["distinct"] for name in ("HoleId", "CompanyHoleId")]
    return [places["rows"], *distinct, places["distinct_places"]]


@plan(f"{COLLARS}#2")
def _(asked: Asked) -> Any:
    missing = asked.missing(COLLARS)
    return [missing[name] for name in ("Dataset", "IsTransformed", "ModifiedDate", "MaxDepth")]


@plan(f"{COLLARS}#3")
def _(asked: Asked) -> Any:
    return asked.column(COLLARS, "HoleType")["values"]


@plan(f"{COLLARS}#4")
def _(asked: Asked) -> Any:
    return asked.figures(COLLARS, "MaxDepth", "mean", "p50", "p90", "max")


@plan(f"{COLLARS}#5")
def _(asked: Asked) -> Any:
    # Written by a program that held 0.1 in four bytes: equal to 0.1 within a tolerance only.
    return asked.meeting(COLLARS, "abs(MaxDepth - 0.1) < 0.000001")


@plan(f"{COLLARS}#6")
def _(asked: Asked) -> Any:
    found = asked.results("summarize", COLLARS, columns=["MaxDepth"], by="HoleType", percentiles=[50])
    rab = found["columns"]["MaxDepth"]["RAB"]
    return [rab["count"], rab["p50"]]


@plan(f"{COLLARS}#7")
def _(asked: Asked) -> Any:
    names = asked.column(COLLARS, "Dataset")
    return [names["distinct"], names["distinct_ignoring_case"]]


@plan(f"{COLLARS}#8")
def _(asked: Asked) -> Any:
    report = json.loads((asked.workspace / asked.made("detect_cleaning_issues", COLLARS)).read_text("utf-8"))
    return [each["name"] for each in report["columns"] if each.get("constant")]


@plan(f"{DEVIATION}#1")
def _(asked: Asked) -> Any:
    return asked.results("desurvey", DEVIATION)["stations"]


@plan(f"{DEVIATION}#2")
def _(asked: Asked) -> Any:
    found = asked.results("desurvey", DEVIATION)
    return [found["deepest_station"][0], found["max_inclination_deg"][0]]


@plan(f"{DEVIATION}#3")
def _(asked: Asked) -> Any:
    header = asked.results("inspect_dataset", DEVIATION)["header"]
    return float(next(value for key, value in header.items() if key.startswith("Total depth")))


@plan(f"{LOG}#1")
def _(asked: Asked) -> Any:
    return asked.shape(LOG)


@plan(f"{LOG}#2")
def _(asked: Asked) -> Any:
    found = asked.results("check_curves", LOG)
    return [*found["depth_range"], found["step"]]


def _curve(asked: Asked, name: str) -> Any:
    return asked.figures(LOG, name, "missing", "mean", "p50", "p90")


plan(f"{LOG}#3")(lambda asked: _curve(asked, "GR"))
plan(f"{LOG}#4")(lambda asked: _curve(asked, "RHOB"))
plan(f"{LOG}#5")(lambda asked: _curve(asked, "DT"))


@plan(f"{LOG}#6")
def _(asked: Asked) -> Any:
    found = asked.results("correlate", LOG, columns=["GR", "RHOB"])["strongest"][0]
    return [found["n"], found["r"]]


@plan(f"{LOG}#7")
def _(asked: Asked) -> Any:
    part = asked.made("filter_rows", LOG, expression="DEPT >= 500 and DEPT < 600")
    return asked.figures(part, "GR", "count", "mean")


@plan(f"{SECOND_NULL}#1")
def _(asked: Asked) -> Any:
    return [*asked.shape(SECOND_NULL), float(asked.results("inspect_dataset", SECOND_NULL)["header"]["VERS"])]


@plan(f"{SECOND_NULL}#2")
def _(asked: Asked) -> Any:
    missing = asked.missing(SECOND_NULL)
    return [missing[name] for name in ("DFAR", "GAMN", "NEUT", "COND")]


@plan(f"{SECOND_NULL}#3")
def _(asked: Asked) -> Any:
    # The value is the one that the reading report suspects of standing for nothing.
    assert "'GAMN' has -2324.28 in 200 rows" in asked.call("inspect_dataset", SECOND_NULL).said
    found = asked.call("replace_values", SECOND_NULL, values=[-2324.28], columns=["GAMN"])
    return [found.results["replaced"], *asked.figures(found.files[0], "GAMN", "count", "min", "mean", "p50")]


@plan(f"{SECOND_NULL}#4")
def _(asked: Asked) -> Any:
    return asked.meeting(SECOND_NULL, "CALI < 0")


@plan(f"{CUTTINGS}#1")
def _(asked: Asked) -> Any:
    rows = asked.results("query_data", CUTTINGS, operation="head", columns=["LITHT", "LITHB"])["rows"]
    return rows


@plan(f"{CUTTINGS}#2")
def _(asked: Asked) -> Any:
    rows = asked.results("query_data", CUTTINGS, operation="head", columns=["LITHD"])["rows"]
    return [text.partition(".")[0] for (text,) in rows]


@plan(f"{WIDE}#1")
def _(asked: Asked) -> Any:
    found = asked.call("inspect_dataset", WIDE)
    name = "utf-16-le" if "UTF-16 (little-endian" in found.said else ""
    return [f"{name} with BOM" if "with a byte-order mark" in found.said else name, *asked.shape(WIDE)]
