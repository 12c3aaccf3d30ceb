"""What was printed is on disk: all of it, or head and tail with the number of bytes between."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop.transcript import Transcript


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=30), st.integers(4, 60))
def test_head_and_tail_are_kept_and_the_rest_is_counted(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], kept: int
) -> None:
    path = tmp_path_factory.mktemp("t") / "d1.ndjson"
    transcript = Transcript(path, kept)
    for chunk in chunks:
        transcript.write(chunk)
    transcript.close()
    whole = b"".join(chunks)
    if not whole:
        assert not path.exists()
    elif len(whole) <= 2 * kept:
        assert path.read_bytes() == whole
    else:
        marker = f"\n… {len(whole) - 2 * kept} bytes are left out here …\n".encode()
        assert path.read_bytes() == whole[:kept] + marker + whole[-kept:]
    assert transcript.error is None


def test_a_transcript_that_cannot_be_written_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "nowhere" / "d1.ndjson")
    transcript.write(b"x")
    transcript.write(b"y")
    transcript.close()
    assert transcript.error is not None
    assert "could not be written" in transcript.error
