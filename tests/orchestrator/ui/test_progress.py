"""What a dispatch does now is read from the end of its transcript, however long, odd or hostile that is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from outcrop.ui.progress import Progress, Transcripts
from outcrop_schemas import limits


def line(**fields: object) -> bytes:
    return json.dumps({"type": "progress", **fields}).encode() + b"\n"


def last(path: Path) -> Progress:
    return Transcripts().last([path])[0]


def test_the_last_whole_line_of_progress_counts(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    whole = line(text="first") + line(text="reading", done=3, total=1_200)
    path.write_bytes(whole + b'{"type":"log"}\n' + line(text="torn")[:-9])
    assert str(last(path)) == "reading (3 of 1,200)"
    path.write_bytes(line(tool="summarize", done=5))
    assert str(last(path)) == "summarize (5)"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n\n",
        b'no json with "progress" in it\n',
        b'["progress"]\n',
        b'{"type":"progress"',
        b'{"type":"completion","summary":""progress""}\n',
        b"\xff\xfe\x00" * 100,
        b'"progress"' * 100_000,
    ],
)
def test_what_is_no_progress_says_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.ndjson"
    path.write_bytes(content)
    assert str(last(path)) == ""


def test_odd_fields_are_no_text_and_hostile_text_is_harmless(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_bytes(line(text=["x"], done=True, total="many"))
    assert last(path).text == ""
    path.write_bytes(line(text="\x1b[2J\u202eabc" + "x" * 5_000))
    told = str(last(path))
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert len(told) < 200


def test_only_the_end_is_read_and_only_where_something_came(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_bytes(line(text="old") + b"x" * (2 * limits.UI_TAIL_BYTES) + b"\n")
    looking = Transcripts()
    assert looking.last([path]) == [Progress()]
    with path.open("ab") as file:
        file.write(line(text="new"))
    assert looking.last([path]) == [Progress("new")]
    path.chmod(0)
    assert looking.last([path]) == [Progress("new")]
    path.unlink()
    assert looking.last([path]) == [Progress("new")]
    assert looking.last([]) == []
    assert looking.last([path]) == [Progress()]
