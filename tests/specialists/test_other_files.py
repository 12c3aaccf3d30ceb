"""Other files of the same families, with other names, columns and values, made here so that the answers are known: the
same kinds of question come out right. What holds for the shared files only would fail on these."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool

Call = Callable[..., ToolResult]
WriteFile = Callable[[str, str | bytes], str]
ReadRows = Callable[[str], list[list[str]]]


@pytest.fixture
def call(context: ToolContext) -> Call:
    def run(tool: str, path: str | None = None, **arguments: Any) -> ToolResult:
        given = arguments if path is None else {"path": path, **arguments}
        return run_tool(get_tool(tool), context, given)

    return run


@pytest.fixture
def records(read_rows: ReadRows) -> Callable[[str], list[dict[str, str]]]:
    def read(name: str) -> list[dict[str, str]]:
        header, *rows = read_rows(name)
        return [dict(zip(header, row, strict=True)) for row in rows]

    return read


def figures(call: Call, path: str, column: str, **arguments: Any) -> dict[str, Any]:
    return dict(call("summarize", path, columns=[column], **arguments).results["columns"][column])


def test_a_laboratory_export_with_title_units_limits_and_control_samples(
    call: Call, write_file: WriteFile, records: Any
) -> None:
    random = np.random.default_rng(11)
    gold = np.round(np.exp(random.normal(-2, 1, 80)), 3)
    zinc = np.round(random.uniform(0.1, 4, 80), 2)
    told = ["<0.05" if value < 0.05 else f"{value:.3f}" for value in gold]
    lines = [
        "Northern Lights Laboratories - certificate NL2231;;;;",
        ";;;;",
        "Sample No;Remark;Au;Zn;Hg",
        ";;g/t;%;ppb",
    ]
    lines += [f"K{n:03};;{told[n]};{zinc[n]};{n}" for n in range(80)]
    lines += ["K900;Blank;<0.05;0.01;1", "K901;STD AMIS0123;1.52;2.01;3", "K902;Duplicate of K004;0.3;1.1;4"]
    path = write_file("nl2231.csv", "\n".join(lines) + "\n")
    assert call("inspect_columns", path, columns=["Zn"]).results["columns"]["Zn"]["unit"] == "%"
    flagged = call("flag_qaqc", path, keep="routine")
    assert flagged.results["counts"] | {"routine": 80, "blank": 1, "duplicate": 1} == flagged.results["counts"]
    routine = flagged.results["path"]
    below = gold < 0.05
    summary = call("censored_summary", routine, columns=["Au"]).results["columns"]["Au"]
    assert summary["below"] == int(below.sum()) > 3
    halved = np.where(below, 0.025, gold)
    found = figures(call, routine, "Au", percentiles=[50, 95])
    assert [found[name] for name in ("count", "mean", "p50", "p95", "max")] == pytest.approx(
        [80, halved.mean(), np.median(halved), np.quantile(halved, 0.95), halved.max()], rel=1e-9
    )
    pairs = call("qaqc_duplicates", path, columns=["Au"])
    (pair,) = records(next(each.path for each in pairs.artifacts if "pairs" in each.path))
    assert (float(pair["original_value"]), float(pair["duplicate_value"])) == (pytest.approx(halved[4]), 0.3)


def test_rows_that_lack_a_field_are_moved_back(call: Call, write_file: WriteFile) -> None:
    random = np.random.default_rng(12)
    names = ["Line", "Tag", "Pt", "Pt repeat", "Cr", "Ni", "Fe", "Mg", "Ca", "Ti"]
    units = ["", "", "ppb", "ppb", "ppm", "ppm", "%", "%", "%", "ppm"]
    values = [
        np.round(random.uniform(low, high, 400), 2)
        for low, high in ((1, 30), (200, 900), (1_000, 3_000), (5, 12), (10, 25), (0.1, 2), (4_000, 9_000))
    ]
    lines = ["Assay report 77", ",".join(names), ",".join(units)]
    for row in range(400):
        cells = [f"{column[row]:g}" for column in values]
        repeat = [] if row % 3 == 1 else [""]
        lines.append(",".join([str(row + 1), f"T-{row:04}", cells[0], *repeat, *cells[1:], *([""] * (row % 3 == 1))]))
    path = write_file("report77.csv", "\n".join(lines) + "\n")
    shifted = sum(row % 3 == 1 for row in range(400))
    seen = call("inspect_dataset", path)
    assert any(f"REPAIRED {shifted} of 400 rows" in note for note in seen.notes)
    for name, column in zip(names[4:], values[1:], strict=True):
        assert figures(call, path, name)["mean"] == pytest.approx(column.mean(), rel=1e-9), name


def test_a_wrapped_log_with_an_undeclared_null(call: Call, write_file: WriteFile) -> None:
    depths = np.arange(50, 60, 0.25)
    curves = {f"C{n:02}": np.round(depths * (n + 1) + 0.125, 3) for n in range(9)}
    head = ["~Version", "VERS. 2.0 :", "WRAP. YES :", "~Well", "STRT.M 50 :", "STOP.M 59.75 :", "STEP.M 0.25 :",
            "NULL. -999.25 :", "WELL. Other-7 :", "~Curve", "DEPT.M :"]  # fmt: skip
    head += [*(f"{name}.API :" for name in curves), "~A"]
    lines = []
    for row, depth in enumerate(depths):
        cells = [f"{column[row]}" for column in curves.values()]
        if row == 3:
            cells[0] = "-999.25"
        if row in (5, 6, 7):
            cells[1] = "-7777"
        lines += [f"{depth}", " ".join(cells[:5]), " ".join(cells[5:])]
    path = write_file("other7.las", "\n".join([*head, *lines]) + "\n")
    found = call("check_curves", path).results
    assert (found["rows"], found["depth_range"], found["step"]) == (40, [50.0, 59.75], 0.25)
    first = figures(call, path, "C00")
    assert (first["count"], first["missing"]) == (39, 1)
    assert first["mean"] == pytest.approx(np.delete(curves["C00"], 3).mean())
    assert any("-7777" in note and "SUSPECTED" in note for note in call("inspect_dataset", path).notes)
    clean = call("replace_values", path, values=[-7777]).results
    assert clean["replaced"] == 3
    assert figures(call, clean["path"], "C01")["mean"] == pytest.approx(np.delete(curves["C01"], [5, 6, 7]).mean())


def test_a_log_of_version_3_with_two_sections(call: Call, write_file: WriteFile) -> None:
    text = """~Version
