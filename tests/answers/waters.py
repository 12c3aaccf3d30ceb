"""Questions on waters: laboratory results, gauging stations, groundwater levels."""

from __future__ import annotations

from typing import Any

from answers.asking import Asked, plan

LAB, BOOK = "mw_borehole_lab_raw.csv", "mw_borehole_lab.xlsx"
SITES, LEVELS, STATION = "usgs_nwis_sites.rdb.txt", "dino_B33F0080_002.csv", "waterinfo_dodewaard_cr.csv"


@plan(f"{LAB}#1")
def _(asked: Asked) -> Any:
    return asked.shape(LAB)


@plan(f"{LAB}#2")
def _(asked: Asked) -> Any:
    replaced = asked.results("replace_values", LAB, values=[-9], columns=["fluoride_mg_l"])["replaced"]
    return [asked.missing(LAB)["fluoride_mg_l"], replaced]


@plan(f"{LAB}#3")
def _(asked: Asked) -> Any:
    return [asked.meeting(LAB, f"conductivity {sign} 10") for sign in ("<", ">=")]


def _repaired(asked: Asked, path: str, *columns: str) -> str:
    """The rows in which conductivity is below 10 are in mS/cm, and in these dissolved solids are in g/L."""
    units = {"conductivity": ("mS/cm", "µS/cm"), "tds_mg_l": ("g/L", "mg/L")}
    pairs = [units[column] for column in columns]
    return asked.made(
        "convert_units",
        path,
        columns=list(columns),
        from_units=[given for given, _ in pairs],
        to_units=[wanted for _, wanted in pairs],
        cut_column="conductivity",
        below=10,
    )


@plan(f"{LAB}#4")
def _(asked: Asked) -> Any:
    return asked.figures(_repaired(asked, LAB, "conductivity"), "conductivity", "p50")[0]


@plan(f"{LAB}#5")
def _(asked: Asked) -> Any:
    def related(path: str) -> Any:
        return asked.results("correlate", path, columns=["conductivity", "tds_mg_l"])["strongest"][0]

    both, one = (
        related(_repaired(asked, LAB, "conductivity", "tds_mg_l")),
        related(_repaired(asked, LAB, "conductivity")),
    )
    return [both["n"], both["r"], one["r"]]


@plan(f"{LAB}#6")
def _(asked: Asked) -> Any:
    found = asked.column(LAB, "date_sample_collected")
    return [found["min"], found["max"]]


@plan(f"{LAB}#7")
def _(asked: Asked) -> Any:
    found = asked.results("detect_cleaning_issues", LAB, columns=["waterpoint_name"])
    return found["columns"][0]["untrimmed"]


@plan(f"{LAB}#8")
def _(asked: Asked) -> Any:
    return sorted(asked.column(LAB, "potassium_within_standards")["values"])


@plan(f"{BOOK}#1")
def _(asked: Asked) -> Any:
    return asked.shape(BOOK)


@plan(f"{BOOK}#2")
def _(asked: Asked) -> Any:
    found = asked.results("inspect_columns", BOOK, columns=["fluoride_mg_l"])
    return found["rows"] - found["columns"]["fluoride_mg_l"]["missing"]


@plan(f"{SITES}#1")
def _(asked: Asked) -> Any:
    return asked.shape(SITES)[0]


@plan(f"{SITES}#2")
def _(asked: Asked) -> Any:
    return asked.missing(SITES)["alt_va"]


@plan(f"{SITES}#3")
def _(asked: Asked) -> Any:
    return asked.figures(SITES, "alt_va", "mean", "p50", "max")


@plan(f"{SITES}#4")
def _(asked: Asked) -> Any:
    found = asked.column(SITES, "alt_datum_cd")
    return {**found["values"], "": found["missing"]}


@plan(f"{SITES}#5")
def _(asked: Asked) -> Any:
    return asked.results("query_data", SITES, operation="head", n=1, columns=["site_no"])["rows"][0][0]


@plan(f"{LEVELS}#1")
def _(asked: Asked) -> Any:
    return [asked.shape(f"{LEVELS}#2")[0], asked.shape(f"{LEVELS}#1")[0]]


@plan(f"{LEVELS}#2")
def _(asked: Asked) -> Any:
    return asked.figures(f"{LEVELS}#2", "Stand (cm t.o.v. NAP)", "min", "max", "mean", "p50")


@plan(f"{LEVELS}#3")
def _(asked: Asked) -> Any:
    found = asked.column(f"{LEVELS}#2", "Peildatum")
    return [found["min"], found["max"]]


@plan(f"{LEVELS}#4")
def _(asked: Asked) -> Any:
    return asked.meeting(f"{LEVELS}#2", "not_null(Opmerking)")


@plan(f"{STATION}#1")
def _(asked: Asked) -> Any:
    return asked.shape(STATION)


@plan(f"{STATION}#2")
def _(asked: Asked) -> Any:
    rows = asked.results("query_data", STATION, operation="head", columns=["NUMERIEKEWAARDE"])["rows"]
    return [value for (value,) in rows]


@plan(f"{STATION}#3")
def _(asked: Asked) -> Any:
    return asked.column(STATION, "X")["mean"]


@plan(f"{STATION}#4")
def _(asked: Asked) -> Any:
    return asked.results("replace_values", STATION, values=[-999999999])["by_column"]["BEMONSTERINGSHOOGTE"][
        "-999999999"
    ]
