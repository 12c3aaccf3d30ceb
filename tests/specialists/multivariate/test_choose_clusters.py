"""The number of groups by silhouette, beside independent runs of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score
from sklearn.preprocessing import StandardScaler

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import choose_clusters

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = choose_clusters.run(context, choose_clusters.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


@pytest.fixture
def blobs() -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]], 20, axis=0) + rng.normal(size=(80, 2))


def test_each_number_has_the_figures_of_an_independent_run(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows, blobs: np.ndarray
) -> None:
    result = run(context, write_rows("a.csv", ["p", "q"], blobs.tolist()), most=5, labels=True, gap=True)
    scaled = StandardScaler().fit_transform(blobs)
    header, *rows = read_rows(result.artifacts[0].path)
    for row in rows:
        found = dict(zip(header, map(float, row), strict=True))
        model = KMeans(int(found["k"]), n_init=20, tol=0, random_state=42).fit(scaled)
        assert found["inertia"] == pytest.approx(model.inertia_, rel=1e-6)
        assert found["silhouette"] == pytest.approx(silhouette_score(scaled, model.labels_), abs=1e-3)
        assert found["calinski_harabasz"] == pytest.approx(calinski_harabasz_score(scaled, model.labels_), rel=1e-2)
        assert found["davies_bouldin"] == pytest.approx(davies_bouldin_score(scaled, model.labels_), rel=1e-2)
    assert [row[0] for row in rows] == ["2", "3", "4", "5"]
    assert result.results["best_k"] == 4 == result.results["best_by_gap"]
    assert list(result.results["sizes_of_best"].values()) == [20, 20, 20, 20]
    header, *labelled = read_rows(result.artifacts[1].path)
    assert len(labelled) == 80
    assert {row[header.index("cluster")] for row in labelled} == {"1", "2", "3", "4"}
    assert "20 starts, seed 42" in result.results["rule"]


def test_rows_with_gaps_are_counted_and_too_few_rows_refused(
    context: ToolContext, write_rows: WriteRows, blobs: np.ndarray
) -> None:
    rows: list[list[float | None]] = blobs.tolist()
    rows[3][0] = None
    path = write_rows("a.csv", ["p", "q"], rows)
    assert run(context, path, most=3).results["left_out"] == {"missing": 1}
    with pytest.raises(ArgumentError, match="too few for 6 groups") as refused:
        run(context, write_rows("b.csv", ["p"], [[1], [2], [3], [4], [5], [6]]))
    assert refused.value.field == "most"
    with pytest.raises(ArgumentError, match="less than least") as refused:
        run(context, path, least=4, most=3)
    assert refused.value.field == "most"


def test_the_soils_of_colorado_fall_into_two_groups_by_their_log_ratios(
    context: ToolContext, shared_file: Callable[[str], str]
) -> None:
    result = run(context, shared_file("files/colorado_soils.csv"), transform="clr", most=3)
    assert result.results["best_k"] == 2
    assert result.results["silhouette_by_k"]["2"] == pytest.approx(0.2204, abs=0.01)
    assert result.results["silhouette_by_k"]["3"] == pytest.approx(0.1566, abs=0.01)
