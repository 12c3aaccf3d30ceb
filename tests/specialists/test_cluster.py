"""Groups equal independent scikit-learn runs, and every row of the input keeps its place with a label or a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.inspection import verify_claims
from outcrop_specialists.tools.multivariate import cluster, grouping

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]

COLUMNS = ["alcohol", "flavanoids", "color_intensity"]


def run(context: ToolContext, path: str, columns: list[str], **arguments: object) -> ToolResult:
    result = cluster.run(context, cluster.Arguments(path=path, columns=columns, **arguments))
    wire.dumps(result.as_json())
    return result


def column(read_rows: ReadRows, result: ToolResult, name: str) -> list[str]:
    header, *rows = read_rows(result.artifacts[0].path)
    return [row[header.index(name)] for row in rows]


@pytest.fixture
def wines(write_rows: WriteRows) -> tuple[str, np.ndarray]:
    """The wines as a file, and the three columns as an array."""
    data = load_wine()
    path = write_rows("wines.csv", data.feature_names, data.data.tolist())
    return path, data.data[:, [data.feature_names.index(name) for name in COLUMNS]]


@pytest.fixture
def blobs(write_rows: WriteRows) -> tuple[str, np.ndarray]:
    """Three clear groups of 30, 20 and 10 rows in two columns that are positive."""
    rng = np.random.default_rng(7)
    centres = np.repeat([[10.0, 10.0], [50.0, 12.0], [30.0, 80.0]], [20, 30, 10], axis=0)
    values = centres + rng.normal(size=(60, 2))
    return write_rows("blobs.csv", ["a", "b"], values.tolist()), values


def test_the_wines_fall_into_the_groups_of_an_independent_run(
    context: ToolContext, wines: tuple[str, np.ndarray], read_rows: ReadRows
) -> None:
    path, values = wines
    result = run(context, path, COLUMNS)
    scaled = StandardScaler().fit_transform(values)
    independent = KMeans(3, n_init=20, tol=0, random_state=42).fit(scaled)
    sizes = sorted(Counter(independent.labels_.tolist()).values(), reverse=True)
    assert list(result.results["counts"].values()) == sizes
    assert list(result.results["counts"]) == ["1", "2", "3"]
    labels = [int(label) for label in column(read_rows, result, "cluster")]
    assert adjusted_rand_score(independent.labels_, labels) == 1.0
    assert result.results["inertia"] == pytest.approx(independent.inertia_, rel=1e-9)
    assert result.results["silhouette"] == pytest.approx(silhouette_score(scaled, independent.labels_), rel=1e-9)
    for number, centre in result.results["centres"].items():
        members = values[np.array(labels) == int(number)]
        assert list(centre.values()) == pytest.approx(members.mean(axis=0).tolist(), rel=1e-9)


def test_the_labels_file_has_every_row_and_column_as_it_was(
    context: ToolContext, wines: tuple[str, np.ndarray], read_rows: ReadRows
) -> None:
    result = run(context, wines[0], COLUMNS)
    before, after = read_rows(wines[0]), read_rows(result.artifacts[0].path)
    assert len(after) == len(before) == 179
    assert after[0] == [*before[0], "cluster"]
    assert [[float(cell) for cell in row[:-1]] for row in after[1:]] == [
        [float(cell) for cell in row] for row in before[1:]
    ]


def test_groups_are_numbered_by_size_ties_by_centre(
    context: ToolContext, blobs: tuple[str, np.ndarray], write_rows: WriteRows, read_rows: ReadRows
) -> None:
    result = run(context, blobs[0], ["a", "b"])
    assert result.results["counts"] == {"1": 30, "2": 20, "3": 10}
    assert column(read_rows, result, "cluster") == ["2"] * 20 + ["1"] * 30 + ["3"] * 10
    tie = run(context, write_rows("tie.csv", ["a"], [[90], [91], [1], [2]]), ["a"], n_clusters=2)
    assert column(read_rows, tie, "cluster") == ["2", "2", "1", "1"]


def test_a_row_with_a_gap_keeps_its_place_without_a_label_and_with_a_reason(
    context: ToolContext, blobs: tuple[str, np.ndarray], write_rows: WriteRows, read_rows: ReadRows
) -> None:
    rows: list[list[float | None]] = blobs[1].tolist()
    rows[4][1] = rows[30][0] = None
    rows[31] = [None, None]
    path = write_rows("gaps.csv", ["sample", "a", "b"], [[f"s{number}", *row] for number, row in enumerate(rows)])
    result = run(context, path, ["a", "b"])
    labels, reasons = column(read_rows, result, "cluster"), column(read_rows, result, "cluster_reason")
    assert {row: (labels[row], reasons[row]) for row in range(60) if not labels[row]} == {
        4: ("", "missing: b"),
        30: ("", "missing: a"),
        31: ("", "missing: a, b"),
    }
    assert (result.results["rows"], result.results["clustered"], result.results["left_out"]) == (60, 57, 3)
    assert result.results["left_out_reasons"] == {"missing": 3}
    kept = [row for row in range(60) if row not in (4, 30, 31)]
    independent = KMeans(3, n_init=20, tol=0, random_state=42).fit(StandardScaler().fit_transform(blobs[1][kept]))
    assert adjusted_rand_score(independent.labels_, [int(labels[row]) for row in kept]) == 1.0
    assert any("3 of 60 rows left out" in note for note in result.notes)


def test_the_logarithm_of_what_is_not_positive_is_counted_never_dropped_silently(
    context: ToolContext, blobs: tuple[str, np.ndarray], write_rows: WriteRows, read_rows: ReadRows
) -> None:
    values = blobs[1].copy()
    values[0, 0], values[1, 1] = 0, -3
    result = run(context, write_rows("a.csv", ["a", "b"], values.tolist()), ["a", "b"], transform="log10")
    assert column(read_rows, result, "cluster_reason")[:3] == ["not positive: a", "not positive: b", ""]
    assert result.results["left_out_reasons"] == {"not_positive": 2}
    scaled = StandardScaler().fit_transform(np.log10(values[2:]))
    independent = KMeans(3, n_init=20, tol=0, random_state=42).fit(scaled)
    assert sorted(result.results["counts"].values()) == sorted(Counter(independent.labels_.tolist()).values())
    assert result.results["inertia"] == pytest.approx(independent.inertia_, rel=1e-9)


def test_clr_groups_equal_an_independent_transform_and_the_sub_composition_is_named(
    context: ToolContext, write_rows: WriteRows
) -> None:
    rng = np.random.default_rng(11)
    values = np.exp(rng.normal(size=(40, 3)))
    values[0, 2] = 0
    result = run(context, write_rows("a.csv", ["a", "b", "c"], values.tolist()), ["a", "b", "c"], transform="clr")
    parts = np.log(values[1:] / np.exp(np.log(values[1:]).mean(axis=1))[:, None])
    independent = KMeans(3, n_init=20, tol=0, random_state=42).fit(StandardScaler().fit_transform(parts))
    assert result.results["inertia"] == pytest.approx(independent.inertia_, rel=1e-9)
    assert result.results["left_out"] == 1
    assert any("sub-composition of the 3 columns a, b, c" in note for note in result.notes)


def test_a_table_that_has_a_cluster_column_keeps_it(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    path = write_rows("a.csv", ["cluster", "v"], [["x", 1], ["y", 2], ["x", 50], ["y", 51]])
    result = run(context, path, ["v"], n_clusters=2)
    assert result.results["label_column"] == "cluster_2"
    assert column(read_rows, result, "cluster") == ["x", "y", "x", "y"]
    assert column(read_rows, result, "cluster_2") == ["1", "1", "2", "2"]


def test_ward_and_dbscan_equal_independent_runs_and_noise_is_told_from_gaps(
    context: ToolContext, blobs: tuple[str, np.ndarray], write_rows: WriteRows, read_rows: ReadRows
) -> None:
    scaled = StandardScaler().fit_transform(blobs[1])
    ward = run(context, blobs[0], ["a", "b"], method="hierarchical")
    expected = AgglomerativeClustering(3, linkage="ward").fit_predict(scaled)
    assert adjusted_rand_score(expected, column(read_rows, ward, "cluster")) == 1.0
    rows = [*blobs[1].tolist(), [300.0, 300.0], [None, 1.0]]
    path = write_rows("noise.csv", ["a", "b"], rows)
    result = run(context, path, ["a", "b"], method="dbscan", eps=0.3, min_samples=4)
    expected = DBSCAN(eps=0.3, min_samples=4).fit_predict(StandardScaler().fit_transform(np.array(rows[:-1])))
    assert result.results["n_clusters"] == len(set(expected.tolist()) - {-1})
    assert (result.results["noise"], result.results["left_out"]) == ((expected == -1).sum(), 1) == (1, 1)
    assert column(read_rows, result, "cluster_reason")[-2:] == ["noise: in no dense group", "missing: a"]


def test_dbscan_that_finds_nothing_says_what_reach_would(context: ToolContext, blobs: tuple[str, np.ndarray]) -> None:
    with pytest.raises(ArgumentError, match="give a larger one") as refused:
        run(context, blobs[0], ["a", "b"], method="dbscan", eps=1e-6)
    assert refused.value.field == "eps"


def test_fewer_complete_rows_than_groups_are_refused_with_the_reason(
    context: ToolContext, write_rows: WriteRows
) -> None:
    path = write_rows("a.csv", ["a", "b"], [[1, 2], [2, None], [3, 4], [4, None]])
    with pytest.raises(ArgumentError, match=r"2 usable rows, 3 are needed.*missing") as refused:
        run(context, path, ["a", "b"])
    assert refused.value.field == "columns"


def test_rows_that_hardly_differ_make_fewer_groups_and_it_is_said(context: ToolContext, write_rows: WriteRows) -> None:
    with pytest.warns(Warning, match="distinct clusters"):
        result = run(context, write_rows("a.csv", ["a"], [[1], [1], [5], [5]]), ["a"])
    assert result.results["n_clusters"] == 2
    assert any("3 groups are wanted" in note for note in result.notes)


def test_the_silhouette_of_a_large_table_is_of_a_sample_and_it_is_said(
    context: ToolContext, write_rows: WriteRows
) -> None:
    values = np.random.default_rng(0).normal(size=5_200) + np.repeat([0.0, 30.0], 2_600)
    result = run(context, write_rows("a.csv", ["a"], values[:, None].tolist()), ["a"], n_clusters=2)
    assert "silhouette on 5000 rows drawn with seed 42" in result.results["rule"]
    assert result.results["silhouette"] > 0.9


def test_the_same_work_gives_the_same_file_and_the_same_numbers(
    context: ToolContext, wines: tuple[str, np.ndarray]
) -> None:
    first, second = run(context, wines[0], COLUMNS), run(context, wines[0], COLUMNS)
    assert first.artifacts == second.artifacts
    assert first.results == second.results
    assert len(list((context.workspace / "results").glob("*.csv"))) == 2


def test_text_columns_are_refused(context: ToolContext, write_rows: WriteRows) -> None:
    with pytest.raises(ArgumentError, match="rock"):
        run(context, write_rows("a.csv", ["rock"], [["a"], ["b"], ["c"]]), ["rock"])


def test_the_soils_of_colorado_are_grouped_on_logarithms(
    context: ToolContext, shared_file: Callable[[str], str], read_rows: ReadRows
) -> None:
    path = shared_file("files/colorado_soils.csv")
    header, *rows = read_rows(path)
    names = ["Rb", "K", "La", "Th"]
    values = np.array([[float(row[header.index(name)]) for name in names] for row in rows])
    independent = KMeans(2, n_init=20, tol=0, random_state=42).fit(StandardScaler().fit_transform(np.log10(values)))
    result = run(context, path, names, n_clusters=2, transform="log10")
    assert list(result.results["counts"].values()) == sorted(Counter(independent.labels_.tolist()).values())[::-1]
    assert len(column(read_rows, result, "cluster")) == 959


def test_many_rows_take_fewer_starts_which_the_rule_tells(context: ToolContext, write_rows: WriteRows) -> None:
    rng = np.random.default_rng(9)
    values = np.repeat([[0.0, 0.0], [9.0, 9.0]], 25_001, axis=0) + rng.normal(size=(50_002, 2))
    result = run(context, write_rows("many.csv", ["a", "b"], values.tolist()), ["a", "b"], n_clusters=2)
    assert set(result.results["counts"].values()) == {25_001}
    assert "the least inertia of 3 starts, seed 42, until centres move less than 0.0001" in result.results["rule"]
    assert grouping.effort(50_000) == (20, 0.0)


@pytest.mark.parametrize("groups", [2, 5])
def test_the_inertia_is_the_same_to_the_last_digit_with_any_number_of_threads(groups: int) -> None:
    values = np.random.default_rng(3).lognormal(1, 1, (3_000, 3))
    found = set()
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            found.add(grouping.kmeans(values, groups, 42)[1])
    assert len(found) == 1


@pytest.mark.parametrize("method", ["kmeans", "dbscan"])
def test_its_sizes_can_be_computed_again(context: ToolContext, blobs: tuple[str, np.ndarray], method: str) -> None:
    arguments = {"method": method} | ({"eps": 0.5} if method == "dbscan" else {"n_clusters": 3})
    claims = run(context, blobs[0], ["a", "b"], **arguments).claims
    assert [claim.value for claim in claims][:4] == [60, 30, 20, 10]
    checked = verify_claims.run(context, verify_claims.Arguments(claims=claims)).results
    assert checked["verified"] == len(claims)
