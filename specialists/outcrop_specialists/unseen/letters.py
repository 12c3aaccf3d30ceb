"""The letters of a text in one form each, and the script of a word: what looks like another letter is no way round."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable

LATIN = "LATIN"
_ODD = "LATIN OF OTHER KINDS"
"""Small capitals, letters of phonetics and the like: they look like Latin ones and are others."""
_ONE_SCRIPT = {name: "CJK" for name in ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO")}
_NO_DOT, _KRA = 0x131, 0x138
_MARKED = ("LATIN", "GREEK", "CYRILLIC")
_SIGNS = frozenset("°®©™✓✔✗")
"""Signs that are no letters and may be shown; of all others some are figures (dice, Braille, clocks)."""
SYMBOLS = frozenset("μΩ")
"""They begin a unit of Latin letters: μm, μg, Ωm."""


def plain(text: str) -> str:
    """The text as it is read: NFKC, figures of every script as 0 to 9, nothing that is not seen, no accents but those
    that are letters of their own."""
    if "&" in text:
        text = html.unescape(text)
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", "".join(map(_figure, text)))
    found: list[str] = []
    for sign in text:
        kind = unicodedata.category(sign)
        is_mark = kind == "Mn" and found and unicodedata.name(found[-1], "").startswith(_MARKED)
        if kind in ("Cf", "Me") or is_mark or 0xFE00 <= ord(sign) <= 0xFE0F:
            continue
        found.append(" " if kind == "Cc" and sign not in "\n\r\t" else sign)
    return "".join(found)


def folded(text: str) -> str:
    """The text without accents, for comparing."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if unicodedata.category(sign) != "Mn")


def is_figure(sign: str) -> bool:
    """Whether a sign stands for a number in any script."""
    return sign.isdigit() if sign.isascii() else unicodedata.numeric(sign, None) is not None


def is_odd_sign(sign: str) -> bool:
    """Whether a sign is a picture, or of no script at all."""
    return unicodedata.category(sign) in ("So", "Co", "Cn", "Cs") and sign not in _SIGNS


def scripts_in(text: str) -> set[str]:
    """The scripts of the letters of a text."""
    return {script_of(sign) for sign in set(text) if sign.isalpha()}


def script_of(letter: str) -> str:
    code = ord(letter)
    if code < 0x180 or 0x1E00 <= code < 0x1F00 or letter in "\u00aa\u00ba":
        return _ODD if code in (_NO_DOT, _KRA) else LATIN
    first = unicodedata.name(letter, "").partition(" ")[0]
    return _ODD if first == LATIN else _ONE_SCRIPT.get(first, first)


def is_foreign(word: str, known: Iterable[str]) -> bool:
    """Whether a word mixes scripts, or is of one that is not among the known; `μm` is a unit."""
    scripts = scripts_in(word[1:] if len(word) > 1 and word[0] in SYMBOLS else word)
    return len(scripts) > 1 or not scripts <= {LATIN, *known}


def _figure(sign: str) -> str:
    """A figure that NFKC leaves as it is, or makes letters of, as 0 to 9."""
    kind = unicodedata.category(sign)
    if kind == "Nd":
        return str(unicodedata.digit(sign))
    if kind == "Nl" or (kind == "No" and unicodedata.normalize("NFKC", sign) == sign):
        return f"{unicodedata.numeric(sign):g}"
    return sign
