"""Questions on tables of no special kind."""

from __future__ import annotations

import re
from typing import Any

from answers.asking import Asked, plan

RAW, LINES, AIRPORTS, CELLS = "penguins_raw.csv", "penguins.jsonl", "airports.csv", "breast_cancer_sk.csv"


@plan(f"{RAW}#1")
def _(asked: Asked) -> Any:
    return asked.shape(RAW)


@plan(f"{RAW}#2")
def _(asked: Asked) -> Any:
    missing = asked.missing(RAW)
    names = ("Culmen Length (mm)", "Sex", "Delta 15 N (o/oo)", "Delta 13 C (o/oo)", "Comments")
    return [missing[name] for name in names]


@plan(f"{RAW}#3")
def _(asked: Asked) -> Any:
    return asked.column(RAW, "Species")["values"]


@plan(f"{RAW}#4")
def _(asked: Asked) -> Any:
    mass = asked.results("summarize", RAW, columns=["Body Mass (g)"], by="Species")["columns"]["Body Mass (g)"]
    return {name: record["mean"] for name, record in mass.items()}


@plan(f"{RAW}#5")
def _(asked: Asked) -> Any:
    found = asked.results("correlate", RAW, columns=["Flipper Length (mm)", "Body Mass (g)"])["strongest"][0]
    return [found["n"], found["r"]]


@plan(f"{RAW}#6")
def _(asked: Asked) -> Any:
    values = asked.rows(asked.made("inspect_columns", RAW, columns=["Individual ID"]))
    return sum(int(row["count"]) > 1 for row in values)


@plan(f"{LINES}#1")
def _(asked: Asked) -> Any:
    missing = asked.missing(LINES)
    return [asked.shape(LINES)[0], missing["sex"], missing["bill_length_mm"]]


@plan(f"{LINES}#2")
def _(asked: Asked) -> Any:
    counts = asked.results("compare_groups", LINES, column="island", by="species")["counts"]
    return {f"{kind}|{place}": n for kind, places in counts.items() for place, n in places.items() if n}


@plan(f"{AIRPORTS}#1")
def _(asked: Asked) -> Any:
    return [asked.shape(AIRPORTS)[0], asked.column(AIRPORTS, "iata")["distinct"]]


@plan(f"{AIRPORTS}#2")
def _(asked: Asked) -> Any:
    numbers = asked.made("convert_types", AIRPORTS, columns=["iata"], to="number", max_missing_share=1)
    zeros = asked.rows(asked.made("filter_rows", numbers, column="iata", operator="==", value=0))
    places = [row["name"] for row in zeros]
    found = asked.made("filter_rows", AIRPORTS, column="name", operator="in", value=places)
    return sorted(row["iata"] for row in asked.rows(found))


@plan(f"{AIRPORTS}#3")
def _(asked: Asked) -> Any:
    # A state may be called NA, no city among others is: there it is read as missing, and the report counts it.
    said = asked.call("inspect_dataset", AIRPORTS).said
    cities = re.search(r"read as missing: 'city' \((\d+) × NA\)", said)
    return [cities and int(cities[1]), asked.meeting(AIRPORTS, "state == 'NA'")]


@plan(f"{AIRPORTS}#4")
def _(asked: Asked) -> Any:
    return [list(each) for each in asked.column(AIRPORTS, "state", most_values=3)["values"].items()]


@plan(f"{AIRPORTS}#5")
def _(asked: Asked) -> Any:
    return asked.results("check_coordinates", AIRPORTS, box=[-125, 24, -66, 50])["issues"]["outside_box"]


@plan(f"{CELLS}#1")
def _(asked: Asked) -> Any:
    rows, columns = asked.shape(CELLS)
    said = asked.call("inspect_dataset", CELLS).said
    first = re.search(
        r"line 1 skipped .*? holds counts and names and is no header: 2 whole numbers, .*? and 2 names", said
    )
    # As many names as the last column has codes.
    classes = asked.column(CELLS, f"column_{columns}")["distinct"]
    return [rows, columns - 1, first and classes == 2 and "counts and class names, not a header"]


@plan(f"{CELLS}#2")
def _(asked: Asked) -> Any:
    return asked.column(CELLS, "column_31")["values"]


@plan(f"{CELLS}#3")
def _(asked: Asked) -> Any:
    return asked.figures(CELLS, "column_1", "mean", "sd", "p50")
