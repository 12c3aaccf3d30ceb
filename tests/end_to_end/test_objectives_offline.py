"""The six objectives of ../shared/data as the offline model works on them: which facts plain verbs reach, which parts
are named as not done, and that no figure it gives is false."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
Json = dict[str, Any]


class Ran:
    """One run: what it says as one text, and the files it made."""

    def __init__(self, outcome: Json, facts: Json, workspace: Path) -> None:
        self.outcome, self.facts, self._workspace = outcome, facts, workspace
        self.text = "\n".join([outcome["summary"], *outcome["findings"]])
        self.blockers = "\n".join(outcome["blockers"])

    def figures(self, pattern: str) -> list[float]:
        """The figures that a sentence gives."""
        found = re.search(pattern, self.text)
        assert found, f"{pattern} is not in:\n{self.text}"
        return [float(group.replace(",", "").rstrip(".")) for group in found.groups()]

    def rows(self, part: str, besides: str = "figures") -> list[dict[str, str]]:
        """The rows of the only table of this name."""
        paths = [each["path"] for each in self.outcome["artifacts"]]
        (path,) = [path for path in paths if part in path and besides not in path]
        with (self._workspace / path).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def has_plot(self, part: str) -> bool:
        return any(part in each["path"] and each["kind"] == "plot" for each in self.outcome["artifacts"])


@pytest.fixture
def run(outcrop: Command, workspace: Path, shared: Path) -> Callable[[str], Ran]:
    """Run an objective as a user does."""

    def ran(objective: str) -> Ran:
        entries = json.loads((shared / "data" / "objectives.json").read_bytes())
        entry = next(entry for entry in entries if entry["id"] == objective)
        for name in entry["files"]:
            shutil.copy(shared / "data" / "files" / name, workspace / name)
        done = outcrop("run", entry["objective"], "--json", "--data", *entry["files"])
        outcome = json.loads(done.stdout)
        assert outcome["status"] == "partial", done.stderr
        assert not [figure for figure in outcome["figures"] if figure["verdict"] == "refuted"]
        return Ran(outcome, entry["facts"], workspace)

    return ran


def test_the_gold_of_the_trenches_is_told_of_routine_samples_only(run: Callable[[str], Ran]) -> None:
    ran = run("O1")
    facts = ran.facts
    counts = ran.figures(r"routine (\d+), blank (\d+), duplicate (\d+), triplicate (\d+)")
    assert counts == [facts[name] for name in ("routine_samples", "blanks", "duplicates", "triplicates")]
    shifted = ran.figures(r"REPAIRED (\d+) of (\d+) rows")
    assert shifted == [facts["rows_shifted_one_field_left"], facts["rows_in_table"]]
    assert ran.figures(r"Au: (\d+) of 633 below the limit 0\.01") == [facts["Au_below_0.01_routine"]]
    summary = {row["column"]: {key: float(row[key]) for key in ("p50", "p95")} for row in ran.rows("_summarize_")}
    assert summary["Au"] == pytest.approx({"p50": facts["Au_median_ppm"], "p95": facts["Au_P95_ppm"]}, rel=5e-3)
    assert summary["Cu"] == pytest.approx({"p50": facts["Cu_median_ppm"], "p95": facts["Cu_P95_ppm"]}, rel=5e-3)
    mean, largest = ran.figures(r"Au: mean ([\d.]+) .*?max ([\d.]+) n 633")
    assert [mean, largest] == pytest.approx([facts["Au_mean_DL2_ppm"], facts["Au_max_ppm"]], rel=1e-5)
    told = dict(re.findall(r"\b([A-Z][a-z]) (0\.\d+)", ran.text.partition("strongest with Au:")[2][:120]))
    for element, expected in facts["spearman_with_Au"].items():
        assert element not in told or float(told[element]) == pytest.approx(expected, abs=0.01)
    assert {"As", "Ag", "Bi", "Sb", "Mn"} <= told.keys()
    assert len(ran.rows("_flag_qaqc_")) == facts["routine_samples"]
    assert ran.has_plot("_plot_scatter_")
    assert "half the limit (DL/2)" in ran.text
    assert len(ran.outcome["blockers"]) == 1
    assert 'Not understood: "Clean the An6 trench assays as they came from the lab"' in ran.blockers


def test_the_drill_tables_are_joined_checked_ranked_and_mapped(run: Callable[[str], Ran]) -> None:
    ran = run("O2")
    facts = ran.facts
    assert ran.figures(r"(\d+) intervals joined with babbitt_collar\.csv") == [facts["assay_rows"]]
    assert "no gap, overlap or other fault" in ran.text
    grade, share = ran.figures(r"length-weighted mean CU ([\d.]+), highest [\d.]+; ([\d.]+) of the length has no CU")
    assert grade == pytest.approx(facts["length_weighted_Cu"], rel=1e-5)
    assert share == pytest.approx(facts["unassayed_length_share"], rel=1e-3)
    assert ran.figures(r"most CU metal \(grade x length\) in B1-116: ([\d.]+)") == [facts["top5_by_metal"][0][1]]
    assert ran.has_plot("_plot_map_")
    assert "Map of CU_grade by XCOLLAR and YCOLLAR: 399 points drawn" in ran.text
    assert len(ran.outcome["blockers"]) == 1
    assert "babbitt_survey.csv was not taken: two tables are joined at a time" in ran.blockers


def test_the_logs_are_drawn_and_shale_and_inclination_worked_out(run: Callable[[str], Ran]) -> None:
    ran = run("O3")
    facts = ran.facts
    assert "Downhole plot of GR, RHOB, DT against depth" in ran.text
    valid, depths, mean = ran.figures(r"Vsh computed for (\d+) of (\d+) rows, from 0 to 1, mean ([\d.]+)")
    assert [valid, depths] == [facts["GR_valid"], facts["depth_rows"]]
    assert mean == pytest.approx(facts["mean_Vsh"], rel=1e-5)
    shale = [float(row["Vsh"]) for row in ran.rows("_derive_column_") if row["Vsh"]]
    share = sum(value > 0.5 for value in shale) / len(shale)
    assert share == pytest.approx(facts["share_Vsh_gt_0.5"], rel=5e-3)
    stations, steepest, last = ran.figures(r"from (\d+) stations.*?furthest from vertical (\d+) deg .*?at (\d+)\)")
    assert [stations, steepest, last] == [facts["stations"], facts["max_inclination_deg"], facts["last_MD_m"]]
    assert "values beyond the two points are held at 0 and 1" in ran.text
    assert ran.has_plot("_plot_downhole_")
    assert len(ran.outcome["blockers"]) == 1
    assert 'Not understood: "What share of the logged interval is more than half shale"' in ran.blockers


def test_the_soils_are_grouped_by_the_number_that_the_silhouette_picks(run: Callable[[str], Ran]) -> None:
    ran = run("O4")
    facts = ran.facts
    told = ran.figures(r"2 groups have .*?\(2: ([\d.]+), 3: ([\d.]+), 4: ([\d.]+), 5: ([\d.]+), 6: ([\d.]+)\) on 959")
    assert told == pytest.approx(list(facts["silhouette_by_k"].values()), abs=0.01)
    sizes = ran.figures(r"in 2 groups of (\d+), (\d+) \(kmeans on standardised clr")
    assert sizes == pytest.approx(facts["sizes_k2"], rel=0.03)
    high, low = re.findall(r"group 2 high in ([\w, ]+), low in ([\w, ]+)\.", ran.text)[0]
    assert set(high.split(", ")) <= set(facts["minority_enriched"])
    assert set(low.split(", ")) <= set(facts["minority_depleted"])
    labels = ran.rows("colorado_soils_cluster_", besides="centres")
    assert len({row["SampleID"] for row in labels}) == facts["samples"]
    assert "Map of cluster by Longitude and Latitude: 959 points drawn" in ran.text
    assert "'In' has 135 values at its minimum 0.013" in ran.blockers
    assert len(ran.outcome["blockers"]) == 1


def test_no_figure_is_given_in_units_that_are_mixed(run: Callable[[str], Ran]) -> None:
    ran = run("O5")
    assert "SUSPECTED two units in one column" in ran.text
    assert "'fluoride_mg_l' has -9 in 2 rows" in ran.text
    assert not re.search(r"\b(?:mean|median|pearson|spearman)\b [\d.]+", ran.text)
    for said in ("make the units consistent", "which point is the worst", "Save the cleaned table"):
        assert said in ran.blockers
    for said in ("tell me the typical conductivity", "how conductivity relates to dissolved solids"):
        assert f'Not done: "{said}" (it would be in units that are not consistent' in ran.blockers


def test_the_collars_are_summarised_by_type_with_the_placeholder_named(run: Callable[[str], Ran]) -> None:
    ran = run("O6")
    facts = ran.facts
    for kind in ("AC", "DD", "RC"):
        told = ran.figures(rf"\b{kind} mean [\d.]+ median ([\d.]+) n (\d+)")
        expected = facts["types"][kind] - facts["missing_depth"].get(kind, 0)
        assert told == [facts["median_without_placeholder"][kind], expected]
    types = dict(re.findall(r"\b([A-Z]+) (\d+)", ran.text.partition("groups: ")[2].partition(".")[0]))
    assert {kind: int(count) for kind, count in types.items()} == facts["types"]
    largest = {row["HoleType"]: float(row["max"]) for row in ran.rows("_summarize_")}
    assert {kind: largest[kind] for kind in facts["max"]} == pytest.approx(facts["max"], rel=1e-3)
    # The median of RAB holes counts the placeholder depths; that is said beside it.
    assert f"'MaxDepth' has {facts['placeholder_0.1_m']} values at its minimum" in ran.blockers
    assert 'Not understood: "Flag depths that cannot be real"' in ran.blockers
    assert '"Forrestania" was not understood' in ran.blockers
    assert ran.has_plot("_plot_map_")
