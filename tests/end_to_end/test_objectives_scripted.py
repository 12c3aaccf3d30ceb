"""The six objectives of ../shared/data through a real run: the calls that a good analyst makes reach every fact within
its tolerance, and the files expected are there."""

from __future__ import annotations

import csv
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answers.objectives import OBJECTIVES
from answers.scripting import Finished, file_of, work_through


def relative(tolerance: float, **absolute: float) -> Callable[[str, Any, Any], bool]:
    """Counts exactly, figures within a relative tolerance, or within an absolute one where the fact has its own."""

    def agree(fact: str, got: Any, expected: Any) -> bool:
        if isinstance(expected, dict):
            return all(key in got and agree(fact, got[key], value) for key, value in expected.items())
        if isinstance(expected, list):
            return len(got) >= len(expected) and all(agree(fact, *pair) for pair in zip(got, expected, strict=False))
        if isinstance(expected, float) or fact in absolute:
            within = absolute.get(fact, 0.0)
            return math.isclose(got, expected, rel_tol=0.0 if within else tolerance, abs_tol=within)
        return bool(got == expected)

    return agree


AGREE = {
    "O1": relative(5e-3, spearman_with_Au=0.01),
    "O2": relative(1e-3),
    "O3": relative(5e-3),
    "O4": relative(
        5e-3,
        silhouette_by_k=0.01,
        PCA_explained=0.001,
        sizes_k2=0.03 * 279,
        minority_centre_lonlat=0.05,
        majority_centre_lonlat=0.05,
    ),
    "O5": relative(5e-3),
    "O6": relative(1e-3),
}
"""As each objective states it."""


def rows(workspace: Path, path: str) -> list[dict[str, str]]:
    with (workspace / path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def trench(workspace: Path, run: Finished) -> None:
    flagged = rows(workspace, next(name for name in run.files if "_flag_qaqc_" in name))
    assert len(flagged) == 707
    assert sum(row["qaqc"] == "routine" for row in flagged) == 633
    assert run.facts["points_drawn"] == 633


def drilling(workspace: Path, run: Finished) -> None:
    holes = rows(workspace, file_of(run.files, "profile_intervals", "holes"))
    assert len(holes) == 399
    # The numeric identifier among text ones keeps its collar; a hole without copper has no grade, not 0.
    assert [float(hole["XCOLLAR"]) for hole in holes if hole["hole"] == "34873"] == [2296021.09]
    assert sum(hole["CU_grade"] == "" for hole in holes) == 9
    assert run.facts["points_drawn"] == 399


def logs(workspace: Path, run: Finished) -> None:
    curve = rows(workspace, file_of(run.files, "select_columns"))
    assert list(curve[0]) == ["DEPT", "GR", "Vsh"]
    shares = [float(row["Vsh"]) for row in curve if row["Vsh"]]
    assert (len(curve), len(shares), min(shares), max(shares)) == (4951, 4733, 0, 1)
    assert run.facts["tracks"] == 3


def soils(workspace: Path, run: Finished) -> None:
    labels = rows(workspace, next(name for name in run.files if "_cluster_" in name and "_centres_" not in name))
    assert len(labels) == len({row["SampleID"] for row in labels}) == 959
    assert {row["cluster"] for row in labels} == {"1", "2"}
    assert run.facts["points_drawn"] == 959


def waters(workspace: Path, run: Finished) -> None:
    cleaned = rows(workspace, next(name for name in run.files if "_convert_units_" in name))
    assert len(cleaned) == 32
    assert not any(row["fluoride_mg_l"] for row in cleaned)
    assert all(row["waterpoint_name"] == row["waterpoint_name"].strip() for row in cleaned)
    assert min(float(row["conductivity"]) for row in cleaned if row["conductivity"]) >= 100


def collars(workspace: Path, run: Finished) -> None:
    flagged = rows(workspace, file_of(run.files, "derive_column"))
    assert len(flagged) == 4685
    assert sum(row["depth_is_placeholder"] == "true" for row in flagged) == run.facts["flagged"] == 112
    by_type = rows(workspace, file_of(run.files, "summarize"))
    assert len(by_type) == 7
    # Of each name the other spellings, by the commonest.
    assert run.facts["spellings"] == {
        "Forrestania": ["FORRESTANIA"],
        "FORRESTANIA PROJECT": ["Forrestania Project"],
        "Lounge Lizard": ["LOUNGE LIZARD"],
    }
    assert run.facts["points_drawn"] == 4685


FILES = {"O1": trench, "O2": drilling, "O3": logs, "O4": soils, "O5": waters, "O6": collars}


@pytest.mark.parametrize("name", OBJECTIVES)
async def test_an_objective_reaches_its_facts_and_files(shared: Path, workspace: Path, name: str) -> None:
    listed = json.loads((shared / "data" / "objectives.json").read_text("utf-8"))
    objective = next(each for each in listed if each["id"] == name)
    for file in objective["files"]:
        shutil.copyfile(shared / "data" / "files" / file, workspace / file)
    run = await work_through(objective["objective"], objective["files"], OBJECTIVES[name], workspace)
    assert run.outcome.status == "success", run.outcome.errors
    assert [line.status for line in run.outcome.dispatches] == ["success"] * len(OBJECTIVES[name])
    expected = objective["facts"]
    if "top5_by_metal" in expected:
        # Rows (lists of lists) never reach the lead, so the ranking travels by name; its order is held all the same.
        assert list(run.facts["top5_by_metal"]) == [hole for hole, _ in expected["top5_by_metal"]]
        expected["top5_by_metal"] = dict(expected["top5_by_metal"])
    assert run.facts.keys() >= expected.keys()
    wrong = {
        fact: (run.facts[fact], value)
        for fact, value in expected.items()
        if not AGREE[name](fact, run.facts[fact], value)
    }
    assert wrong == {}
    FILES[name](workspace, run)
    pictures = [artifact for artifact in run.outcome.artifacts if artifact.path.endswith(".png")]
    assert all(picture.bytes > 5_000 for picture in pictures)
    assert bool(pictures) == any("png" in wanted for wanted in objective["artefacts"])
    # What the answer cites was computed again from its source.
    assert not [figure for figure in run.outcome.figures if figure.verdict == "refuted"]
