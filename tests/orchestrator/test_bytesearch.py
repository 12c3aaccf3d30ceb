"""The quick search says what `bytes.find` says."""

from hypothesis import given
from hypothesis import strategies as st

from outcrop import bytesearch


@given(
    before=st.integers(0, 9000),
    filler=st.sampled_from([b"a", b"\x00", b'"completio', b"\n", b"\xff"]),
    after=st.integers(0, 9000),
    planted=st.booleans(),
    cut=st.tuples(st.integers(0, 40), st.integers(0, 40)),
    word=st.sampled_from([b'"completion"', b'"partial"', b"\x00\x01"]),
)
def test_contains_is_what_find_finds(
    before: int, filler: bytes, after: int, planted: bool, cut: tuple[int, int], word: bytes
) -> None:
    piece = filler * (before // len(filler)) + word * planted + filler * (after // len(filler))
    # The window is set around the word too, so that half a word and a word just outside are met.
    for start in {min(cut[0], len(piece)), min(before, len(piece)), max(0, min(before, len(piece)) - cut[0])}:
        for end in {len(piece) - min(cut[1], len(piece) - start), min(len(piece), start + 5000 + cut[1])}:
            assert bytesearch.contains(piece, word, start, end) == (piece.find(word, start, end) >= 0)


def test_without_memmem_the_answer_is_the_same(monkeypatch) -> None:
    monkeypatch.setattr(bytesearch, "_MEMMEM", None)
    piece = b"x" * 10_000 + b'"partial"'
    assert bytesearch.contains(piece, b'"partial"', 0, len(piece))
    assert not bytesearch.contains(piece, b'"partial"', 0, len(piece) - 1)
