"""t-SNE layouts, biplot correlations and the farthest values of `compute_anomaly`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.datasets import load_wine

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.multivariate import compute_anomaly, pca, reduce_dimensions

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def test_a_layout_keeps_every_row_and_is_the_same_each_time(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    rng = np.random.default_rng(0)
    values = np.repeat([[0.0, 0, 0], [20, 0, 5]], 20, axis=0) + rng.normal(size=(40, 3))
    rows: list[list[float | None]] = values.tolist()
    rows.append([None, 1.0, 2.0])
    path = write_rows("a.csv", ["p", "q", "r"], rows)
    arguments = reduce_dimensions.Arguments(path=path, method="tsne")
    result = reduce_dimensions.run(context, arguments)
    assert any("perplexity lowered to 13" in note for note in result.notes)
    header, *written = read_rows(result.artifacts[0].path)
    assert header[-2:] == ["tSNE1", "tSNE2"]
    assert written[-1][-2:] == ["", ""]
    places = np.array([[float(cell) for cell in row[-2:]] for row in written[:-1]])
    inside = np.linalg.norm(places[:20] - places[:20].mean(axis=0), axis=1).max()
    assert np.linalg.norm(places[:20].mean(axis=0) - places[20:].mean(axis=0)) > inside
    assert reduce_dimensions.run(context, arguments).artifacts == result.artifacts
    with pytest.raises(ArgumentError, match="2 or 3 dimensions"):
        reduce_dimensions.run(context, reduce_dimensions.Arguments(path=path, method="tsne", n_components=4))


def test_the_loadings_file_has_the_correlations_of_columns_with_scores_and_all_variances(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    wines = load_wine()
    names = [name.replace("/", "_") for name in wines.feature_names]
    path = write_rows("wines.csv", names, wines.data.tolist())
    for standardize in (True, False):
        result = reduce_dimensions.run(context, reduce_dimensions.Arguments(path=path, standardize=standardize))
        header, *rows = read_rows(result.artifacts[0].path)
        scores = np.array([float(row[header.index("PC1")]) for row in rows])
        header, *rows = read_rows(result.artifacts[1].path)
        found = [float(row[header.index("PC1_correlation")]) for row in rows]
        assert found == pytest.approx([np.corrcoef(scores, column)[0, 1] for column in wines.data.T], abs=1e-9)
        header, *rows = read_rows(result.artifacts[2].path)
        assert len(rows) == 13
        assert float(rows[-1][header.index("cumulative")]) == pytest.approx(1)
        eigenvalues = [float(row[header.index("eigenvalue")]) for row in rows]
        assert sum(eigenvalues) == pytest.approx(13 if standardize else wines.data.var(axis=0).sum())


def test_very_many_rows_give_the_same_axes_by_their_covariance(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(size=(500, 4)) * [1, 2, 3, 4]
    centred = values - values.mean(axis=0)
    by_values = pca._axes(centred)
    monkeypatch.setattr(pca, "MANY_ROWS", 10)
    by_covariance = pca._axes(centred)
    np.testing.assert_allclose(by_covariance[0], by_values[0], rtol=1e-9)
    np.testing.assert_allclose(np.abs(by_covariance[1]), np.abs(by_values[1]), atol=1e-9)


def test_the_farthest_value_of_each_column_is_told_with_its_row(context: ToolContext, write_rows: WriteRows) -> None:
    rows = [[value] for value in (5.0, 6.0, 7.0, 100.0, 6.5, None, -3.0)]
    result = compute_anomaly.run(
        context, compute_anomaly.Arguments(path=write_rows("a.csv", ["v"], rows), columns=["v"])
    )
    found = result.results["columns"]["v"]
    assert (found["farthest"]["value"], found["farthest"]["data_row"]) == (100.0, 4)
    assert (result.results["low"], result.results["high"]) == (1, 1)


def test_no_spread_never_gives_an_infinite_score(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["k", "v"], [[5, value] for value in range(9)])
    for method in ("mad", "zscore", "iqr"):
        arguments = compute_anomaly.Arguments(path=path, columns=["k", "v"], method=method)
        result = compute_anomaly.run(context, arguments)
        assert list(result.results["skipped"]) == ["k"]
        assert b"Infinity" not in wire.dumps(result.as_json())
        with pytest.raises(ArgumentError, match="is zero"):
            compute_anomaly.run(context, compute_anomaly.Arguments(path=path, columns=["k"], method=method))
