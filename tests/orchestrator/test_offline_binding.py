"""How the offline model binds a clause to a tool's arguments, on the cards and schemas of the real tools."""

from __future__ import annotations

from typing import Any

import pytest
from binding_clauses import ELEMENTS, SOIL, arguments, bound, refusal

from outcrop.models.offline.profile import Column, Profile

WINE = Profile(
    "wine.csv",
    tuple(
        Column(name, "number", "measure")
        for name in (
            "alcohol",
            "malic_acid",
            "color_intensity",
            "flavanoids",
            "od280/od315_of_diluted_wines",
            "proline",
        )
    ),
)


@pytest.mark.parametrize(
    ("clause", "columns"),
    [
        ("summarise alcohol and proline", ["alcohol", "proline"]),
        ("summarise Alcohol, malic acid and colour intensity", ["alcohol", "malic_acid", "color_intensity"]),
        ("summarise od280/od315_of_diluted_wines", ["od280/od315_of_diluted_wines"]),
        ('summarise "malic_acid"', ["malic_acid"]),
    ],
)
def test_columns_are_found_whatever_their_spelling(clause: str, columns: list[str]) -> None:
    assert arguments("summarize", clause, WINE) == {"columns": columns}


@pytest.mark.parametrize(
    ("clause", "columns"),
    [
        ("summarise As and In", ["As", "In"]),
        ("summarise copper, gold and arsenic", ["Cu", "Au", "As"]),
        ("summarise K as well as Zn in the table", ["K", "Zn"]),
        ("summarise Cu, as in the report", ["Cu"]),
    ],
)
def test_element_symbols_are_not_taken_for_words_nor_words_for_symbols(clause: str, columns: list[str]) -> None:
    assert arguments("summarize", clause)["columns"] == columns


def test_a_name_counts_without_its_unit() -> None:
    profile = Profile(
        "a.csv", (Column("Au_ppm", "number", "element", "ppm"), Column("Body Mass (g)", "number", "measure"))
    )
    assert arguments("summarize", "summarise gold and body mass", profile)["columns"] == ["Au_ppm", "Body Mass (g)"]


def test_a_name_that_two_columns_answer_to_is_refused_with_both() -> None:
    profile = Profile("a.csv", (Column("Au_ppm", "number", "element"), Column("Au_ppb", "number", "element")))
    assert '"Au" may be Au_ppm or Au_ppb' in refusal("summarize", "summarise Au", profile)


@pytest.mark.parametrize(
    ("clause", "word", "offer"),
    [
        ("cluster on alcohol and flavonoids", "flavonoids", "closest: flavanoids"),
        ("summarise alcohl and proline", "alcohl", "closest: alcohol"),
        ("summarise alcohol by region", "region", "it has alcohol"),
        ("summarise alcohol by type", "type", "it has alcohol"),
        ("correlate alcohol with Foo", "Foo", "it has alcohol"),
        ('summarise "malic"', "malic", "closest: malic_acid"),
        ("summarise the gold", "gold", "it has alcohol"),
        ("describe hue_2", "hue_2", "it has alcohol"),
    ],
)
def test_an_unknown_column_is_refused_by_name_and_never_dropped(clause: str, word: str, offer: str) -> None:
    tool = {"cluster": "cluster", "correlate": "correlate"}.get(clause.split()[0], "summarize")
    said = refusal(tool, clause, WINE)
    assert f'"{word}" is no column of wine.csv' in said
    assert offer in said


def test_other_names_in_capitals_are_reported_and_the_work_is_done() -> None:
    binding = bound("summarize", "summarise the Cu around Forrestania")
    assert binding.calls == [{"path": "soil.csv", "columns": ["Cu"]}]
    assert binding.blockers == ['"Forrestania" was not understood; it is no column of soil.csv']


def test_words_without_effect_are_told() -> None:
    assert "Words without effect: quickly" in bound("summarize", "summarise Cu quickly").notes


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (
            "cluster the samples into 2 groups on log10 of Rb, K, La and Th",
            {"columns": ["Rb", "K", "La", "Th"], "n_clusters": 2, "transform": "log10"},
        ),
        ("cluster on Cu and Zn with k = 4", {"columns": ["Cu", "Zn"], "n_clusters": 4}),
        (
            "cluster Cu and Zn into five groups by k-means",
            {"columns": ["Cu", "Zn"], "n_clusters": 5, "method": "kmeans"},
        ),
        ("hierarchical clustering of Cu and Zn", {"columns": ["Cu", "Zn"], "method": "hierarchical"}),
        ("cluster Cu and Zn without standardising", {"columns": ["Cu", "Zn"], "standardize": False}),
        ("cluster on centred log-ratios of Cu and Zn", {"columns": ["Cu", "Zn"], "transform": "clr"}),
        (
            "density clusters of Cu and Zn with eps 0.3 and min samples 10",
            {"columns": ["Cu", "Zn"], "method": "dbscan", "eps": 0.3, "min_samples": 10},
        ),
        ("cluster the 100 samples into 3 groups by Cu and Zn", {"columns": ["Cu", "Zn"], "n_clusters": 3}),
        ("cluster by Cu and Zn into three", {"columns": ["Cu", "Zn"], "n_clusters": 3}),
        ("kmeans of Cu and Zn with 4 clusters", {"columns": ["Cu", "Zn"], "n_clusters": 4, "method": "kmeans"}),
    ],
)
def test_a_clustering_is_bound_from_its_words(clause: str, expected: dict[str, Any]) -> None:
    assert arguments("cluster", clause) == expected


