"""By which words a sentence is worth keeping, and how much: the rules of `facts.py`, for the languages people write in.

They keep too much rather than too little; what is more than there is room for goes by weight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from outcrop_schemas import limits

BY_USER = 8
"""Added to the weight of what a user said and not a model."""
_STRONG_WEIGHT, _KIND_WEIGHT = 4, 2


_WORD = re.compile(r"[^\W\d_]+")


class _Words:
    """Words, single ones by a set (a pattern of hundreds is slow), and phrases and beginnings by a pattern."""

    def __init__(self, words: str, phrases: str) -> None:
        self._words = frozenset(words.split())
        self._phrases = re.compile(rf"(?<!\w)(?:{phrases})(?!\w)", re.IGNORECASE)

    def search(self, text: str) -> bool:
        return not self._words.isdisjoint(_WORD.findall(text.lower())) or self._phrases.search(text) is not None


class _Gated:
    """A dear pattern, tried only where a cheaper one finds something."""

    def __init__(self, gates: Sequence[_Words | re.Pattern[str]], pattern: str) -> None:
        self._gates, self._pattern = gates, re.compile(pattern, re.IGNORECASE)

    def search(self, text: str) -> bool:
        return any(gate.search(text) for gate in self._gates) and self._pattern.search(text) is not None


_MONTHS = """
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec januar jänner februar märz mai juni juli oktober dezember janvier février fevrier mars avril
    juin juillet août aout septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto
    septiembre octubre noviembre diciembre
"""
_WORDED = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million millions
    billion billions dozen dozens half halves quarter quarters third thirds twice double triple percent zero none first
    second fourth fifth sixth seventh eighth ninth tenth last
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend millionen hälfte viertel drittel erste
    ersten erster erstes zweite zweiten zweiter dritte dritten dritter letzte letzten letzter
    deux trois quatre cinq sept huit neuf dix onze douze vingt trente cent mille moitié quart tiers premier première
    deuxième
    dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cien mil mitad cuarto tercio primer
    primero segundo
"""
# What binds the work from here on.
_STRONG = _Words(
    """
    must mustn never always nobody only allowed cannot shall should deadline due limit limits threshold thresholds
    cutoff require requires required requirement requirements need needs needed except unless without instead exactly
    agreed decide decided decision decisions promised approved refuse refused declined chose chosen choose keep stay
    stays exclude excludes excluded excluding drop dropped expire expires until budget withdrew withdrawn want wants
    wanted insist insists allergic
    darf darfst dürfen nie niemals nur muss müssen soll sollen sollte statt stattdessen ohne verboten mindestens
    höchstens frist spätestens kein keine keinen keinem keiner keines niemand außer ausser lieber
    jamais seulement uniquement doit doivent sans plutôt éviter sauf faut échéance
    nunca jamás sólo solo solamente debe deben sin excepto salvo evitar
    нельзя никогда только без
    """,
    r"avoid\w*|forbid\w*|forbade|prohibit\w*|at most|at least|no later|no more|no less|not later|cut-offs?|prefer\w*|"
    r"rather than|reject\w*|leave out|left out|skip\w*|ignor\w*|hold back|held back|omit\w*|do not|don[’']t|does not|"
    r"doesn[’']t|will not|won[’']t|may not|might not|can[’']t|cancel\w*|confirm\w*|bevorzug\w*|vermeide\w*|interdit\w*|"
    r"au moins|au plus|prohibid\w*|al menos|como máximo|prefier\w*|должн\w*",
)
_NEGATION = _Words(
    """
    no not nor neither nothing nowhere before after today tomorrow yesterday monday tuesday wednesday thursday friday
    saturday sunday
    nicht nichts weder montag dienstag mittwoch donnerstag freitag samstag sonntag
    ne pas aucun aucune rien lundi mardi mercredi jeudi vendredi samedi dimanche
    ninguno ninguna ningún nada tampoco lunes martes miércoles jueves viernes sábado domingo
    не нет
    """,
    r"\w+n[’']t|next week|n[’']\w+",
)
_ERROR = re.compile(
    r"(?:error|exception|warning|fehler|erreur)\b|\bfail(?:ed|ure|s)\b|\btraceback\b|segmentation fault|core dumped|"
    r"(?:permission|access) denied|timed? ?out\b|out of memory|\bkilled\b|\babort(?:ed)?\b|no such file|not found|"
    r"connection (?:refused|reset|closed)|broken pipe|disk full|no space left|panic|fatal|unavailable|corrupt\w*",
    re.IGNORECASE,
)
_PATH = _Gated(
    [re.compile(r"[/\\.]")],
    r"(?:[\w.~-]*/)+[\w.-]+|(?<!\w)[A-Za-z]:\\[^\n\"<>|?*]+|\\\\[\w.-]+\\[^\n\"<>|?*]+|"
    r"\b[\w-]+\.(?:csv|tsv|xlsx?|parquet|jsonl?|las|png|pdf|txt|log|dat|md|py|toml|ya?ml|xml|html|zip|gz|docx?|shp|tif+)\b",
)
_MONTH, _NUMBER = "|".join(_MONTHS.split()), "|".join(_WORDED.split())
_FIGURE = re.compile(r"[\d½⅓⅔¼¾⅛]")
_DATE = _Gated(
    [_FIGURE, _Words(_MONTHS, "(?!)")],
    rf"\b\d{{4}}-(?:\d{{2}}(?:-\d{{2}})?|W\d{{2}})\b|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b|\b\d{{1,2}}:\d{{2}}\b|"
    rf"(?<!\w)(?:\d{{1,2}}(?:st|nd|rd|th|\.)?|{_NUMBER})\s+(?:of\s+|de\s+)?(?:{_MONTH})(?!\w)|"
    rf"(?<!\w)(?:{_MONTH})\.?\s+\d{{1,4}}\b",
)
_MONEY = re.compile(
    r"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|AUD|CAD|CNY)\b|\b(?:dollars?|euros?|pounds|francs?|credits?|vouchers?|"
    r"refund|gutschein|guthaben)\b",
    re.IGNORECASE,
)
# Capitals and figures in one word: a hole, a batch, a booking.
_IDENTIFIER = re.compile(r"\b(?=[A-Z0-9-]*[A-Z])(?=[A-Z0-9-]*\d)[A-Z0-9]+(?:-[A-Z0-9]+)*\b")
_WORD_OF_FIGURE = _Words(_MONTHS + _WORDED, r"per cent")
# A code without a digit, a name with an underscore, a letter by itself that is no word.
_CODE = re.compile(r"\b[A-Z]{2,}[A-Z_-]*\b|\b[^\W_]+_\w+|(?<=\w )[B-HJ-Z]\b")
# Letters other than Latin ones: of a script whose words are not known here everything counts (and so do µ and α).
_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")