VERS. 3.0 :
WRAP. NO :
DLM. COMMA :
~Well
NULL. -999 :
WELL. Third-1 :
~Log_Definition
DEPT.M : depth {F}
GR.API : gamma {F}
~Log_Data | Log_Definition
1.0,40
1.5,-999
2.0,60
~Tops_Definition
TOPN. : name {S}
TOPD.M : depth {F}
~Tops_Data | Tops_Definition
"Upper, sandy",1.1
Lower,1.9
"""
    path = write_file("third1.las", text)
    listed = call("list_files", tables=[path]).results["tables"][0]
    names = [each["name"] for each in listed.get("tables", [])]
    assert any("Tops" in name for name in names), listed
    log = next((name for name in names if "Log" in name), "Log")
    assert figures(call, f"{path}#{log}", "GR")["mean"] == 50
    tops = next(name for name in names if "Tops" in name)
    rows = call("query_data", f"{path}#{tops}", operation="head").results["rows"]
    assert rows == [["Upper, sandy", 1.1], ["Lower", 1.9]]


def test_sites_as_the_survey_of_another_country_gives_them(call: Call, write_file: WriteFile) -> None:
    lines = ["# wells of the county", "# retrieved today", "well_no\tname\televation\tref", "8s\t20s\t8n\t6s"]
    heights = [None if n % 4 == 0 else 100 + n / 8 for n in range(40)]
    lines += [f"{n:08}\tWell {n}\t{'' if h is None else h}\t{'A' if n < 25 else 'B'}" for n, h in enumerate(heights)]
    path = write_file("wells.rdb", "\n".join(lines) + "\n")
    known = [h for h in heights if h is not None]
    found = figures(call, path, "elevation", percentiles=[50])
    assert [found[name] for name in ("count", "missing", "mean", "p50", "max")] == pytest.approx(
        [30, 10, np.mean(known), np.median(known), max(known)]
    )
    assert call("inspect_columns", path, columns=["ref"]).results["columns"]["ref"]["values"] == {"A": 25, "B": 15}
    assert call("query_data", path, operation="head", n=1, columns=["well_no"]).results["rows"] == [["00000000"]]


def test_decimal_commas_old_line_ends_and_another_code_page(call: Call, write_file: WriteFile) -> None:
    zinc = [1.5, 22.75, 1310.25, 8.125]
    told = ["1,5", "22,75", "1.310,25", "8,125"]
    lines = ["Entnahmestelle;Höhe über Grund;Zink mg/kg", *(f"Straße {n};{n + 1},25;{told[n]}" for n in range(4))]
    path = write_file("boden.csv", ("\r".join(lines) + "\r").encode("cp1252"))
    found = figures(call, path, "Zink mg/kg")
    assert (found["count"], found["sum"]) == (4, pytest.approx(sum(zinc)))
    height = figures(call, path, "Höhe über Grund")
    assert height["sum"] == pytest.approx(1.25 + 2.25 + 3.25 + 4.25)
    best = call("rank_by_metric", path, column="Zink mg/kg", n=1).results
    rows = call("query_data", best["path"], operation="head", columns=["Entnahmestelle"]).results["rows"]
    assert rows == [["Straße 2"]]


def test_a_workbook_with_title_keys_header_and_units(call: Call, write_workbook: Callable[..., str]) -> None:
    sheet: list[list[Any]] = [
        ["Programme", "Autumn 2021", None],
        ["Datum", "GDA2020", None],
        [None, None, None],
        ["Station", "Depth", "Temp"],
        [None, "m", "degC"],
        *([f"S{n}", n * 2.5, 20 + n / 4] for n in range(1, 13)),
    ]
    path = write_workbook("profile.xlsx", {"Notes": [["see the other sheet"]], "Data": sheet}, [])
    found = figures(call, path, "Temp")
    assert (found["count"], found["mean"], found["max"]) == (12, pytest.approx(20 + 78 / 48), 23.0)
    assert call("inspect_columns", path, columns=["Depth"]).results["columns"]["Depth"]["unit"] == "m"


def test_waters_in_two_units_with_fill_values_and_dates_day_first(call: Call, write_file: WriteFile) -> None:
    random = np.random.default_rng(13)
    start = date(2020, 1, 5)
    conductivity = np.round(random.uniform(300, 1_500, 30))
    solids = np.round(conductivity * 0.64)
    lines = ["site,sampled,EC,TDS,Li"]
    for n in range(30):
        day = (start + timedelta(days=7 * n)).strftime("%d/%m/%Y")
        scale = 1000 if n % 5 == 0 else 1
        lithium = "-99" if n in (4, 9) else f"{0.1 + n / 100:.2f}"
        lines.append(f"W{n:02},{day},{conductivity[n] / scale:g},{solids[n] / scale:g},{lithium}")
    path = write_file("springs.csv", "\n".join(lines) + "\n")
    seen = call("inspect_columns", path, columns=["sampled"]).results["columns"]["sampled"]
    assert (seen["min"], seen["max"]) == ("2020-01-05", str(start + timedelta(days=7 * 29)))
    notes = " ".join(call("inspect_dataset", path).notes)
    assert "'EC' has 6 values" in notes
    assert "'Li' has -99 in 2 rows" in notes
    repaired = call(
        "convert_units", path, columns=["EC", "TDS"], from_units=["mS/cm", "g/L"], to_units=["µS/cm", "mg/L"],
        cut_column="EC", below=10,
    ).artifacts[0].path  # fmt: skip
    assert figures(call, repaired, "EC", percentiles=[50])["p50"] == pytest.approx(np.median(conductivity))
    pair = call("correlate", repaired, columns=["EC", "TDS"]).results["strongest"][0]
    assert pair["r"] == pytest.approx(np.corrcoef(conductivity, solids)[0, 1])
    lithium = [0.1 + n / 100 for n in range(30) if n not in (4, 9)]
    clean = call("replace_values", path, values=[-99]).results["path"]
    assert figures(call, clean, "Li")["mean"] == pytest.approx(np.mean(lithium))


def test_two_tables_in_a_text_and_lines_of_json(call: Call, write_file: WriteFile) -> None:
    path = write_file(
        "station.txt",
        "Operator:,District\nSince:,1990\n\nPump,Set at\nP1,12.5\nP2,14\n\n\nDay,Level,Remark\n"
        + "".join(f"2001-01-{n:02},{100 + n},{'checked' if n in (5, 9) else ''}\n" for n in range(1, 29)),
    )
    names = [each["name"] for each in call("list_files", tables=[path]).results["tables"][0]["tables"]]
    assert len(names) == 2
    level = figures(call, f"{path}#{names[1]}", "Level", percentiles=[50])
    assert (level["count"], level["min"], level["max"], level["p50"]) == (28, 101, 128, 114.5)
    remarks = call("query_data", f"{path}#{names[1]}", operation="filter_count", expression="not_null(Remark)").results
    assert remarks["rows_that_meet"] == 2
    lines = [json.dumps({"key": f"{n:05}", "uid": 900000000000000000 + n, "pH": None if n == 3 else 7 + n / 10})
             for n in range(6)]  # fmt: skip
    other = write_file("samples.ndjson", "\n".join(lines) + "\n")
    found = figures(call, other, "pH")
    assert (found["count"], found["missing"], found["mean"]) == (5, 1, pytest.approx(7 + (0 + 1 + 2 + 4 + 5) / 50))
    first = call("query_data", other, operation="head", n=2, columns=["key"]).results["rows"]
    assert first == [["00000"], ["00001"]]
    assert call("inspect_columns", other, columns=["uid"]).results["columns"]["uid"]["distinct"] == 6
