"""Which data files the offline lead works on, from what `list_files` says."""

from __future__ import annotations

from typing import Any

import pytest

from outcrop.models.offline.conversation import Answer, Call, Conversation
from outcrop.models.offline.profile import Column, Profile
from outcrop.models.offline.tables import find_tables, targets_of

Json = dict[str, Any]


def table(path: str, *columns: str) -> Json:
    return {
        "path": path,
        "rows": 9,
        "columns": [{"name": name, "type": "number", "role": "measure"} for name in columns],
    }


def conversation(objective: str, data: list[str], answers: dict[str, Json] | None = None) -> Conversation:
    """A conversation in which `list_files` was answered: without arguments under "", for tables under their paths."""
    found = Conversation(objective, data, {})
    for paths, results in (answers or {}).items():
        call = Call("list_files", {"tables": paths.split(",")} if paths else {})
        found._answers[call.key] = Answer("", {"results": results}, is_error=False)
    return found


def listed(*paths: str) -> Json:
    return {"files": [{"path": path, "kind": "table", "bytes": 1} for path in paths]}


def test_what_is_not_known_yet_is_asked_for() -> None:
    assert find_tables(conversation("map Au", ["a.csv", "b.csv"])).calls == [
        Call("list_files", {"tables": ["a.csv", "b.csv"]})
    ]
    assert find_tables(conversation("map Au", [])).calls == [Call("list_files", {})]


@pytest.mark.parametrize(
    ("files", "objective", "expected"),
    [
        (("wine.csv", "results/wine_old.csv"), "Summarise alcohol", "wine.csv"),
        (("wine.csv", "beer.csv"), "Summarise alcohol of beer", "beer.csv"),
        (("wine.csv", "a/beer.csv"), "Summarise alcohol in a/beer.csv", "a/beer.csv"),
        (("wine.csv", "results/old.csv"), "Summarise alcohol in results/old.csv", "results/old.csv"),
    ],
)
def test_without_a_data_file_the_only_or_the_named_table_is_taken(
    files: tuple[str, ...], objective: str, expected: str
) -> None:
    answers = {"": listed(*files), expected: {"tables": [table(expected, "alcohol")]}}
    tables = find_tables(conversation(objective, [], answers))
    assert [profile.path for profile in tables.profiles] == [expected]
    assert tables.notes == [f"No data file was given; taken: {expected}"]


@pytest.mark.parametrize(
    ("files", "blocker"),
    [
        (("wine.csv", "beer.csv"), "there are 2: wine.csv, beer.csv. Name one"),
        ((), "There is no table in the workspace; put a data file there and name it"),
    ],
)
def test_without_a_data_file_and_a_choice_the_files_are_named(files: tuple[str, ...], blocker: str) -> None:
    tables = find_tables(conversation("Summarise alcohol", [], {"": listed(*files)}))
    assert tables.profiles == []
    assert tables.calls == []
    assert blocker in tables.blockers[0]


def test_a_table_that_cannot_be_read_is_a_blocker_with_its_reason() -> None:
    answers = {"a.csv,b.csv": {"tables": [{"path": "a.csv", "error": "is a PDF document"}, table("b.csv", "Au")]}}
    tables = find_tables(conversation("map Au", ["a.csv", "b.csv"], answers))
    assert tables.blockers == ["a.csv cannot be used: is a PDF document"]
    assert [profile.path for profile in tables.profiles] == ["b.csv"]


def test_tables_that_did_not_fit_into_one_answer_are_asked_for_one_by_one() -> None:
    answers = {"a.csv,b.csv": {"tables": "a note of 9,000 characters in place of the tables"}}
    assert find_tables(conversation("map Au", ["a.csv", "b.csv"], answers)).calls == [
        Call("list_files", {"tables": ["a.csv"]}),
        Call("list_files", {"tables": ["b.csv"]}),
    ]


def test_a_refused_listing_is_a_blocker() -> None:
    found = conversation("map Au", ["a.csv"])
    call = Call("list_files", {"tables": ["a.csv"]})
    found._answers[call.key] = Answer("", {"error": {"message": "a.csv: does not exist"}}, is_error=True)
    assert find_tables(found).blockers == ["a.csv cannot be used: does not exist"]


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("summarise Cu", ["babbitt_assay.csv"]),
        ("draw a map by XCOLLAR and YCOLLAR", ["babbitt_collar.csv"]),
        ("draw a map of the collars", ["babbitt_collar.csv"]),
        ("remove duplicates", ["babbitt_assay.csv", "babbitt_collar.csv"]),
        ("remove duplicates in babbitt_assay.csv", ["babbitt_assay.csv"]),
    ],
)
def test_a_step_goes_to_the_tables_that_it_is_about(clause: str, expected: list[str]) -> None:
    profiles = [
        Profile("babbitt_assay.csv", (Column("BHID"), Column("Cu", "number", "element"))),
        Profile(
            "babbitt_collar.csv", (Column("BHID"), Column("XCOLLAR", "number", "x"), Column("YCOLLAR", "number", "y"))
        ),
    ]
    assert targets_of(clause, profiles) == expected
