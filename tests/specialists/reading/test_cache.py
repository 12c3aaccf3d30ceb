"""Typed copies of tables: used while the file is the same, never otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import polars as pl
import pytest

from outcrop_schemas import limits
from outcrop_specialists.reading import cache, fingerprints, tables
from outcrop_specialists.reading.cache import StoredTable
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.lineage import sha256_of

WriteFile = Callable[[str, str | bytes], str]
TEXT = "id,Au,Cu,taken,log,dry\n,ppm,,,,\n" + "".join(
    f'{n},{"<0.01" if n % 9 == 0 else n / 7},{n / 3},2020-01-{n % 28 + 1:02d},"w {n}",{"true" if n % 2 else "false"}\n'
    for n in range(1, 200)
)


@pytest.fixture(autouse=True)
def _cached(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache as the orchestrator makes it; every file is large enough for it."""
    monkeypatch.setattr(limits, "CACHED_FROM_BYTES", 0)
    folder = context.workspace / ".outcrop" / "cache"
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o700)
    return folder


def copies(context: ToolContext) -> list[Path]:
    return sorted((context.workspace / ".outcrop/cache/tables").glob("*.parquet"))


def assert_same(one: Table, other: Table) -> None:
    assert one.frame.schema == other.frame.schema
    assert one.frame.equals(other.frame, null_equal=True)
    for each in fields(Table):
        if each.name != "frame":
            assert getattr(one, each.name) == getattr(other, each.name), each.name


def test_the_second_reading_gives_the_same_table_from_a_typed_copy(context: ToolContext, write_file: WriteFile) -> None:
    name = write_file("t.csv", TEXT)
    first, second = read_table(context, name), read_table(context, name)
    assert not isinstance(first, StoredTable)
    assert isinstance(second, StoredTable)
    assert first.units
    assert first.qualifiers
    assert first.notes
    assert_same(second, first)
    (stored,) = copies(context)
    assert stored.stat().st_mode & 0o077 == 0
    assert stored.parent.stat().st_mode & 0o077 == 0


def test_only_the_columns_asked_for_are_read(context: ToolContext, write_file: WriteFile) -> None:
    name = write_file("t.csv", TEXT)
    whole = read_table(context, name).frame
    table = read_table(context, name)
    assert isinstance(table, StoredTable)
    assert table.height == whole.height
    assert table.columns == whole.columns
    assert table.schema == whole.schema
    assert table.column("Cu").equals(whole.get_column("Cu"))
    assert table.select(["log", "Cu"]).equals(whole.select("log", "Cu"))
    assert table.scan().select(pl.col("Cu").sum()).collect().item() == whole["Cu"].sum()
    assert "frame" not in table.__dict__
    assert set(table._read) == {"Cu", "log"}
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        table.column("Pb")


def test_a_stored_table_can_be_derived_from_like_any_other(context: ToolContext, write_file: WriteFile) -> None:
    name = write_file("t.csv", TEXT)
    read_table(context, name)
    table = read_table(context, name)
    part = replace(table, frame=table.select(["Cu"]).head(3))
    assert part.columns == ["Cu"]
    assert part.height == 3
    assert part.scan().collect().equals(part.frame)
    assert part.units == table.units


def test_a_changed_file_is_read_anew(context: ToolContext, write_file: WriteFile) -> None:
    name = write_file("t.csv", TEXT)
    read_table(context, name)
    write_file("t.csv", TEXT.replace("w 7", "other"))
    table = read_table(context, name)
    assert not isinstance(table, StoredTable)
    assert "other" in table.frame["log"].to_list()
    assert len(copies(context)) == 2


def test_a_change_that_hides_behind_size_and_time_is_seen(
    context: ToolContext, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "SMALL_BYTES", 0)
    monkeypatch.setattr(fingerprints, "SETTLED_NS", -(10**15))
    name = write_file("t.csv", TEXT)
    path = context.workspace / name
    before = path.stat()
    read_table(context, name)
    assert fingerprints._kept(context.workspace, str(path)) is not None
    with path.open("r+b") as file:
        file.write(TEXT.replace("w 7", "v 7").encode())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "v 7" in read_table(context, name).frame["log"].to_list()