_KINDS = (_DATE, _MONEY, _IDENTIFIER, _PATH, _ERROR)
_PLAIN = (_FIGURE, _NEGATION, _WORD_OF_FIGURE, _CODE, _OTHER_SCRIPT)


def is_concrete(text: str) -> bool:
    """Whether a sentence holds something that a paraphrase could lose."""
    return any(pattern.search(text) for pattern in (*_PLAIN, _STRONG, *_KINDS))


@lru_cache(maxsize=limits.FACTS_KNOWN)
def weight(text: str) -> int:
    """How much a fact is worth against others: what binds before dates, money, identifiers, paths and errors, these
    before a word of negation, and that before an ordinary figure."""
    kinds = sum(bool(pattern.search(text)) for pattern in _KINDS)
    binds = _STRONG_WEIGHT if _STRONG.search(text) else 0
    return binds + _KIND_WEIGHT * min(kinds, 2) + _NEGATION.search(text)


# --- where a sentence ends --------------------------------------------------------------------------------------------

_END = re.compile(r"(?<=[.!?;])\s+(?=[\"'(•¿¡-]*[^\W_a-zà-ÿ])|(?<=[。！？])|\s+(?=[•–-]\s)|\n+")
_ABBREVIATION = re.compile(
    r"(?:(?<!\w)(?:max|min|approx|ca|e\.g|i\.e|z\. ?b|bzw|d\. ?h|u\. ?a|no|nos|nr|núm|vs|etc|dr|mrs?|ms|prof|st|figs?|"
    r"abb|tab|vol|pp?|cf|resp|incl|excl|est|dept|inc|ltd|co|corp|art|abs|sec|ref|temp|avg|std|op|al|usw|evtl|ggf|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|okt|nov|dec|dez|sr|sra|av|env|[a-z])\.)$",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:^|[\s(])\d{1,2}\.$")
_BEFORE_ORDINAL = re.compile(
    r"(?:^|\b(?:am|der|die|das|den|dem|im|zum|vom|bis|ab|seit|jede[nrs]?|no|nr)\.?\s+)\d{1,2}\.$", re.I
)
_MONTH_FOLLOWS = re.compile(rf"(?:{_MONTH})(?!\w)", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text; none is torn at an abbreviation or at the point of an ordinal number."""
    found, begins = [], 0
    for end in _END.finditer(text):
        if "\n" not in end[0] and _goes_on(text[max(begins, end.start() - 40) : end.start()], text, end.end()):
            continue
        found.append(text[begins : end.start()])
        begins = end.end()
    return [*found, text[begins:]]


def _goes_on(said: str, text: str, place: int) -> bool:
    if _ABBREVIATION.search(said):
        return True
    ordinal = _ORDINAL.search(said) is not None
    return ordinal and (_BEFORE_ORDINAL.search(said) is not None or _MONTH_FOLLOWS.match(text, place) is not None)
