"""`export-plan`, `run --plan` and `replay --on` through the installed command, also on tables of one laboratory."""

from __future__ import annotations

import csv
import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import installed
import pytest

ROCKS = "sample,rock,Au_ppm,Cu_ppm\n" + "".join(
    f"s{n},{'granite' if n % 2 else 'schist'},{n}.5,{n}\n" for n in range(20)
)
OTHERS = "sample,rock,Au (ppm),Cu_ppm\n" + "".join(f"t{n},granite,{n * n}.25,{n}\n" for n in range(15))
OBJECTIVE = "summarise Au_ppm and Cu_ppm, then correlate Au_ppm with Cu_ppm"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one finished run, and a second table."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "rocks.csv").write_text(ROCKS)
    (folder / "others.csv").write_text(OTHERS)
    done = installed.outcrop(folder, "run", OBJECTIVE, "--data", "rocks.csv", "--model", "offline", "--json")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def known(finished: Path, outcrop: Any, workspace: Path) -> Any:
    """A copy of it in the test's own workspace, and the command there."""
    shutil.copytree(finished, workspace, dirs_exist_ok=True)
    return outcrop


def summary(workspace: Path, outcome: dict[str, Any]) -> dict[str, dict[str, str]]:
    [path] = [artifact["path"] for artifact in outcome["artifacts"] if "_summarize_" in artifact["path"]]
    with (workspace / path).open(newline="") as file:
        return {row["column"]: row for row in csv.DictReader(file)}


def test_what_one_run_did_is_exported_and_done_on_another_table(known: Any, workspace: Path) -> None:
    written = known("export-plan", "last", "--output", "plan.json")
    assert written.returncode == 0, written.stderr
    assert "needs Au_ppm, Cu_ppm" in written.stdout
    plan = json.loads((workspace / "plan.json").read_text())
    assert plan == json.loads(known("export-plan", "last").stdout)
    assert known("export-plan", "last", "--output", "plan.json").returncode == 2
    done = known("run", "--plan", "plan.json", "--data", "others.csv", "--json")
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    gold = [n * n + 0.25 for n in range(15)]
    row = summary(workspace, outcome)["Au_ppm"]
    assert float(row["mean"]) == pytest.approx(statistics.mean(gold), rel=1e-12)
    assert float(row["sd"]) == pytest.approx(statistics.stdev(gold), rel=1e-12)
    assert "others.csv: Au_ppm is Au (ppm) here" in done.stderr
    verified = known("replay", "last", "--verify")
    assert verified.returncode == 0, verified.stdout
    assert "differs" not in verified.stdout


def test_a_table_that_does_not_fit_is_refused_as_a_whole(known: Any, workspace: Path) -> None:
    (workspace / "bad.csv").write_text("sample,Au_ppb,Fe_pct\na,1,2\nb,2,3\n")
    before = [run["run_id"] for run in json.loads(known("runs", "--json").stdout)]
    refused = known("replay", "last", "--on", "bad.csv", "--json")
    assert refused.returncode == 1
    told = json.loads(refused.stdout)
    assert told["status"] == "error"
    assert {misfit["column"] for misfit in told["misfits"]} == {"Au_ppm", "Cu_ppm"}
    assert "nothing was started" in refused.stderr
    assert [run["run_id"] for run in json.loads(known("runs", "--json").stdout)] == before
    mapped = known("replay", "last", "--on", "bad.csv", "--map", "Au_ppm=Au_ppb", "--map", "Cu_ppm=Fe_pct", "--json")
    assert mapped.returncode == 0, mapped.stderr
    assert "in ppb, not in ppm" in mapped.stderr


def test_what_a_tool_finds_by_itself_is_looked_for_before_anything_runs(outcrop: Any, workspace: Path) -> None:
    (workspace / "a.csv").write_text("sample,x,y,Cu_ppm\n" + "".join(f"s{n},{n * 10},{n * n},{n}\n" for n in range(9)))
    done = outcrop("dispatch", "plotting", "--objective", "draw a map of Cu_ppm", "--data", "a.csv", "--json")
    assert done.returncode == 0, done.stderr
    (workspace / "b.csv").write_text("sample,Easting,Northing,Cu_ppm\nu,5,6,1\nv,7,9,2\nw,9,9,4\n")
    (workspace / "c.csv").write_text("sample,Cu_ppm\nu,1\nv,2\nw,4\n")
    refused = outcrop("replay", "last", "--on", "c.csv")
    assert refused.returncode == 1
    assert "the file has no column that is x" in refused.stderr
    assert outcrop("replay", "last", "--on", "b.csv").returncode == 0


