"""What is put aside comes back byte for byte, in pages of any kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError, SpillError
from outcrop_specialists.context.store import Store, Unit

TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(st.text(max_size=30), max_size=40).map("\n".join),
    st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=9), max_size=3), max_size=20).map(json.dumps),
    st.lists(st.integers(), max_size=30).map(lambda found: json.dumps(found, indent=1) + "\n"),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(text=TEXTS, unit=st.sampled_from(["line", "record", "byte"]), count=st.integers(1, 50))
def test_pages_put_one_behind_the_other_are_the_text(tmp_path: Path, text: str, unit: Unit, count: int) -> None:
    store = Store(tmp_path / "stored")
    assert read_whole(store, store.put(text), unit, count) == text


@pytest.mark.parametrize("unit", ["line", "record", "byte"])
def test_a_line_longer_than_a_page_goes_on_by_bytes(tmp_path: Path, unit: Unit) -> None:
    store = Store(tmp_path / "stored")
    text = "short\n" + "é" * (limits.PAGE_CHARS * 2) + "\nend\n"
    assert read_whole(store, store.put(text), unit, 100) == text


def read_whole(store: Store, handle: str, unit: Unit, count: int) -> str:
    text, start, at = "", 0, unit
    while True:
        page = store.page(handle, at, start, count)
        assert len(page.text) <= limits.PAGE_CHARS
        text += page.text
        if page.next_unit is None or page.next_start is None:
            return text
        assert (page.next_unit, page.next_start) != (at, start), "every page brings it further"
        at, start = page.next_unit, page.next_start


def test_the_same_text_is_kept_once_and_nothing_beyond_the_quota(tmp_path: Path) -> None:
    store = Store(tmp_path / "stored", quota=10)
    assert store.put("12345678") == store.put("12345678")
    with pytest.raises(SpillError, match="may hold 10 bytes"):
        store.put("another")
    assert [path.read_text() for path in (tmp_path / "stored").iterdir()] == ["12345678"]


def test_a_store_without_a_folder_gives_the_same_handles(tmp_path: Path) -> None:
    assert Store(None).put("a text") == Store(tmp_path / "s").put("a text")


@pytest.mark.parametrize("handle", ["../../etc/passwd", "", "nothing", "a/b", "é"])
def test_a_handle_that_is_none_is_refused(tmp_path: Path, handle: str) -> None:
    store = Store(tmp_path)
    with pytest.raises(ArgumentError, match="nothing is put aside"):
        store.page(handle)


def test_a_start_beyond_the_end_is_told_with_what_there_is(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    handle = store.put("a\nb\n")
    with pytest.raises(ArgumentError, match="there are 2 lines, so none begins at 5"):
        store.page(handle, "line", 5)


def test_find_gives_the_lines_with_their_numbers(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    handle = store.put("alpha\nBeta gold\n" + "x" * 5_000 + " gold " + "y" * 5_000 + "\n")
    first, second = store.find(handle, "GOLD")
    assert (first["line"], first["text"]) == (1, "Beta gold")
    assert second["line"] == 2
    assert "gold" in second["text"]
    assert len(second["text"]) <= limits.FOUND_CHARS
