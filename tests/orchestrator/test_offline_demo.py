"""The offline model on the real tools, in one process: the two objectives of the demonstration, figures checked."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from outcrop.lead.toolbox import lead_schemas
from outcrop.models.offline.model import OfflineModel
from outcrop_schemas import wire
from outcrop_schemas.messages import ToolSchema
from outcrop_specialists.agent import Agent
from outcrop_specialists.brief import opening
from outcrop_specialists.completion import LeadAnswer, SpecialistAnswer
from outcrop_specialists.roles import get_role
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool

SOILS = Path(__file__).parents[2].parent / "shared" / "data" / "files" / "colorado_soils.csv"
Json = dict[str, Any]


class RealTools:
    """The tools of a role at work on a folder."""

    def __init__(self, workspace: Path, names: list[str]) -> None:
        self._names = names
        self._context = ToolContext(workspace, workspace / "results", workspace / ".scratch")

    def schemas(self) -> list[ToolSchema]:
        return [get_tool(name).schema() for name in self._names]

    async def call(self, name: str, arguments: Json, call_id: str) -> str:
        tool = get_tool(name)
        return wire.dumps(tool.run(self._context, tool.arguments.model_validate(arguments)).as_json()).decode()


class RealDesk:
    """The lead's tools, with specialists that are agents in this process."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self.answers: dict[str, SpecialistAnswer] = {}

    def schemas(self) -> list[ToolSchema]:
        return lead_schemas()

    async def call(self, name: str, arguments: Json, call_id: str) -> str:
        if name != "dispatch":
            return await RealTools(self._workspace, [name]).call(name, arguments, call_id)
        role = get_role(arguments["specialist"])
        agent = Agent(
            OfflineModel(),
            RealTools(self._workspace, [tool.name for tool in role.tools]),
            system=role.prompt(),
            opening=opening(arguments["objective"], arguments["data"], arguments["context"]),
            answer=SpecialistAnswer,
        )
        end = await agent.run()
        assert isinstance(end.answer, SpecialistAnswer)
        self.answers[arguments["context"]["tool"]] = end.answer
        return wire.dumps(end.answer.model_dump(mode="json")).decode()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for folder in ("results", ".scratch"):
        (tmp_path / folder).mkdir()
    return tmp_path.resolve()


async def run(workspace: Path, objective: str, data: str) -> tuple[LeadAnswer, dict[str, SpecialistAnswer]]:
    desk = RealDesk(workspace)
    end = await Agent(
        OfflineModel(), desk, system="", opening=opening(objective, [data]), answer=LeadAnswer, max_turns=100
    ).run()
    assert isinstance(end.answer, LeadAnswer)
    return end.answer, desk.answers


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


async def test_the_demo_gives_the_groups_of_scikit_learn_and_the_means_of_numpy(workspace: Path) -> None:
    wine = load_wine()
    names = [str(name) for name in wine.feature_names]
    with (workspace / "wine.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *wine.data.tolist()])
    answer, found = await run(
        workspace,
        "Remove duplicate rows, summarise alcohol and proline, cluster the samples into 3 groups on alcohol, "
        "flavanoids and color_intensity, and plot the groups",
        "wine.csv",
    )
    assert answer.status == "success"
    # Those of one turn are at work at the same time, and end in any order.
    assert sorted(found) == ["cluster", "plot_clusters", "remove_duplicates", "summarize"]
    columns = [names.index(name) for name in ("alcohol", "flavanoids", "color_intensity")]
    scaled = StandardScaler().fit_transform(wine.data[:, columns])
    labels = KMeans(3, n_init=20, random_state=42).fit(scaled).labels_
    assert sorted(found["cluster"].results["counts"].values()) == sorted(numpy.bincount(labels).tolist())
    labelled = rows_of(workspace / found["cluster"].artifacts[0].path)
    assert len(labelled) == 178
    assert len({row["cluster"] for row in labelled}) == 3
    for name in ("alcohol", "proline"):
        mean = float(numpy.mean(wine.data[:, names.index(name)]))
        assert found["summarize"].results["columns"][name]["mean"] == pytest.approx(mean, rel=1e-9)
        assert f"mean {mean:.6g}" in answer.summary
    assert (workspace / found["plot_clusters"].artifacts[0].path).stat().st_size > 1000


@pytest.mark.skipif(not SOILS.exists(), reason="the shared soil table is not beside this checkout")
async def test_the_soils_are_clustered_on_logarithms_and_mapped(workspace: Path) -> None:
    (workspace / "soils.csv").write_bytes(SOILS.read_bytes())
    answer, found = await run(
        workspace,
        "cluster the samples into 2 groups on log10 of Rb, K, La and Th and map them by longitude and latitude",
        "soils.csv",
    )
    assert answer.status == "success"
    assert found["cluster"].results["columns"] == ["Rb", "K", "La", "Th"]
    assert found["cluster"].results["transform"] == "log10"
    assert len(rows_of(workspace / found["cluster"].artifacts[0].path)) == 959
    assert found["plot_map"].results["x"] == "Longitude"
    assert found["plot_map"].results["y"] == "Latitude"
    assert found["plot_map"].results["color"] == "cluster"
