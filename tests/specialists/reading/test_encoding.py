"""From bytes to text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.encoding import decode
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext


@pytest.mark.parametrize(
    ("text", "encoding", "note"),
    [
        ("样品,深度,金\n样1,1.5,0.2\n样2,2.5,0.3\n", "gb18030", "read as GB18030"),
        ("試料,深さ,金\n試料1,1.5,0.2\n安山岩,2,3\n", "shift_jis", "read as CP932"),
        ("시료,깊이,금\n시료1,1.5,0.2\n", "euc_kr", "read as CP949"),
        ("Проба,Глубина,Золото\nП1,1.5,0.2\n", "cp1251", "read as Windows-1251"),
        ("Station,Temp °C,µS/cm\nA,2,3\n", "cp1252", "read as Windows-1252 (2 letters beyond ASCII)"),
        ("Échantillon,Altération\nE1,forte\nE2,très forte\n", "cp1252", "read as Windows-1252"),
        ("Probe;Größe\nä;1\n", "utf-16-le", "no byte-order mark; read as UTF-16"),
        ("Probe;Größe\nä;1\n", "utf-16-be", "no byte-order mark; read as UTF-16"),
    ],
)
def test_the_encoding_is_found_and_told(text: str, encoding: str, note: str) -> None:
    found, notes = decode("t.csv", text.encode(encoding))
    assert found == text
    assert any(note in each for each in notes)


def test_a_few_lines_in_another_encoding_are_read_and_counted() -> None:
    lines = ["Ort,Wert", "Höhe,1", "Größe,2", "Öl,3"]
    data = b"\n".join(line.encode("cp1252" if number == 2 else "utf-8") for number, line in enumerate(lines))
    text, notes = decode("t.csv", data)
    assert text.split("\n") == lines
    assert notes == ["1 lines are not UTF-8 and were read as Windows-1252, the first is line 3"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a,b\nx\ufffdy,1\n", "CHECK: 1 letters were lost before (U+FFFD stands for them), the first in line 2"),
        ("a,b\nHÃ¶he,1\nÂ°C,2\n", "SUSPECTED damaged letters (text saved in a wrong encoding): 2 places"),
        ("a,b\n45∞ N,1\n", "SUSPECTED damaged letters"),
    ],
)
def test_damage_done_before_is_told_and_not_repaired(text: str, note: str) -> None:
    found, notes = decode("t.csv", text.encode())
    assert found == text
    assert any(note in each for each in notes)


def test_plain_text_needs_no_note() -> None:
    assert decode("t.csv", "Größe,δ13C\r\n1,2\r\n".encode()) == ("Größe,δ13C\n1,2\n", [])


@pytest.mark.parametrize("data", [b"a,b\n1,\0\n", bytes(range(256)), b"\xff\xfea\0b"])
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(DataError, match=r"^t\.csv: "):
        decode("t.csv", data)


def test_a_table_in_another_script_keeps_its_names(context: ToolContext, write_file: Callable[..., str]) -> None:
    table = read_table(context, write_file("t.csv", "样品,深度\n样1,1.5\n样2,2.5\n".encode("gb18030")))
    assert table.frame.to_dict(as_series=False) == {"样品": ["样1", "样2"], "深度": [1.5, 2.5]}
