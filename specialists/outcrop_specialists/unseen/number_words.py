"""Numbers that are written in words, in English, German, French and Spanish, and those in Roman letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from outcrop_specialists.unseen.letters import folded

STANDS = 3
"""A single word for a number up to this stands in any prose: one, two, three."""
_ONES = (
    ("zero", "nought", "null", "cero"),
    ("one", "ein", "eine", "eins", "un", "une", "uno", "una", "first"),
    ("two", "zwei", "zwo", "deux", "dos", "second"),
    ("three", "drei", "trois", "tres", "third", "thirds"),
    ("four", "vier", "quatre", "cuatro", "fourth", "fourths"),
    ("five", "funf", "fuenf", "cinq", "cinco", "fifth", "fifths"),
    ("six", "sechs", "seis", "sixth", "sixths"),
    ("seven", "sieben", "sept", "siete", "seventh", "sevenths"),
    ("eight", "acht", "huit", "ocho", "eighth", "eighths"),
    ("nine", "neun", "neuf", "nueve", "ninth", "ninths"),
    ("ten", "zehn", "dix", "diez", "tenth", "tenths"),
    ("eleven", "elf", "onze", "once", "eleventh"),
    ("twelve", "zwolf", "zwoelf", "douze", "doce", "twelfth"),
    ("thirteen", "dreizehn", "treize", "trece", "thirteenth"),
    ("fourteen", "vierzehn", "quatorze", "catorce", "fourteenth"),
    ("fifteen", "funfzehn", "fuenfzehn", "quinze", "quince", "fifteenth"),
    ("sixteen", "sechzehn", "seize", "dieciseis", "sixteenth"),
    ("seventeen", "siebzehn", "diecisiete", "seventeenth"),
    ("eighteen", "achtzehn", "dieciocho", "eighteenth"),
    ("nineteen", "neunzehn", "diecinueve", "nineteenth"),
)  # fmt: skip
_TENS = {
    20: ("twenty", "zwanzig", "vingt", "vingts", "veinte", "veinti", "twentieth"),
    30: ("thirty", "dreissig", "dreißig", "trente", "treinta", "thirtieth"),
    40: ("forty", "fourty", "vierzig", "quarante", "cuarenta", "fortieth"),
    50: ("fifty", "funfzig", "fuenfzig", "cinquante", "cincuenta", "fiftieth"),
    60: ("sixty", "sechzig", "soixante", "sesenta", "sixtieth"),
    70: ("seventy", "siebzig", "septante", "setenta", "seventieth"),
    80: ("eighty", "achtzig", "huitante", "octante", "ochenta", "eightieth"),
    90: ("ninety", "neunzig", "nonante", "noventa", "ninetieth"),
    500: ("quinientos", "quinientas"),
    700: ("setecientos", "setecientas"),
    900: ("novecientos", "novecientas"),
}
_TIMES = {
    12: ("dozen", "dozens", "dutzend", "douzaine", "docena"),
    100: ("hundred", "hundreds", "hundredth", "hundredths", "hundert", "cent", "cents", "cien", "ciento", "cientos"),
    1000: ("thousand", "thousands", "thousandth", "thousandths", "tausend", "mille", "mil"),
    10**6: ("million", "millions", "millionen", "millon", "millones"),
    10**9: ("billion", "billions", "milliarde", "milliarden", "milliard", "milliards"),
}
_POINTS = frozenset(("point", "dot", "comma", "komma", "punkt", "virgule", "coma", "punto"))
_ANDS = frozenset(("and", "und", "et", "y"))
_PARTS = {"half": 0.5, "halves": 0.5, "quarter": 0.25, "quarters": 0.25}
_VALUES: dict[str, float] = {
    **{word: value for value, words in enumerate(_ONES) for word in words},
    **{word: value for value, words in {**_TENS, **_TIMES}.items() for word in words},
    **_PARTS,
}
_MULTIPLIES = frozenset(word for words in _TIMES.values() for word in words)
_HALVES = frozenset(("second", "third", "half", "halves", "quarter", "quarters"))
"""Of these alone there is no number: the second half, the third quarter."""
_ORDERS = ("first", "second", "third")
"""The third one is no thirty-one."""
_OTHER_MEANINGS = frozenset((
    "once", "cent", "cents", "sept", "mil", "mille", "elf", "null", "second", "half", "halves", "quarter", "quarters",
    "third", "thirds", "dos", "quince", "nonante", "octante", "seize", "dix",
))  # fmt: skip
"""One of these by itself is another word of some language, or no figure."""
_WORD = re.compile(r"[^\W_]+")
_BETWEEN = re.compile(r"[\s\-\u2010-\u2015,./·:_*'\"|]{1,4}")
_UPPER = re.compile(r"(?=..)M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_LOWER = re.compile(r"(?=..)x{0,3}(?:ix|iv|v?i{0,3})")
_NO_ROMAN = frozenset(
    ("CI", "CV", "CD", "MD", "MM", "CM", "DC", "CC", "MC", "DM", "CL", "DL", "MDL", "MI", "DI", "MIX", "DIM")
)
"""Shorter words for other things: a confidence interval, a coefficient of variation."""
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


@dataclass(frozen=True)
class Worded:
    """A number in words: where it stands, and its value in figures, None where it is not to be told."""

    start: int
    end: int
    value: str | None


def worded_numbers(text: str) -> Iterator[Worded]:
    """Every number in words, longest first: two words or more in a row, also with figures or glued together, single
    words beyond `STANDS`, Roman ones of two letters and more."""
    run: list[tuple[int, int, list[str]]] = []
    for match in _WORD.finditer(text):
        pieces = [match[0]] if match[0].isdigit() else _pieces(folded(match[0].lower()))
        if run and pieces and not _BETWEEN.fullmatch(text[run[-1][1] : match.start()]):
            yield from _told(run)
            run = []
        if not pieces:
            yield from _told(run)
            run = []
            if (roman := _roman(match[0])) is not None:
                yield Worded(match.start(), match.end(), str(roman))
            continue
        run.append((match.start(), match.end(), pieces))
    yield from _told(run)


def _told(run: list[tuple[int, int, list[str]]]) -> Iterator[Worded]:
    """The number that a run of words is, if it is one."""
    while run and _is_link(run[0][2]):
        run = run[1:]
    while run and _is_link(run[-1][2]):
        run = run[:-1]
    pieces = [piece for _, _, each in run for piece in each]
    words = [piece for piece in pieces if piece in _VALUES]
    if not words and len(pieces) > 1 and any(piece in _POINTS for piece in pieces):
        yield Worded(run[0][0], run[-1][1], _value(pieces))
    if not words or (len(pieces) == 1 and words[0] in _OTHER_MEANINGS) or _HALVES.issuperset(pieces):
        return
    if len(pieces) == 1 and _VALUES[words[0]] <= STANDS and words[0] not in _ONES[0]:
        return
    if len(pieces) == 2 and pieces[0] in _ORDERS and pieces[1] == "one":
        return
    # `one and two` are two numbers, `hundred and two` is one.
    for place in range(1, len(pieces) - 1):
        if pieces[place] == "and" and pieces[place - 1] not in _MULTIPLIES and len(run) == len(pieces):
            yield from _told(run[:place])
            yield from _told(run[place + 1 :])
            return
    yield Worded(run[0][0], run[-1][1], _value(pieces))


def _is_link(pieces: list[str]) -> bool:
    return len(pieces) == 1 and (pieces[0] in _ANDS or pieces[0] in _POINTS)


@lru_cache(4096)
def _cut(word: str) -> tuple[str, ...]:
    """The number words that a word is made of; none where something else is in it."""
    if word in _VALUES or word in _POINTS or word in _ANDS:
        return (word,)
    for end in range(len(word) - 1, 1, -1):
        head = word[:end]
        # `s` and the like stand between.
        if (head in _VALUES or head in _POINTS or head in _ANDS) and (rest := _cut(word[end:])):
            return (head, *rest)
    return ()


def _pieces(word: str) -> list[str]:
    found = list(_cut(word)) if len(word) <= 80 else []
    return found if len(found) == 1 or any(piece in _VALUES for piece in found) else []


def _value(pieces: list[str]) -> str | None:
    """The number in figures; None for what is read in no one way."""
    points = [place for place, piece in enumerate(pieces) if piece in _POINTS]
    if len(points) > 1:
        return None
    if points:
        whole, after = _whole(pieces[: points[0]]), _digits(pieces[points[0] + 1 :])
        return None if whole is None or after is None else f"{whole}.{after}"
    return _digits(pieces) or _whole(pieces)


def _digits(pieces: list[str]) -> str | None:
    """`four two one` is 421."""
    found = [piece if piece.isdigit() else f"{_VALUES.get(piece, -1):g}" for piece in pieces]
    return "".join(found) if found and all(len(each) == 1 for each in found) else None


def _whole(pieces: list[str]) -> str | None:
    total = part = 0.0
    for piece in pieces:
        if piece in _ANDS:
            continue
        value = float(piece) if piece.isdigit() else _VALUES[piece]
        if piece in _MULTIPLIES:
            part = (part or 1) * value
            if value >= 1000:
                total, part = total + part, 0.0
        else:
            part += value
    return f"{total + part:g}"


def _roman(word: str) -> int | None:
    if not (_UPPER.fullmatch(word) or _LOWER.fullmatch(word)) or word in _NO_ROMAN or word.lower() in ("ii", "iii"):
        return None
    values = [_ROMAN[letter] for letter in word.lower()]
    return sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))
