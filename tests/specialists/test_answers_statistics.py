"""Questions on real files whose answer is a figure: one or two tool calls give it to 1e-6.

The answers stand in the shared folder; here stand the calls that a good analyst would make, by question.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool

Call = Callable[..., dict[str, Any]]
ReadRows = Callable[[str], list[list[str]]]


@pytest.fixture
def answer(shared: Path) -> Callable[[str], Any]:
    """The answer to a question of the shared folder."""
    answers = {each["id"]: each["answer"] for each in json.loads((shared / "data" / "answers.json").read_text())}
    return lambda question: answers[question]


@pytest.fixture
def call(context: ToolContext, shared_file: Callable[[str], str]) -> Call:
    """Call a tool on a shared file (copied into the workspace) or on a derived one; gives its results."""

    def run(tool_name: str, path: str, /, **arguments: Any) -> dict[str, Any]:
        if not (context.workspace / path).exists():
            shared_file(f"files/{path}")
        tool = get_tool(tool_name)
        result = tool.run(context, tool.arguments.model_validate({"path": path, **arguments}))
        return result.results | {"files": [artifact.path for artifact in result.artifacts]}

    return run


def near(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-6)


def figures(record: dict[str, Any], *names: str) -> list[float]:
    return [record[name] for name in names]


def test_trench_gold_and_copper(call: Call, answer: Callable[[str], Any]) -> None:
    file = "als_an6_trench.csv"
    counts = call("flag_qaqc", file)["counts"]
    kinds = ("blank", "duplicate", "triplicate", "routine")
    assert [counts[kind] for kind in kinds] == answer(f"{file}#5")
    assert call("censored_summary", file, columns=["Au"])["columns"]["Au"]["below"] == answer(f"{file}#6")
    gold = call("summarize", file, columns=["Au"])["columns"]["Au"]
    assert figures(gold, "mean", "p50", "p95", "max") == near(answer(f"{file}#7"))
    routine = call("flag_qaqc", file, keep="routine")["path"]
    gold = call("summarize", routine, columns=["Au"])["columns"]["Au"]
    assert figures(gold, "count", "mean", "p50") == near(answer(f"{file}#8"))
    copper = call("summarize", file, columns=["Cu"])["columns"]["Cu"]
    assert figures(copper, "count", "mean", "p50", "max") == near(answer(f"{file}#10"))
    assert call("detect_outliers", file, columns=["Cu"])["high"] == answer(f"{file}#11")
    pair = call("correlate", file, columns=["Au", "Cu"], method="spearman")["strongest"][0]
    assert pair["r"] == near(answer(f"{file}#12"))


def test_trench_arsenic_counts_what_is_below_the_limit(call: Call, answer: Callable[[str], Any]) -> None:
    # The median asked for is of the detected results alone, the summary's of all: here they agree.
    found = call("censored_summary", "als_an6_trench.csv", columns=["As"])["columns"]["As"]
    assert [found["n"] - found["below"], found["below"], found["median"], found["max"]] == near(
        answer("als_an6_trench.csv#9")
    )


def test_core_and_grab_samples(call: Call, answer: Callable[[str], Any], read_rows: ReadRows) -> None:
    core = "als_an1_core.csv"
    pairs = call("qaqc_duplicates", core)
    header, *rows = read_rows(pairs["files"][1])
    first = dict(zip(header, rows[0], strict=True))
    assert [float(first["original_value"]), float(first["duplicate_value"])] == answer(f"{core}#7")
    gold = call("censored_summary", "als_an7_grab.csv", columns=["Au"])["columns"]["Au"]
    assert [gold["below"], gold["max"], gold["mean_by"]["dl/2"]] == near(answer("als_an7_grab.csv#2"))


def test_babbitt_copper(call: Call, answer: Callable[[str], Any]) -> None:
    file = "babbitt_assay.csv"
    copper = call("summarize", file, columns=["CU"], percentiles=[50, 90])["columns"]["CU"]
    assert figures(copper, "count", "mean", "p50", "p90", "max") == near(answer(f"{file}#3"))
    outliers = call("detect_outliers", file, columns=["CU"])
    assert [outliers["low"], outliers["high"]] == answer(f"{file}#4")
    pair = call("correlate", file, columns=["CU", "NI"])["strongest"][0]
    assert [pair["n"], pair["r"]] == near(answer(f"{file}#5"))
    length = call("derive_column", file, name="length", expression="TO - FROM")["files"][0]
    weighted = call("summarize", length, columns=["CU"], weights="length")["columns"]["CU"]
    assert weighted["weighted_mean"] == near(answer(f"{file}#6"))
    collars = call("summarize", "babbitt_collar.csv", columns=["ZCOLLAR"])["columns"]["ZCOLLAR"]
    assert figures(collars, "min", "max", "mean") == near(answer("babbitt_collar.csv#2"))


def test_collars_by_type(call: Call, answer: Callable[[str], Any]) -> None:
    file = "gswa_collars.csv"
    depth = call("summarize", file, columns=["MaxDepth"], percentiles=[50, 90])["columns"]["MaxDepth"]
    assert figures(depth, "mean", "p50", "p90", "max") == near(answer(f"{file}#4"))
    by_type = call("summarize", file, columns=["MaxDepth"], by="HoleType", percentiles=[50])["columns"]["MaxDepth"]
    assert figures(by_type["RAB"], "count", "p50") == near(answer(f"{file}#6"))
    found = call("inspect_columns", file, columns=["HoleType"])["columns"]["HoleType"]
    assert found["values"] == answer(f"{file}#3")
    names = call("inspect_columns", file, columns=["Dataset"])["columns"]["Dataset"]
    assert [names["distinct"], names["distinct_ignoring_case"]] == answer(f"{file}#7")


def test_pyroxenes(call: Call, answer: Callable[[str], Any]) -> None:
    file = "cpx_trace_regression.xlsx"
    pair = call("correlate", file, columns=["LA(PPM)", "CE(PPM)"], transform="ln")["strongest"][0]
    assert [pair["n"], pair["r"]] == near(answer(f"{file}#6"))


def test_borehole_logs(call: Call, answer: Callable[[str], Any]) -> None:
    file = "P-135_wrapped.LAS"
    for number, curve in ((3, "GR"), (4, "RHOB"), (5, "DT")):
        record = call("summarize", file, columns=[curve], percentiles=[50, 90])["columns"][curve]
        assert figures(record, "missing", "mean", "p50", "p90") == near(answer(f"{file}#{number}"))
    pair = call("correlate", file, columns=["GR", "RHOB"])["strongest"][0]
    assert [pair["n"], pair["r"]] == near(answer(f"{file}#6"))


def test_altitudes_and_levels(call: Call, answer: Callable[[str], Any]) -> None:
    sites = call("summarize", "usgs_nwis_sites.rdb.txt", columns=["alt_va"])["columns"]["alt_va"]
    assert sites["missing"] == answer("usgs_nwis_sites.rdb.txt#2")
    assert figures(sites, "mean", "p50", "max") == pytest.approx(answer("usgs_nwis_sites.rdb.txt#3"), abs=0.005)


def test_penguins(call: Call, answer: Callable[[str], Any]) -> None:
    file = "penguins_raw.csv"
    species = call("inspect_columns", file, columns=["Species"])["columns"]["Species"]
    assert species["values"] == answer(f"{file}#3")
    mass = call("summarize", file, columns=["Body Mass (g)"], by="Species")["columns"]["Body Mass (g)"]
    assert {name: record["mean"] for name, record in mass.items()} == near(answer(f"{file}#4"))
    pair = call("correlate", file, columns=["Flipper Length (mm)", "Body Mass (g)"])["strongest"][0]
    assert [pair["n"], pair["r"]] == near(answer(f"{file}#5"))
    crossed = call("compare_groups", "penguins.jsonl", column="island", by="species")["counts"]
    found = {f"{a}|{b}": count for a, row in crossed.items() for b, count in row.items() if count}
    assert found == answer("penguins.jsonl#2")


def test_airports(call: Call, answer: Callable[[str], Any]) -> None:
    states = call("inspect_columns", "airports.csv", columns=["state", "iata", "city"], most_values=3)["columns"]
    assert [list(each) for each in states["state"]["values"].items()] == answer("airports.csv#4")
    assert states["iata"]["distinct"] == answer("airports.csv#1")[1]


def test_a_table_without_a_header(call: Call, answer: Callable[[str], Any]) -> None:
    file = "breast_cancer_sk.csv"
    names = [each["name"] for each in call("inspect_dataset", file)["columns"]]
    first = call("summarize", file, columns=[names[0]])["columns"][names[0]]
    assert figures(first, "mean", "sd", "p50") == near(answer(f"{file}#3"))
    last = call("inspect_columns", file, columns=[names[-1]])["columns"][names[-1]]
    assert last["values"] == answer(f"{file}#2")


def test_soils(call: Call, answer: Callable[[str], Any]) -> None:
    file = "colorado_soils.csv"
    indium = call("inspect_columns", file, columns=["In"])["columns"]["In"]
    assert [indium["min"], indium["rows_at_min"]] == near(answer(f"{file}#2"))
    for name, count in answer(f"{file}#3").items():
        assert call("inspect_columns", file, columns=[name])["columns"][name]["rows_at_min"] == count
    zinc = call("summarize", file, columns=["Zn"], also=["skewness"])["columns"]["Zn"]
    assert figures(zinc, "mean", "p50", "p95", "max", "skewness") == near(answer(f"{file}#4"))
    logs = call("detect_outliers", file, columns=["Zn"], transform="log10")
    raw = call("detect_outliers", file, columns=["Zn"])
    assert [logs["low"], logs["high"], raw["low"], raw["high"]] == answer(f"{file}#5")
    ratios = call("logratio_transform", file)["files"][0]
    centred = call("correlate", ratios, columns=["Zn_clr", "Pb_clr"])["strongest"][0]["r"]
    plain = call("correlate", file, columns=["Zn", "Pb"])["strongest"][0]["r"]
    ranked = call("correlate", file, columns=["Zn", "Pb"], method="spearman")["strongest"][0]["r"]
    assert [centred, plain, ranked] == near(answer(f"{file}#6"))


def test_the_objective_on_soils_reaches_its_facts(call: Call, shared: Path, read_rows: ReadRows) -> None:
    objectives = json.loads((shared / "data" / "objectives.json").read_text())
    facts = next(each["facts"] for each in objectives if "silhouette_by_k" in each["facts"])
    file = "colorado_soils.csv"
    components = call("reduce_dimensions", file, transform="clr", n_components=3)
    assert list(components["explained_variance_ratio"].values()) == pytest.approx(facts["PCA_explained"], abs=1e-4)
    chosen = call("choose_clusters", file, transform="clr", most=6)
    assert chosen["best_k"] == facts["best_k"]
    assert chosen["silhouette_by_k"] == pytest.approx(facts["silhouette_by_k"], abs=0.01)
    header = read_rows(file)[0]
    elements = [name for name in header if name not in ("SampleID", "Longitude", "Latitude")]
    assert len(elements) == facts["elements"]
    found = call("cluster", file, columns=elements, transform="clr", n_clusters=2, centre_of=["Longitude", "Latitude"])
    assert list(found["counts"].values()) == pytest.approx(facts["sizes_k2"], rel=0.03)
    assert list(found["sets_apart"]["2"]["high"]) == facts["minority_enriched"]
    assert list(found["sets_apart"]["2"]["low"]) == facts["minority_depleted"]
    assert list(found["centre_of"]["2"].values()) == pytest.approx(facts["minority_centre_lonlat"], abs=0.05)
    assert list(found["centre_of"]["1"].values()) == pytest.approx(facts["majority_centre_lonlat"], abs=0.05)
    header, *rows = read_rows(found["files"][0])
    assert len(rows) == facts["samples"]
    assert all(row[header.index("cluster")] in ("1", "2") for row in rows)


def test_the_objective_on_trench_gold_reaches_its_facts(call: Call, shared: Path) -> None:
    objectives = json.loads((shared / "data" / "objectives.json").read_text())
    facts = next(each["facts"] for each in objectives if "spearman_with_Au" in each["facts"])
    routine = call("flag_qaqc", "als_an6_trench.csv", keep="routine")
    assert routine["rows_written"] == facts["routine_samples"]
    found = call("censored_summary", routine["path"], columns=["Au", "Cu"], percentiles=[95])["columns"]
    assert found["Au"]["below"] == facts["Au_below_0.01_routine"]
    assert figures(found["Au"], "mean", "median", "p95", "max") == pytest.approx(
        [facts["Au_mean_DL2_ppm"], facts["Au_median_ppm"], facts["Au_P95_ppm"], facts["Au_max_ppm"]], rel=5e-3
    )
    assert figures(found["Cu"], "median", "p95") == pytest.approx(
        [facts["Cu_median_ppm"], facts["Cu_P95_ppm"]], rel=5e-3
    )
    wanted = [*facts["spearman_with_Au"]]
    ranked = call("correlate", routine["path"], columns=wanted, target="Au", method="spearman")["strongest"]
    assert {each["y"]: each["r"] for each in ranked} == pytest.approx(facts["spearman_with_Au"], abs=0.01)
