"""The main job on real tables, through the installed command, checked against independent computations."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import installed
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

ROOT = Path(__file__).resolve().parents[2]
DEMO = (
    "Remove duplicate rows, summarise alcohol and proline, cluster the samples into 3 groups on alcohol, flavanoids "
    "and color_intensity, and plot the groups"
)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def artifact(outcome: dict[str, Any], word: str) -> str:
    [path, *_] = [
        a["path"] for a in outcome["artifacts"] if word in Path(a["path"]).name and "centres" not in a["path"]
    ]
    return str(path)


def columns(*names: str) -> Any:
    wines = load_wine()
    return np.column_stack([wines.data[:, wines.feature_names.index(name)] for name in names])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    workspace = tmp_path_factory.mktemp("wines")
    subprocess.run([sys.executable, ROOT / "scripts" / "write_wines.py", workspace / "wines.csv"], check=True)
    done = installed.outcrop(workspace, "run", DEMO, "--data", "wines.csv", "--json")
    assert done.returncode == 0, done.stderr
    return workspace, json.loads(done.stdout), done.stderr


def test_the_demo_script_runs_this_very_objective() -> None:
    assert DEMO in (ROOT / "scripts" / "demo").read_text()


def test_the_demo_makes_four_successful_dispatches(demo: Any) -> None:
    _, outcome, progress = demo
    assert outcome["status"] == "success"
    assert [line["status"] for line in outcome["dispatches"]] == ["success"] * 4
    assert sorted(line["specialist"] for line in outcome["dispatches"]) == [
        "analytics",
        "analytics",
        "cleaning",
        "plotting",
    ]
    assert len(re.findall(r"^d\d+ \w+ started: ", progress, re.MULTILINE)) == 4


def test_every_row_has_its_label_and_the_counts_equal_an_independent_run(demo: Any) -> None:
    workspace, outcome, _ = demo
    rows = rows_of(workspace / artifact(outcome, "_cluster_"))
    assert len(rows) == 178
    features = StandardScaler().fit_transform(columns("alcohol", "flavanoids", "color_intensity"))
    labels = KMeans(3, n_init=50, tol=0, random_state=7).fit_predict(features)
    assert sorted(Counter(row["cluster"] for row in rows).values()) == sorted(Counter(labels.tolist()).values())


def test_the_summary_equals_numpy(demo: Any) -> None:
    workspace, outcome, _ = demo
    summary = {row["column"]: row for row in rows_of(workspace / artifact(outcome, "_summarize_"))}
    assert set(summary) == {"alcohol", "proline"}
    for name, row in summary.items():
        values = columns(name)[:, 0]
        expected = {"mean": values.mean(), "sd": values.std(ddof=1), "min": values.min(), "max": values.max()}
        expected |= {f"p{p}": np.percentile(values, p) for p in (5, 25, 50, 75, 95)}
        for key, value in expected.items():
            assert abs(float(row[key]) - value) <= 1e-9 * max(1, abs(value)), (name, key)


def test_the_plot_is_a_picture(demo: Any) -> None:
    import matplotlib.image

    workspace, outcome, _ = demo
    picture = matplotlib.image.imread(workspace / artifact(outcome, "_plot_clusters_"))
    assert picture.shape[0] > 600
    assert len(np.unique(picture.reshape(-1, picture.shape[2]), axis=0)) > 50


def test_the_same_objective_gives_the_same_files(demo: Any) -> None:
    workspace, outcome, _ = demo
    again = json.loads(installed.outcrop(workspace, "run", DEMO, "--data", "wines.csv", "--json").stdout)
    assert {a["path"]: a["sha256"] for a in again["artifacts"]} == {
        a["path"]: a["sha256"] for a in outcome["artifacts"]
    }
    assert again["summary"] == outcome["summary"]


def test_a_replay_gives_the_same_outcome_and_the_same_prompts(demo: Any) -> None:
    workspace, outcome, _ = demo
    replayed = installed.outcrop(workspace, "replay", outcome["run_id"], "--json")
    assert replayed.returncode == 0, replayed.stderr
    assert json.loads(replayed.stdout) == outcome
    verified = installed.outcrop(workspace, "replay", outcome["run_id"], "--verify", "--json")
    assert verified.returncode == 0, verified.stderr
    checked = json.loads(verified.stdout)
    assert len(checked) == 5
    assert all(one["difference"] is None and one["prompts"] >= 2 for one in checked)


def test_no_row_of_the_table_reaches_the_lead(demo: Any) -> None:
    workspace, outcome, _ = demo
    lead = (Path(outcome["run_folder"]) / "exchanges" / "lead.jsonl").read_text()
    identifiers = [row["sample"] for row in rows_of(workspace / "wines.csv")]
    assert [name for name in identifiers if name in lead] == []


def test_soils_are_clustered_on_logs_and_mapped(shared: Path, workspace: Path, outcrop: Any) -> None:
    shutil.copy(shared / "data" / "files" / "colorado_soils.csv", workspace)
    objective = "cluster the samples into 2 groups on log10 of Rb, K, La and Th and map them by longitude and latitude"
    done = outcrop("run", objective, "--data", "colorado_soils.csv", "--json")
    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["status"]) == (0, "success")
    rows = rows_of(workspace / artifact(outcome, "_cluster_"))
    assert len(rows) == 959
    table = rows_of(workspace / "colorado_soils.csv")
    logs = StandardScaler().fit_transform(np.log10([[float(row[n]) for n in ("Rb", "K", "La", "Th")] for row in table]))
    labels = KMeans(2, n_init=20, tol=0, random_state=3).fit_predict(logs)
    assert sorted(Counter(row["cluster"] for row in rows).values()) == sorted(Counter(labels.tolist()).values())
    assert (workspace / artifact(outcome, "_plot_map_")).stat().st_size > 10_000


@pytest.mark.parametrize(
    "said", ["how many rows per kind are there", "count rows per kind", "how many rows are there per kind"]
)
def test_counts_per_value_are_told_in_the_answer(workspace: Path, outcrop: Any, said: str) -> None:
    (workspace / "holes.csv").write_text("id,kind\n1,RAB\n2,DD\n3,RAB\n4,RAB\n")
    outcome = json.loads(outcrop("run", said, "--data", "holes.csv", "--json").stdout)
    assert outcome["status"] == "success"
    assert "RAB 3, DD 1" in outcome["summary"]


def test_a_count_of_rows_that_meet_a_condition_is_told_in_the_answer(workspace: Path, outcrop: Any) -> None:
    (workspace / "holes.csv").write_text("id,Depth\na,10\nb,200\nc,300\n")
    outcome = json.loads(outcrop("run", "how many rows have Depth above 100", "--data", "holes.csv", "--json").stdout)
    assert "2 of 3 rows of holes.csv meet Depth > 100" in outcome["summary"]
