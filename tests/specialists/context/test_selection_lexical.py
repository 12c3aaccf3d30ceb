"""Words, notions and shapes of a text; BM25F of cards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas import limits
from outcrop_specialists.context.selection.cards import ToolCard
from outcrop_specialists.context.selection.clauses import clauses_of, plain
from outcrop_specialists.context.selection.lexical import (
    STOP_WORDS,
    LexicalIndex,
    lexical_data_of,
    split_compound,
    stem,
    terms_of,
)
from outcrop_specialists.context.selection.thesaurus import elements, notions


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fix_decimals", ["fix", "decimals"]),
        ("camelCaseName", ["camel", "Case", "Name"]),
        ("Server.HTMLPage", ["Server", "HTML", "Page"]),
        ("AI2sql", ["AI", "2", "sql"]),
        ("PDF&URLTool", ["PDF", "URL", "Tool"]),
        ("naïve", ["naïve"]),
        ("我想", ["我想"]),
        ("__", []),
    ],
)
def test_a_compound_name_is_taken_apart(name: str, words: list[str]) -> None:
    assert split_compound(name) == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("normalising", "normalizes"),
        ("colours", "color"),
        ("centred", "centered"),
        ("metre", "meters"),
        ("grey", "gray"),
        ("down-hole", "downhole"),
        ("z-score", "zscore"),
        ("duplicated", "duplicates"),
    ],
)
def test_spellings_and_endings_of_a_word_meet(one: str, other: str) -> None:
    assert set(terms_of(one)) & set(terms_of(other))


@pytest.mark.parametrize(("one", "other"), [("Cu", "Zn"), ("gold", "arsenic"), ("Au", "gold")])
def test_of_an_element_no_more_is_kept_than_that_it_is_one(one: str, other: str) -> None:
    assert terms_of(one) == terms_of(other) == ["=element"]


@pytest.mark.parametrize("word", ["lead", "as", "in", "no", "be", "I", "at"])
def test_a_word_is_not_taken_for_an_element(word: str) -> None:
    assert "=element" not in terms_of(word)


@pytest.mark.parametrize(
    ("shape", "shown", "not_shown"),
    [
        ("=fill value", ["set -999 to nothing", "99999", "-999.25", "-9999"], ["1999", "99 %", "0.999"]),
        ("=decimal comma", ["3,14", "0,35 g/t", "1.234,56"], ["1,000 rows", "1, 2 and 3", "1,234,567"]),
        ("=below or above a limit", ["<0.005", "it says >100", "(<5)"], ["Cu>500", "a < b", "->"]),
        ("=condition", ["Cu>500", "depth <= 10", "a == 3"], ["<0.005", "500"]),
        ("=formula", ["(a+b)/c", "b4-b2", "Cu * 2"], ["from-to", "and/or", "g/t"]),
        ("=ratio", ["Cu/Zn please", "Rb/Sr"], ["g/t", "and/or", "QA/QC"]),
        ("=zero to one", ["from 0 to 1", "0-1", "0.0 – 1.0"], ["10 to 1", "0 to 10", "0.1"]),
    ],
)
def test_signs_and_figures_show_what_is_meant(shape: str, shown: list[str], not_shown: list[str]) -> None:
    assert [text for text in shown if shape not in terms_of(text)] == []
    assert [text for text in not_shown if shape in terms_of(text)] == []


def test_words_that_stand_for_one_another_share_a_notion_and_a_word_counts_more() -> None:
    cards = [ToolCard("a", "Looks at holes."), ToolCard("b", "Looks at boreholes."), ToolCard("c", "Looks at rows.")]
    hole, borehole, rows = LexicalIndex(lexical_data_of(cards)).scores(terms_of("borehole"))
    assert borehole > hole > rows == 0


def test_the_thesaurus_names_words_only() -> None:
    assert all(term.startswith("=") and " " not in word for word, term in notions().items())
    assert not {word for word in elements() if word.lower() in STOP_WORDS and word.islower()}


def test_an_argument_counts_less_than_a_description_and_that_less_than_a_name() -> None:
    cards = [
        ToolCard("one", "It works.", arguments=("kriging the weights",)),
        ToolCard("two", "It does kriging."),
        ToolCard("kriging", "It works."),
    ]
    argument, description, name = LexicalIndex(lexical_data_of(cards)).scores(terms_of("kriging"))
    assert name > description > argument > 0


def test_a_phrase_that_is_said_whole_is_worth_more_than_its_words_apart() -> None:
    together = ToolCard("a", "x", ("stop short",))
    apart = ToolCard("b", "x", ("stop now", "short holes"))
    whole, parts = LexicalIndex(lexical_data_of([together, apart])).scores(terms_of("they stop short"))
    assert whole > parts


@given(st.text(max_size=200), st.lists(st.text(max_size=40), max_size=5))
def test_any_text_is_scored_and_never_below_zero(request_: str, descriptions: list[str]) -> None:
    index = LexicalIndex(lexical_data_of([ToolCard(f"t{n}", text) for n, text in enumerate(descriptions)]))
    scores = index.scores(terms_of(request_))
    assert len(scores) == len(descriptions)
    assert all(score >= 0 for score in scores)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12))
def test_the_stem_of_a_word_is_always_the_same(word: str) -> None:
    assert stem(word) == stem(word)


def test_the_clauses_of_a_request_are_all_that_was_said() -> None:
    said = "Join the assays with the lithology, then composite to two metres. Plot it; and map the best holes"
    found = clauses_of(said)
    assert len(found) == 3
    assert all(len(clause.split()) >= 4 for clause in found)
    assert "Plot it" in " ".join(found)


@given(st.lists(st.sampled_from(["sort the rows by gold", "plot", "and then ", ". ", "; ", "\n", "x"]), max_size=200))
def test_however_long_a_request_is_its_clauses_are_bounded(pieces: list[str]) -> None:
    assert 1 <= len(clauses_of("".join(pieces))) <= limits.REQUEST_CLAUSES


def test_the_name_of_a_file_is_no_word_of_a_request() -> None:
    assert plain("Describe data/wells_2019.csv and dem.tif") == "Describe the table and the raster"
    assert plain("keep 0.5 g/t e.g. here") == "keep 0.5 g/t e.g. here"
