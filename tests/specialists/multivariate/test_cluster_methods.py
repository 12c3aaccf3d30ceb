"""The further methods of `cluster`, and what sets groups apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.cluster import HDBSCAN, AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import cluster, grouping

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, columns: list[str], **arguments: object) -> ToolResult:
    result = cluster.run(context, cluster.Arguments(path=path, columns=columns, **arguments))
    wire.dumps(result.as_json())
    return result


def labels(read_rows: ReadRows, result: ToolResult) -> list[int]:
    header, *rows = read_rows(result.artifacts[0].path)
    return [int(row[header.index("cluster")] or 0) for row in rows]


@pytest.fixture
def blobs() -> np.ndarray:
    rng = np.random.default_rng(7)
    centres = np.repeat([[10.0, 10.0, 5.0], [50.0, 12.0, 5.0], [30.0, 80.0, 5.0]], [40, 60, 30], axis=0)
    return centres + rng.normal(size=(130, 3))


@pytest.fixture
def path(write_rows: WriteRows, blobs: np.ndarray) -> str:
    rows = [[*row, 140 + number / 10, None if number == 3 else -20.0] for number, row in enumerate(blobs.tolist())]
    return write_rows("blobs.csv", ["a", "b", "c", "lon", "lat"], rows)


def test_mixture_average_linkage_and_hdbscan_equal_independent_runs(
    context: ToolContext, path: str, blobs: np.ndarray, read_rows: ReadRows
) -> None:
    scaled = StandardScaler().fit_transform(blobs[:, :2])
    mixture = run(context, path, ["a", "b"], method="gaussian_mixture")
    independent = GaussianMixture(3, n_init=5, max_iter=500, random_state=42).fit(scaled)
    assert adjusted_rand_score(independent.predict(scaled), labels(read_rows, mixture)) == 1.0
    assert mixture.results["bic"] == pytest.approx(independent.bic(scaled), rel=1e-9)
    average = run(context, path, ["a", "b"], method="hierarchical", linkage="average")
    expected = AgglomerativeClustering(3, linkage="average").fit_predict(scaled)
    assert adjusted_rand_score(expected, labels(read_rows, average)) == 1.0
    assert "average linkage" in average.results["rule"]
    density = run(context, path, ["a", "b"], method="hdbscan")
    found = HDBSCAN(min_cluster_size=20, min_samples=5, copy=True).fit_predict(scaled)
    assert density.results["noise"] == (found == -1).sum()
    assert adjusted_rand_score(np.where(found == -1, -1, found), labels(read_rows, density)) == 1.0


def test_what_sets_a_group_apart_is_its_mean_in_standard_deviations_of_all(
    context: ToolContext, path: str, blobs: np.ndarray, read_rows: ReadRows
) -> None:
    result = run(context, path, ["a", "b", "c"], centre_of=["lon", "lat"])
    z = StandardScaler().fit_transform(blobs)
    header, *rows = read_rows(result.artifacts[1].path)
    found = {(row[0], row[2]): float(row[header.index("standardised_centre")]) for row in rows}
    groups = {"1": slice(40, 100), "2": slice(0, 40), "3": slice(100, 130)}
    for number, rows_of in groups.items():
        for place, name in enumerate("abc"):
            assert found[number, name] == pytest.approx(z[rows_of, place].mean(), rel=1e-9)
    assert next(iter(result.results["sets_apart"]["3"]["high"])) == "b"
    assert next(iter(result.results["sets_apart"]["2"]["low"])) == "a"
    assert result.results["centre_of"]["2"]["lon"] == pytest.approx(140 + np.arange(40).mean() / 10)
    assert result.results["centre_of"]["2"]["lat"] == -20.0
    assert "group 3 high in b" in result.summary


def test_too_many_rows_or_neighbours_are_refused_before_memory_is_gone(
    context: ToolContext, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "HDBSCAN_ROWS", 100)
    with pytest.raises(ArgumentError, match="at most 100 rows") as refused:
        run(context, path, ["a", "b"], method="hdbscan")
    assert refused.value.field == "method"
    monkeypatch.setattr(cluster, "DBSCAN_PAIRS", 1_000)
    with pytest.raises(ArgumentError, match="pairs of rows") as refused:
        run(context, path, ["a", "b"], method="dbscan", eps=50)
    assert refused.value.field == "eps"


def test_neighbours_are_counted_from_a_sample() -> None:
    values = np.zeros((1_000, 1))
    assert grouping.neighbours_in_all(values, 1.0, 42) == 1_000_000


def test_eighty_groups_of_two_hundred_columns_stay_a_short_answer(context: ToolContext, write_rows: WriteRows) -> None:
    values = np.random.default_rng(1).normal(size=(300, 200))
    names = [f"a rather long column name {number}" for number in range(200)]
    result = run(context, write_rows("wide.csv", names, values.tolist()), names, n_clusters=80)
    assert len(wire.dumps(result.results)) < 2_000
    assert "centres" not in result.results
