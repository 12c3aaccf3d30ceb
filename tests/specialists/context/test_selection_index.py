"""The index: order, fusion, what it keeps on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import UnknownNameError
from outcrop_schemas.messages import ToolSchema
from outcrop_specialists.context.selection.cards import ToolCard, card_of_schema, digest_of
from outcrop_specialists.context.selection.clauses import clauses_of
from outcrop_specialists.context.selection.index import ToolIndex
from outcrop_specialists.context.selection.lexical import LexicalIndex, lexical_data_of, terms_of
from outcrop_specialists.context.selection.offering import Offering
from outcrop_specialists.roles import get_role

CARDS = [
    ToolCard("zebra", "Counts stripes."),
    ToolCard("ant", "Builds a hill."),
    ToolCard("bee", "Builds a comb."),
    ToolCard("cow", "Gives milk."),
]


class Letters:
    """A vector of letter counts: enough to be alike, and counted."""

    name = "letters"

    def __init__(self, version: str = "1") -> None:
        self.version = version
        self.asked: list[int] = []

    def embed(self, texts: Sequence[str]) -> Any:
        import numpy as np

        self.asked.append(len(texts))
        return np.array([[text.lower().count(letter) for letter in "abcdefghijklm"] for text in texts], np.float32)


def test_equal_tools_are_ordered_by_name_in_whatever_order_they_came() -> None:
    expected = ["ant", "bee", "cow", "zebra"]
    for cards in (CARDS, CARDS[::-1]):
        assert [tool.name for tool in ToolIndex(cards).rank("nothing of this is known")] == expected
    assert [tool.name for tool in ToolIndex(CARDS).rank("build")][:2] == ["ant", "bee"]


def test_a_ranking_says_of_what_a_score_is_made() -> None:
    first = ToolIndex(CARDS, Letters()).rank("comb")[0]
    assert first.name == "bee"
    assert first.lexical > 0
    assert first.dense is not None
    alone = ToolIndex(CARDS).rank("comb")
    assert [tool.dense for tool in alone] == [None] * 4
    assert [tool.is_found for tool in alone] == [True, False, False, False]


def test_only_those_among_are_ranked_and_scores_do_not_depend_on_it() -> None:
    index = ToolIndex(CARDS)
    everything = {tool.name: tool for tool in index.rank("build a comb")}
    some = index.rank("build a comb", among=["zebra", "bee"], most=5)
    assert [tool.name for tool in some] == ["bee", "zebra"]
    assert all(everything[tool.name] == tool for tool in some)
    assert index.rank("build a comb", most=2) == index.rank("build a comb")[:2]


def test_each_clause_of_a_request_finds_its_tool() -> None:
    index = ToolIndex([*CARDS, *(ToolCard(f"n{n}", "Builds a hill, a comb and a nest.") for n in range(5))])
    said = "Please first build me a large hill. Then I would like to count all of the stripes, and get some milk too."
    assert {"zebra", "cow"} <= {tool.name for tool in index.rank(said, most=4)}


def test_arrays_and_lists_fuse_alike() -> None:
    import numpy as np

    from outcrop_specialists.context.selection import dense
    from outcrop_specialists.context.selection.index import RAISES, WHOLE_WEIGHT

    words = ["hill", "comb", "nest", "stripe", "milk", "shell", "web"]
    cards = [
        ToolCard(f"n{n:02d}", f"Builds a {words[n % 7]} {'and a ' + words[n % 3] if n % 2 else ''}") for n in range(40)
    ]
    lexical = LexicalIndex(lexical_data_of(cards))
    for said in (
        "build a comb",
        "nothing of this",
        "Build me a large hill. Then count all of the stripes, and get me some milk.",
    ):
        pieces = [said, *clauses_of(said)] if len(clauses_of(said)) > 1 else [said]
        scores = dense.fused(
            [(1.0, np.array([lexical.scores(terms_of(piece)) for piece in pieces]))], WHOLE_WEIGHT, RAISES
        )
        ranked = ToolIndex(cards).rank(said)
        assert [cards[place].name for place in dense.first(scores.round(6), 40)] == [tool.name for tool in ranked]
        np.testing.assert_allclose(sorted(scores, reverse=True), [tool.score for tool in ranked], atol=2e-6)


def test_the_first_of_equal_scores_are_the_first_places() -> None:
    import numpy as np

    from outcrop_specialists.context.selection import dense

    assert dense.first(np.array([1.0, 3.0, 2.0, 3.0, 2.0, 2.0]), 4).tolist() == [1, 3, 2, 4]
    assert dense.first(np.zeros(5), 3).tolist() == [0, 1, 2]
    assert dense.first(np.array([1.0, 2.0]), 9).tolist() == [1, 0]


def test_an_embedder_ranks_only_those_among_too() -> None:
    index = ToolIndex(CARDS, Letters())
    everything = {tool.name: tool for tool in index.rank("build a comb")}
    some = index.rank("build a comb", among=["zebra", "bee"], most=5)
    assert [tool.name for tool in some] == [name for name in everything if name in ("zebra", "bee")]
    assert all(everything[tool.name] == tool for tool in some)
    assert index.rank("build a comb", among=[]) == []


def test_what_is_offered_goes_by_the_embedder_and_its_record_says_so(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    by = Letters()
    offering = Offering(get_role("analytics").tools, lambda text: told.append(wire.loads(text)), tmp_path, by)
    offering.begin("cluster the samples into 3 groups")
    assert by.asked[-1] == 1
    assert told[0]["embedder"] == "letters"
    Offering(get_role("analytics").tools, lambda text: told.append(wire.loads(text)), tmp_path).begin("cluster them")
    assert "embedder" not in told[1]


def test_the_catalogue_is_embedded_once_and_read_by_the_next_process(tmp_path: Path) -> None:
    first, second = Letters(), Letters()
    one = ToolIndex(CARDS, first, tmp_path)
    assert first.asked == []
    ranked = one.rank("comb")
    one.rank("hill")
    assert first.asked == [4, 1, 1]
    assert ToolIndex(CARDS, second, tmp_path).rank("comb") == ranked
    assert second.asked == [1]
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.iterdir())


def test_what_was_learnt_of_phrases_is_kept_too(tmp_path: Path) -> None:
    said = [*"abcdefgh"]
    cards = [ToolCard(card.name, card.description, tuple(f"{card.name} {word}" for word in said)) for card in CARDS]
    ranked = ToolIndex(cards, Letters(), tmp_path).rank("comb")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".npy", ".npy"]
    assert ranked == ToolIndex(cards, Letters(), tmp_path).rank("comb") == ToolIndex(cards, Letters()).rank("comb")
    learnt = min(tmp_path.glob("*.npy"), key=lambda path: path.stat().st_size)
    learnt.write_bytes(b"damaged")
    assert ToolIndex(cards, Letters(), tmp_path).rank("comb") == ranked


@pytest.mark.parametrize(
    ("cards", "version"), [(CARDS, "2"), ([*CARDS[:3], ToolCard("cow", "Gives milk.", ("dairy",))], "1")]
)
def test_other_cards_or_another_embedder_are_embedded_anew(tmp_path: Path, cards: list[ToolCard], version: str) -> None:
    ToolIndex(CARDS, Letters(), tmp_path).rank("comb")
    other = Letters(version)
    ToolIndex(cards, other, tmp_path).rank("comb")
    assert other.asked[0] >= 4


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY", b"{}", b'{"size": 4}', os.urandom(2_000), None])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes | None) -> None:
    expected = ToolIndex(CARDS, Letters(), tmp_path).rank("comb")
    kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert {path.suffix for path in kept} == {".json", ".npy"}
    for path, content in kept.items():
        path.write_bytes(content[:-7] if damage is None else damage)
    assert ToolIndex(CARDS, Letters(), tmp_path).rank("comb") == expected
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == kept


def test_postings_that_point_beyond_the_cards_are_not_used(tmp_path: Path) -> None:
    expected = ToolIndex(CARDS, None, tmp_path).rank("comb")
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text().replace("[2,", "[70,"))
    assert ToolIndex(CARDS, None, tmp_path).rank("comb") == expected


def test_a_folder_that_cannot_be_written_costs_the_cache_only(tmp_path: Path) -> None:
    missing = tmp_path / "gone" / "further"
    assert ToolIndex(CARDS, Letters(), missing).rank("comb") == ToolIndex(CARDS, Letters()).rank("comb")


def test_an_index_of_nothing_and_a_name_that_it_does_not_hold() -> None:
    assert ToolIndex([]).rank("anything") == []
    with pytest.raises(UnknownNameError, match="zebra"):
        ToolIndex(CARDS).card("zebr")
    with pytest.raises(ValueError, match="two tools"):
        ToolIndex([*CARDS, CARDS[0]])


def test_a_card_can_be_made_of_a_schema_alone() -> None:
    schema = {"properties": {"city": {"description": "where"}, "odd": True}}
    card = card_of_schema(ToolSchema(name="getWeather", description="Says the weather.\n" * 30, input_schema=schema))
    assert card.title == "get weather"
    assert card.arguments == ("city where", "odd")
    assert len(card.line) <= 160
    assert "\n" not in card.line
    assert card_of_schema(ToolSchema(name="x", description="", input_schema={})).arguments == ()


def test_the_digest_changes_with_whatever_is_seen() -> None:
    one = ToolCard("a", "b", ("c",), ("d",))
    others = [ToolCard("a", "b", ("d",), ("c",)), ToolCard("a", "b", ("c", "d"), ()), ToolCard("a", "b c", (), ("d",))]
    assert len({digest_of([card]) for card in (one, *others)}) == 4
