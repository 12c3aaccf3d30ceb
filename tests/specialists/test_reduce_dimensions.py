"""Principal components equal scikit-learn's up to the sign, which is fixed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import reduce_dimensions

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = reduce_dimensions.run(context, reduce_dimensions.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


def numbers(read_rows: ReadRows, path: str, names: list[str]) -> np.ndarray:
    header, *rows = read_rows(path)
    return np.array([[float(row[header.index(name)] or "nan") for name in names] for row in rows])


def fixed_sign(components: np.ndarray) -> np.ndarray:
    return np.array([row if row[np.abs(row).argmax()] > 0 else -row for row in components])


def test_shares_loadings_and_scores_equal_scikit_learn(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    wines = load_wine()
    names = [name.replace("/", "_") for name in wines.feature_names]
    result = run(context, write_rows("wines.csv", names, wines.data.tolist()), n_components=3)
    scaled = StandardScaler().fit_transform(wines.data)
    independent = PCA(3).fit(scaled)
    shares = list(result.results["explained_variance_ratio"].values())
    assert shares == pytest.approx(independent.explained_variance_ratio_, rel=1e-9)
    labels = ["PC1", "PC2", "PC3"]
    components = fixed_sign(independent.components_)
    loadings = numbers(read_rows, result.artifacts[1].path, labels)
    np.testing.assert_allclose(loadings.T, components, atol=1e-9)
    scores = numbers(read_rows, result.artifacts[0].path, labels)
    np.testing.assert_allclose(scores, scaled @ components.T, atol=1e-8)
    top = result.results["top_loadings"]["PC1"]
    strongest = np.abs(components[0]).argsort()[::-1][:5]
    assert top == pytest.approx({names[index]: components[0, index] for index in strongest}, rel=1e-9)


def test_without_standardising_the_units_count(context: ToolContext, write_rows: WriteRows) -> None:
    values = np.random.default_rng(2).normal(size=(30, 3)) * [1, 10, 100]
    result = run(context, write_rows("a.csv", ["p", "q", "r"], values.tolist()), standardize=False)
    shares = list(result.results["explained_variance_ratio"].values())
    assert shares == pytest.approx(PCA(2).fit(values).explained_variance_ratio_, rel=1e-9)


def test_rows_with_gaps_keep_their_place_without_scores(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    rows: list[list[float | None]] = np.random.default_rng(1).normal(size=(12, 3)).tolist()
    rows[5][1] = None
    result = run(context, write_rows("a.csv", ["p", "q", "r"], rows))
    scores = numbers(read_rows, result.artifacts[0].path, ["PC1", "PC2"])
    assert np.flatnonzero(np.isnan(scores).any(axis=1)).tolist() == [5]
    assert (result.results["used"], result.results["left_out"]) == (11, 1)


def test_constant_columns_are_left_out_and_said(context: ToolContext, write_rows: WriteRows) -> None:
    rows = [[value, 3, -value + noise] for value, noise in ((1, 0.1), (2, 0.3), (4, -0.2), (7, 0.0))]
    result = run(context, write_rows("a.csv", ["p", "k", "q"], rows))
    assert result.results["columns"] == 2
    assert "constant columns left out: k" in result.notes


def test_more_components_than_there_can_be_are_refused(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["p", "q"], [[1, 2], [2, 1], [3, 5]])
    with pytest.raises(ArgumentError, match="allow 2") as refused:
        run(context, path, n_components=3)
    assert refused.value.field == "n_components"


def test_the_soils_of_colorado_have_the_known_shares(context: ToolContext, shared_file: Callable[[str], str]) -> None:
    result = run(context, shared_file("files/colorado_soils.csv"), n_components=3, transform="clr")
    shares = list(result.results["explained_variance_ratio"].values())
    assert shares == pytest.approx([0.3151, 0.1551, 0.0899], abs=5e-5)
    assert any("Longitude, Latitude" in note for note in result.notes)
