"""Groups are drawn over the columns they were made from, which the lineage record tells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.image import imread
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import cluster
from outcrop_specialists.tools.plots import plot_clusters

WriteRows = Callable[..., str]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = plot_clusters.run(context, plot_clusters.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


def clustered(context: ToolContext, path: str, columns: list[str], **arguments: object) -> ToolResult:
    return cluster.run(context, cluster.Arguments(path=path, columns=columns, **arguments))


@pytest.fixture
def wines(write_rows: WriteRows) -> str:
    data = load_wine()
    names = [name.replace("/", "_") for name in data.feature_names]
    return write_rows("wines.csv", names, data.data.tolist())


def test_columns_and_counts_come_from_the_file_that_cluster_wrote(context: ToolContext, wines: str) -> None:
    columns = ["alcohol", "flavanoids", "color_intensity"]
    labels = clustered(context, wines, columns)
    result = run(context, labels.artifacts[0].path)
    assert result.results["columns"] == columns
    assert result.results["groups"] == labels.results["counts"]
    assert result.results["points_drawn"] == 178
    assert result.artifacts[0].path.startswith("results/wines_plot_clusters_")
    pixels = imread(context.workspace / result.artifacts[0].path)
    assert pixels.shape[:2] == (900, 1200)
    colours = {tuple(np.round(pixel * 255).astype(int)) for pixel in pixels[::2, ::2, :3].reshape(-1, 3)}
    assert len(colours) > 50


@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_one_to_six_columns_are_drawn_as_they_are(context: ToolContext, wines: str, count: int) -> None:
    columns = [name.replace("/", "_") for name in load_wine().feature_names][:count]
    result = run(context, clustered(context, wines, columns).artifacts[0].path)
    assert result.results["axes"] == columns
    assert result.results["points_drawn"] == 178


def test_many_columns_are_drawn_as_components_with_their_share(context: ToolContext, wines: str) -> None:
    columns = [name.replace("/", "_") for name in load_wine().feature_names]
    result = run(context, clustered(context, wines, columns).artifacts[0].path)
    shares = PCA(2).fit(StandardScaler().fit_transform(load_wine().data)).explained_variance_ratio_
    assert result.results["axes"] == [f"PC{n} ({share:.1%} of variance)" for n, share in enumerate(shares, start=1)]


def test_axes_follow_the_logarithm_with_which_the_groups_were_made(context: ToolContext, write_rows: WriteRows) -> None:
    values = np.exp(np.random.default_rng(3).normal(size=(40, 2)))
    values[0, 0] = 0
    path = write_rows("a.csv", ["p", "q"], values.tolist())
    result = run(context, clustered(context, path, ["p", "q"], transform="log10").artifacts[0].path)
    assert result.results["transform"] == "log10"
    assert result.results["left_out_reasons"] == {"not_positive": 1}
    assert result.results["x_range"] == pytest.approx([values[1:, 0].min(), values[1:, 0].max()])


def test_clr_is_drawn_as_clr(context: ToolContext, write_rows: WriteRows) -> None:
    values = np.exp(np.random.default_rng(3).normal(size=(40, 3)))
    path = write_rows("a.csv", ["p", "q", "r"], values.tolist())
    result = run(context, clustered(context, path, ["p", "q", "r"], transform="clr").artifacts[0].path)
    assert result.results["axes"] == ["clr(p)", "clr(q)", "clr(r)"]
    first = np.log(values[:, 0]) - np.log(values).mean(axis=1)
    assert result.results["x_range"] == pytest.approx([first.min(), first.max()])


def test_the_label_is_the_one_that_cluster_added(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["cluster", "v", "w"], [["x", 1, 1], ["y", 2, 3], ["x", 50, 60], ["y", 51, 62]])
    labels = clustered(context, path, ["v", "w"], n_clusters=2).artifacts[0].path
    assert run(context, labels).results["label"] == "cluster_2"
    assert run(context, labels, label="cluster").results["groups"] == {"x": 2, "y": 2}


def test_rows_without_a_group_are_drawn_grey_and_counted(context: ToolContext, write_rows: WriteRows) -> None:
    rows = [[1, 1.5, "a"], [2, 2.5, None], [3, 1.5, "b"], [4, None, "b"]]
    result = run(context, write_rows("a.csv", ["p", "q", "unit"], rows), columns=["p", "q"], label="unit")
    assert (result.results["points_drawn"], result.results["without_group"]) == (3, 1)
    assert result.results["groups"] == {"a": 1, "b": 1}
    assert result.results["left_out_reasons"] == {"missing": 1}


def test_without_a_record_the_columns_must_be_named(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["p", "q", "cluster"], [[1.5, 2.5, 1], [2.5, 3.5, 2]])
    with pytest.raises(ArgumentError, match="such as p, q") as refused:
        run(context, path)
    assert refused.value.field == "columns"
    assert run(context, path, columns=["p", "q"]).results["groups"] == {"1": 1, "2": 1}


def test_without_a_label_column_it_must_be_named(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["p", "q"], [[1.5, 2.5], [2.5, 3.5]])
    with pytest.raises(ArgumentError, match="no column 'cluster'") as refused:
        run(context, path, columns=["p"])
    assert refused.value.field == "label"


def test_labels_that_no_drawn_row_has_are_refused(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["p", "q", "cluster"], [[1.5, 2.5, None], [2.5, 3.5, None], [None, 1.5, 1]])
    with pytest.raises(ArgumentError, match="no value in any row"):
        run(context, path, columns=["p", "q"])
