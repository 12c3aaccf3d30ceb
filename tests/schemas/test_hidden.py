"""Characters that nobody sees are shown, and JSON says them without losing them."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outcrop_schemas.hidden import json_escaped, visible

UNSEEN = ["\x7f", "\x85", "\xad", "\u061c", "\u200b", "\u2028", "\u202e", "\u2066", "\ufeff", "\U000e0041"]


@given(some.lists(some.one_of(some.sampled_from(UNSEEN), some.characters(exclude_categories=["Cs"]))).map("".join))
def test_json_says_the_same_in_escapes(text: str) -> None:
    said = json_escaped(json.dumps({"a": text}, ensure_ascii=False))
    assert json.loads(said) == {"a": text}
    assert not any(hidden in said for hidden in UNSEEN)


@given(some.text())
def test_what_is_shown_has_no_hidden_character_and_can_be_written(text: str) -> None:
    shown = visible(text + "\ud800\U000e0041\x1b[31m")
    assert shown.encode()
    assert not any(hidden in shown for hidden in [*UNSEEN, "\x1b"])
    assert shown.endswith("\\ud800\\U000e0041\\x1b[31m")
    assert visible("a\n\tb é Ω 𝄞") == "a\n\tb é Ω 𝄞"


def test_no_character_that_is_hidden_counts_as_printable() -> None:
    shown = [chr(number) for number in range(sys.maxunicode + 1) if chr(number).isprintable()]
    # A letter between them: marks are not piled up.
    assert visible("\n" + "a".join(shown)) == "\n" + "a".join(shown)


@pytest.mark.parametrize("mark", ["\u0301", "\u0e49", "\u20d2", "\u0360"])
def test_marks_cannot_be_piled_onto_the_lines_around(mark: str) -> None:
    assert visible("Z" + mark * 400) == "Z" + mark * 4 + f"\\u{ord(mark):04x}" * 396
    assert visible(f"a{mark * 4}b{mark * 4}") == f"a{mark * 4}b{mark * 4}"


@pytest.mark.parametrize("text", ["Việt Nữ̛̀", "กำ้", "שָׁלוֹם", "a\u0308\u0304", "µg/l · 0.5–1 °C"])
def test_words_with_marks_are_as_they_are(text: str) -> None:
    assert visible(text) == text
