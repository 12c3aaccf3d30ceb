"""Reading compressed files."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from io import BytesIO
from zipfile import ZipFile

import polars as pl
import pytest

from outcrop_schemas import limits
from outcrop_schemas.errors import DataError
from outcrop_specialists.reading import packed
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext

WriteFile = Callable[[str, bytes], str]
TEXT = b"hole,Au\nK1,0.5\nK2,1.5\n"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_is_read_and_stays_what_it_is(
    context: ToolContext, write_file: WriteFile, pack: Callable[[bytes], bytes]
) -> None:
    table = read_table(context, write_file("t.csv.gz", pack(TEXT)))
    assert table.frame.rows() == [("K1", 0.5), ("K2", 1.5)]
    assert table.path == context.workspace / "t.csv.gz"
    assert table.notes[0].startswith("unpacked (")
    assert list(context.scratch.iterdir()) == []


def test_what_is_compressed_may_be_of_any_kind(context: ToolContext, write_file: WriteFile) -> None:
    parquet = BytesIO()
    pl.DataFrame({"v": [1, 2]}).write_parquet(parquet)
    las = b"~V\nVERS. 2.0:\nWRAP. NO:\n~C\nDEPT.M :\nGR. :\n~A\n1 2\n2 3\n"
    for name, content in (("a.gz", parquet.getvalue()), ("b.las.gz", las), ("c.gz", b'{"v": 1}\n{"v": 2}\n')):
        assert read_table(context, write_file(name, gzip.compress(content))).frame.height == 2


def test_errors_name_the_file_as_it_is_called(context: ToolContext, write_file: WriteFile) -> None:
    with pytest.raises(DataError, match=r"^t\.csv\.gz: line 3 has 3 fields"):
        read_table(context, write_file("t.csv.gz", gzip.compress(b"a,b\n1,2\n3,4,5\n")))
    with pytest.raises(DataError, match=r"^cut\.gz: cannot be unpacked"):
        read_table(context, write_file("cut.gz", gzip.compress(TEXT)[:-9]))
    with pytest.raises(DataError, match=r"^e\.gz: holds an empty file"):
        read_table(context, write_file("e.gz", gzip.compress(b"")))


def test_what_grows_too_large_is_refused(
    context: ToolContext, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 10)
    with pytest.raises(DataError, match="unpacks to more than 10 bytes"):
        read_table(context, write_file("t.gz", gzip.compress(TEXT)))
    assert list(context.scratch.iterdir()) == []


def test_a_zip_archive_is_read_where_it_is_clear_which_file(context: ToolContext) -> None:
    with ZipFile(context.workspace / "one.zip", "w") as archive:
        archive.writestr("folder/holes.csv", TEXT)
    assert read_table(context, "one.zip").frame.height == 2
    with ZipFile(context.workspace / "two.zip", "w") as archive:
        archive.writestr("holes.csv", TEXT)
        archive.writestr("in/tops.csv", b"hole,top\nK1,3\n")
    with pytest.raises(DataError, match=r"holds several files; name one of 'holes\.csv', 'in/tops\.csv'"):
        read_table(context, "two.zip")
    table = read_table(context, "two.zip#in/tops.csv")
    assert (table.name, table.frame.rows()) == ("in/tops.csv", [("K1", 3)])
    with pytest.raises(DataError, match=r"two\.zip: has no 'x\.csv'"):
        read_table(context, "two.zip#x.csv")


def test_a_workbook_is_no_archive(context: ToolContext, write_workbook: Callable[..., str]) -> None:
    path = context.workspace / write_workbook("b.xlsx", {"S": [["a"], [1]]})
    assert not packed.is_packed(path, b"PK\x03\x04")