def test_a_table_of_a_file_with_several_is_an_input(outcrop: Any, workspace: Path) -> None:
    for name, factor in (("one", 2), ("two", 3)):
        block = "id,Cu_ppm\n" + "".join(f"r{n},{n * factor}\n" for n in range(6))
        (workspace / f"{name}.csv").write_text("station,depth\na,1\nb,2\nc,3\n\n\n" + block)
    done = outcrop("run", "summarise Cu_ppm", "--data", "one.csv#2", "--model", "offline")
    assert done.returncode == 0, done.stderr
    assert json.loads(outcrop("export-plan", "last").stdout)["inputs"][0]["file"] == "one.csv#2"
    again = outcrop("replay", "last", "--on", "two.csv#2", "--json")
    assert again.returncode == 0, again.stderr
    assert float(summary(workspace, json.loads(again.stdout))["Cu_ppm"]["mean"]) == 7.5
    refused = outcrop("replay", "last", "--on", "two.csv")
    assert refused.returncode == 1
    assert "cannot be read as a table, so nothing was started" in refused.stderr


def test_wrong_use_is_told_and_has_status_2(known: Any, workspace: Path) -> None:
    (workspace / "plan.json").write_text(known("export-plan", "last").stdout.replace('"summarize"', '"sumarise"', 1))
    for arguments, told in [
        (("run", "--plan", "plan.json", "--data", "others.csv"), "tool: There is no tool 'sumarise'"),
        (("run", "--plan", "none.json"), "the plan cannot be read"),
        (("run", "x", "--plan", "plan.json"), "in place of an OBJECTIVE"),
        (("run", "--plan", "plan.json", "--model", "offline"), "no model is asked"),
        (("run",), "Give an OBJECTIVE"),
        (("run", "x", "--map", "a=b"), "--map goes with --plan"),
        (("replay", "last", "--map", "a=b"), "--map goes with --on"),
        (("replay", "last", "--verify", "--on", "others.csv"), "two things"),
        (("replay", "last", "--on", "others.csv", "rocks.csv"), "2 were given"),
        (("replay", "last", "--on", "others.csv", "--map", "x=y"), "needs no column 'x'"),
        (("replay", "last", "--on", "rocks.csv", "--map", "Cu_ppm=none"), "no file that needs the first"),
    ]:
        done = known(*arguments)
        assert (done.returncode, told in done.stderr) == (2, True), (arguments, done.stderr)


def test_the_schema_of_a_plan_is_printed(outcrop: Any) -> None:
    assert "steps" in json.loads(outcrop("schema", "plan").stdout)["properties"]


def test_the_plan_of_one_assay_table_runs_on_another_of_its_laboratory(
    outcrop: Any, workspace: Path, shared: Path
) -> None:
    files = ["als_an6_trench.csv", "als_an7_grab.csv"]
    for name in files:
        if not (shared / "data" / "files" / name).is_file():
            pytest.skip(f"{name} is not there")
        shutil.copy(shared / "data" / "files" / name, workspace)
    objective = "remove duplicates, then summarise As, Cu and Zn and plot a histogram of Cu"
    done = outcrop("run", objective, "--data", files[0], "--model", "offline", "--json")
    assert done.returncode == 0, done.stderr
    again = outcrop("replay", "last", "--on", files[1], "--json")
    assert again.returncode == 0, again.stderr
    outcome = json.loads(again.stdout)
    assert outcome["usage"]["input_tokens"] == outcome["usage"]["output_tokens"] == 0
    assert outcome["status"] == "success"
    with (workspace / files[1]).open(newline="", encoding="utf-8-sig") as file:
        header, _, *rows = list(csv.reader(file))
    found = summary(workspace, outcome)
    for name in ("As", "Cu", "Zn"):
        texts = [row[header.index(name)] for row in rows if any(row)]
        values = [float(text[1:]) / 2 if text.startswith("<") else float(text) for text in texts]
        assert float(found[name]["mean"]) == pytest.approx(statistics.mean(values), rel=1e-9)
        assert float(found[name]["max"]) == max(values)
    assert any("_plot_histogram_" in artifact["path"] for artifact in outcome["artifacts"])
    assert not [figure for figure in outcome["figures"] if figure["verdict"] == "refuted"]
    assert outcrop("replay", "last", "--verify").returncode == 0