def test_a_hash_is_remembered_for_files_that_are_settled_only(
    context: ToolContext, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "SMALL_BYTES", 0)
    path = context.workspace / write_file("t.csv", TEXT)
    found = fingerprints.fingerprint(context.workspace, path)
    assert found == sha256_of(path)
    assert fingerprints._kept(context.workspace, str(path)) is None, "it was written a moment ago"
    monkeypatch.setattr(fingerprints, "SETTLED_NS", -(10**15))
    assert fingerprints.fingerprint(context.workspace, path) == found
    monkeypatch.setattr(fingerprints, "_known", {})
    monkeypatch.setattr(fingerprints, "sha256_of", lambda path: pytest.fail("hashed again"))
    assert fingerprints.fingerprint(context.workspace, path) == found


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "manifest", "foreign"])
def test_a_damaged_or_foreign_copy_is_not_used_and_made_anew(
    context: ToolContext, write_file: WriteFile, damage: str
) -> None:
    name = write_file("t.csv", TEXT)
    first = read_table(context, name)
    (stored,) = copies(context)
    content = bytearray(stored.read_bytes())
    if damage == "cut":
        stored.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        content[len(content) // 3] ^= 1
        stored.write_bytes(content)
    elif damage == "gone":
        stored.unlink()
    elif damage == "manifest":
        stored.with_suffix(".json").write_text('{"state": [')
    else:
        stored.unlink()
        pl.DataFrame({"id": [1]}).write_parquet(stored)
    again = read_table(context, name)
    assert not isinstance(again, StoredTable)
    assert_same(again, first)
    assert isinstance(read_table(context, name), StoredTable)


def test_another_reader_does_not_use_the_copy(
    context: ToolContext, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write_file("t.csv", TEXT)
    read_table(context, name)
    assert len(cache.reader_version()) == 64
    monkeypatch.setattr(cache, "reader_version", lambda: "another")
    assert not isinstance(read_table(context, name), StoredTable)


def test_the_cache_is_bounded_and_the_copy_used_longest_ago_goes_first(
    context: ToolContext, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [write_file(f"{n}.csv", TEXT.replace("w 7", f"w {n}")) for n in range(4)]
    for age, name in enumerate(names[:3]):
        read_table(context, name)
        newest = max(copies(context), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest.with_suffix(".json"), (1_000 + age, 1_000 + age))
    read_table(context, names[0])
    size = copies(context)[0].stat().st_size
    monkeypatch.setattr(limits, "TABLE_CACHE_BYTES", int(3.5 * size))
    read_table(context, names[3])
    assert len(copies(context)) == 3
    assert [isinstance(read_table(context, name), StoredTable) for name in (names[0], names[2], names[3])] == [True] * 3
    assert not isinstance(read_table(context, names[1]), StoredTable)


@pytest.mark.parametrize("place", ["none", "link", "writable by others", "file"])
def test_without_a_cache_of_our_own_tables_are_read_as_ever(
    context: ToolContext, write_file: WriteFile, place: str, tmp_path: Path
) -> None:
    folder = context.workspace / ".outcrop" / "cache"
    if place == "writable by others":
        folder.chmod(0o777)
    else:
        folder.rmdir()
    if place == "link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    if place == "file":
        folder.write_text("")
    name = write_file("t.csv", TEXT)
    for _ in range(2):
        assert not isinstance(read_table(context, name), StoredTable)
    assert not list(tmp_path.glob("elsewhere/*"))


def test_small_files_get_no_copy(context: ToolContext, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CACHED_FROM_BYTES", 100_000)
    name = write_file("t.csv", TEXT)
    read_table(context, name)
    assert not copies(context)


def test_a_file_that_changes_while_it_is_read_leaves_no_copy(
    context: ToolContext, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write_file("t.csv", TEXT)
    read = tables._read

    def slow(*arguments: object) -> Table:
        found = read(*arguments)  # type: ignore[arg-type]
        write_file("t.csv", TEXT.replace("w 7", "other"))
        return found

    monkeypatch.setattr(tables, "_read", slow)
    read_table(context, name)
    assert not copies(context)
