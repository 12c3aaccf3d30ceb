"""What is put aside comes back byte for byte, in pages of any kind."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError, SpillError
from outcrop_specialists.context.store import Store, Unit
from outcrop_specialists.toolbox import bounded

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


RECORDS = [f'{{"path":"results/{n}.csv","rows":[{n},1,2]}}' for n in range(50)]


@pytest.mark.parametrize(
    "text",
    [
        "[" + ",".join(RECORDS) + "]",
        '{"summary":"a, [b","tags":["x","y"],"results":{"n":1,"files":[' + ", ".join(RECORDS) + ']},"more":[1,2,3]}',
        "\n".join(RECORDS) + "\n",
    ],
)
def test_a_record_is_an_element_of_the_longest_list_of_records(tmp_path: Path, text: str) -> None:
    store = Store(tmp_path / "s")
    handle = store.put(text)
    for n in (0, 1, 25, 49):
        page = store.page(handle, "record", n, 1)
        assert RECORDS[n] in page.text
        assert page.text.count(".csv") == 1
    with pytest.raises(ArgumentError, match="there are 50 records"):
        store.page(handle, "record", 51)
    assert read_whole(store, handle, "record", 7) == text


@pytest.mark.parametrize("text", ["[put aside: not JSON\nat all\n", '{"a":[1,2}\n', '["a', "[1],\n[2]\n", "", "[]"])
def test_what_is_no_json_after_all_has_its_lines_as_records(tmp_path: Path, text: str) -> None:
    store = Store(tmp_path / "s")
    handle = store.put(text)
    assert store.page(handle, "record", 0, 1).text == store.page(handle, "line", 0, 1).text
    assert read_whole(store, handle, "record", 1) == text


def test_find_gives_every_place_in_one_long_line_and_where_to_read_on(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    text = "first\n" + " ".join(f"é{'x' * 400}Straße_{n}" for n in range(10))
    handle = store.put(text)
    found = store.find(handle, "STRAßE_")
    assert [place["line"] for place in found] == [1] * 10
    for n, place in enumerate(found):
        assert f"Straße_{n}" in place["text"]
        assert store.page(handle, "byte", place["byte"], 9).text == f"Straße_{n}"
        assert len(place["text"]) <= limits.FOUND_CHARS


@pytest.mark.parametrize("start", [-1, -(10**9)])
def test_the_store_itself_gives_no_page_of_less_than_something(tmp_path: Path, start: int) -> None:
    store = Store(tmp_path / "s")
    handle = store.put("word " * 100_000)
    for unit in ("line", "record", "byte"):
        with pytest.raises(ArgumentError, match="start"):
            store.page(handle, unit, start)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="count"):
            store.page(handle, unit, 0, start)  # type: ignore[arg-type]


@pytest.mark.parametrize("line", ["mean = 1.5 g/t\n", "mean = 1.5 g/t; "])
def test_a_result_of_200_megabytes_is_put_aside_and_read_in_little_memory(tmp_path: Path, line: str) -> None:
    store = Store(tmp_path / "s")
    text = line * (200_000_000 // len(line)) + "the end"
    tracemalloc.start()
    begun = time.process_time()
    told = bounded(text, store)
    handle = told.partition("read_result ")[2].partition('"')[0]
    pages = [
        store.page(handle),
        store.page(handle, "line", 0, 10**9),
        store.page(handle, "record"),
        store.page(handle, "byte", 150_000_000, 10**9),
    ]
    found = store.find(handle, "THE END")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(told) <= limits.TOOL_RESULT_CHARS
    assert all(0 < len(page.text) <= limits.PAGE_CHARS for page in pages)
    assert [place["byte"] for place in found] == [len(text) - len("the end")]
    # Next to the text itself: a few blocks, never a second copy.
    assert peak < 20_000_000
    # A bound for what grows with the square of it; the speed itself is for `scripts/bench_*.py`.
    assert time.process_time() - begun < 60