def test_log_alone_is_taken_as_log10_and_that_is_said() -> None:
    binding = bound("cluster", "cluster on log Cu and log Zn")
    assert binding.calls[0]["transform"] == "log10"
    assert '"log" was taken as log10' in binding.notes


def test_without_columns_a_clustering_takes_the_measured_ones_and_says_which() -> None:
    binding = bound("cluster", "cluster the samples")
    assert binding.calls == [{"path": "soil.csv", "columns": list(ELEMENTS)}]
    assert any(
        note.startswith("No columns were named: cluster took all measured ones: Al, K") for note in binding.notes
    )


def test_all_columns_but_some_are_listed() -> None:
    kept = [name for name in ELEMENTS if name not in ("In", "Au")]
    assert arguments("cluster", "cluster on all elements except In and Au") == {"columns": kept}


@pytest.mark.parametrize(
    ("tool", "clause", "word"),
    [
        ("cluster", "cluster Cu and Zn using spectral clustering", "spectral"),
        ("cluster", "cluster Cu and Zn with random forest", "random forest"),
        ("cluster", "cluster Cu and Zn, pick the number by silhouette", "by silhouette"),
        ("correlate", "correlate Cu and Zn by mutual information", "mutual information"),
        ("summarize", "length-weighted mean of Cu", "weighted mean"),
        ("reduce_dimensions", "pca of Cu and Zn on ilr", "ilr"),
        ("reduce_dimensions", "pca of Cu and Zn on log-ratios", "log ratios"),
        ("cluster", "cluster the first 10 rows on Cu and Zn", "first rows"),
    ],
)
def test_a_method_that_is_not_offered_is_refused_and_not_replaced(tool: str, clause: str, word: str) -> None:
    assert f'"{word}" is not offered by {tool}' in refusal(tool, clause)


def test_two_values_for_one_argument_are_refused() -> None:
    assert "2 and 6 for n_clusters" in refusal("cluster", "cluster on Cu and Zn, two to six clusters")


def test_a_number_that_no_argument_takes_is_a_blocker() -> None:
    binding = bound("correlate", "top 10 correlations of Cu and Zn")
    assert binding.calls == [{"path": "soil.csv", "columns": ["Cu", "Zn"]}]
    assert binding.blockers == ['"10" has no effect: no argument of correlate takes it']


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("correlate Au with Cu", {"columns": ["Au", "Cu"]}),
        ("correlate gold against copper using ranks", {"columns": ["Au", "Cu"], "method": "spearman"}),
        ("Kendall correlation between Au and Cu", {"columns": ["Au", "Cu"], "method": "kendall"}),
    ],
)
def test_correlations(clause: str, expected: dict[str, Any]) -> None:
    assert arguments("correlate", clause) == expected


def test_one_column_is_correlated_with_all_others_but_not_with_what_is_no_column() -> None:
    assert arguments("correlate", "which elements follow copper") == {"target": "Cu", "method": "spearman"}
    assert '"sulphide content", which names no column' in refusal("correlate", "how Cu relates to sulphide content")


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("summarise Cu by rock type", {"columns": ["Cu"], "by": "Rock Type"}),
        ("summarise Cu per HoleType", {"columns": ["Cu"], "by": "HoleType"}),
        ("mean of Cu and Zn for each hole type", {"columns": ["Cu", "Zn"], "by": "HoleType"}),
        ("median and 90th percentile of Cu", {"columns": ["Cu"], "percentiles": [5, 25, 50, 75, 90, 95]}),
        ("5th and 95th percentiles of Cu", {"columns": ["Cu"], "percentiles": [5, 25, 50, 75, 95]}),
        ("P99 of Cu", {"columns": ["Cu"], "percentiles": [5, 25, 50, 75, 95, 99]}),
    ],
)
def test_summaries(clause: str, expected: dict[str, Any]) -> None:
    assert arguments("summarize", clause) == expected


def test_a_second_grouping_column_is_refused() -> None:
    assert "HoleType: summarize has no argument for it" in refusal(
        "summarize", "summarise Cu by rock type and hole type"
    )


@pytest.mark.parametrize(
    ("path", "clause"),
    [
        ("assays/trench_2.csv", "summarise Cu of trench_2"),
        ("north.csv", "summarise Cu in the north"),
        ("grab-7.csv", "summarise Cu of Grab-7 by rock type"),
        ("two words.csv", "summarise Cu of two words"),
    ],
)
def test_the_bare_name_of_the_data_file_means_the_file(path: str, clause: str) -> None:
    table = Profile(path, SOIL.columns, 100)
    assert arguments("summarize", clause, table)["columns"] == ["Cu"]


def test_the_bare_name_of_a_file_that_is_not_given_is_no_file() -> None:
    assert "trench_2" in refusal("summarize", "summarise Cu of trench_2")
    assert "north" in refusal("summarize", "summarise Cu in the north")


def test_a_column_with_the_name_of_the_file_stays_a_column() -> None:
    table = Profile("cu.csv", SOIL.columns, 100)
    assert arguments("summarize", "mean of Cu", table)["columns"] == ["Cu"]
