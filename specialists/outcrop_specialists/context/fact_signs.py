"""What stands around a figure or a sentence and makes it another one: a unit, a factor, a withdrawal."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+")


def _all(words: str) -> dict[str, None]:
    return dict.fromkeys(words.split())


_UNITS = _all(
    """
    ppm ppb ppt pct wt vol gpt µg μg ug mg kg g t kt mt gt oz koz moz lb lbs mlb nm µm μm um mm cm dm m km ft
    feet inch inches mile miles yd ha km2 km² m2 m² m3 m³ mm2 cm2 cm3 acre acres l ml litre litres liter liters
    bbl gal ns ms s sec secs h hr hrs d wk yr second seconds minute minutes min hour hours day days week weeks
    month months year years tag tage tagen woche wochen monat monate monaten jahr jahre jahren stunde stunden
    minuten jour jours semaine semaines mois an ans heure heures día días semana semanas mes meses año años hora
    horas usd eur euro euros chf gbp jpy aud cad cny sek nok dkk pln brl mxn rub inr zar dollar dollars pound
    pounds francs franken cents tonne tonnes ton tons tonnen gram grams gramme grammes gramm metre metres meter
    meters metern kilometre kilometres kilometer kilometers ounce ounces hz khz mhz ghz pa hpa kpa mpa gpa bar
    mbar psi kj mj kw mw gw kwh mwh gwh v mv kv ma ohm kn nt ω mgal byte bytes kb mb gb tb kib mib gib bit bits
    px dpi token tokens rpm pp bps percent per prozent basis degree degrees grad
    """
)
_AFTER_FIGURE = re.compile(r" ?([%‰°€£¥₹$]|[^\W\d_]+[23]?(?!\w))")
_FIGURE_WITH_UNIT = re.compile(r"\d ?([%‰°€£¥₹$]|[^\W\d_]+[23]?(?!\w))")
MULTIPLIER = (
    r"k|kilo|thousand|hundred|dozen|mio|mill?ions?|mln|millionen|millones|milliards?|milliarden|mrd|bn|billions?|tsd|"
    r"tausend|hundert|mille|mil|cent|trillions?|times|fold|half|quarters?"
)
"""A word behind a figure that makes it another one."""
_FACTOR = re.compile(MULTIPLIER, re.IGNORECASE)
# How the words begin by which a withdrawal is told: the pattern is dear.
_HINTS = _all(
    """
    no not any wrong is was are were be been being it that mist in does doesn isn wasn used former prev once
    until earlier old outd obsol out supers repl overr revok resc retr withdr cancel repeal annul lift scrap
    drop aband revis amend corr chang now instead expir lapse den doubt disput contra myth rumo struck delet
    ignore forget disreg nicht gilt stimm falsch überh veralt aufgeh zurück widerr ersetz früher ne n faux périm
    rempl auparav ya falso anul reempl antes já substit non super sbagl niet verval onjuist verv inte gäller
    felak ersatt nie już nieak artık geçers iptal больше отмен неверн устар уже
    """
)
_BEGINNINGS = tuple(_HINTS)
# Not "no more" nor "not": they are as often a part of what holds.
_WITHDRAWN = re.compile(
    r"no longer|not (?:true|right|correct|valid|the case|apply|applicable|hold|binding|so|in force)|any ?more\b|"
    r"(?:is|was|are|were|be|been|being|it[’']s|that[’']s) (?:wrong|false|incorrect|untrue|mistaken|void|moot)|"
    r"wrongly|by mistake|in error|mistakenly|(?:doesn[’']t|does not) (?:hold|apply)|isn[’']t (?:true|right|valid)|"
    r"wasn[’']t|\bused to\b|\bformer(?:ly)?\b|previous(?:ly)?\b|(?:,|\() ?(?:was|were|once|until)\b|"
    r"earlier (?:said|told|value)|\bold(?:er)? (?:value|rule|figure|limit|version)|outdated|obsolete|out of date|"
    r"superseded|replaced|overrul\w*|overrid\w*|revok\w*|rescind\w*|retract\w*|withdr[ae]w\w*|cancel+ed|repeal\w*|annul\w*|"
    r"lifted|scrapped|\bdropped\b|abandon\w*|revis(?:ed|ion)|amended|"
    r"correct(?:ed|ion) (?:to|is)|chang(?:ed|es) to|now (?:it is|is|reads)|"
    r"instead,|expired|lapsed|\bden(?:y|ies|ied)\b|doubt\w*|disput\w*|contradict\w*|\bmyth\b|\brumou?rs?\b|"
    r"struck out|deleted|ignore (?:that|this|it)|forget (?:that|this|it)|disregard|"
    r"nicht mehr|gilt nicht|stimmt nicht|falsch|überholt|veraltet|aufgehoben|zurückgenommen|widerrufen|ersetzt|früher|"
    r"ne (?:\w+ )?plus\b|n[’'](?:\w+ )?plus\b|n[’']est plus|faux|annulé|périmé|remplacé|auparavant|"
    r"ya no|no es cierto|falso|anulad\w*|obsolet\w*|reemplazad\w*|antes era|já não|não é mais|substituíd\w*|anulad\w*|"
    r"non (?:è|vale|valgono) più|annullat\w*|superat\w*|sbagliat\w*|niet meer|vervallen|onjuist|vervangen|"
    r"inte längre|gäller inte|felaktig\w*|ersatt|nie obowiązuje|już nie|nieaktualn\w*|artık|geçersiz|iptal|"
    r"больше не|отмен\w*|неверно|устарел\w*|уже не|不再|作废|取消|失效|无效|もはや|撤回|取り消",
    re.IGNORECASE,
)
_FROM_HERE = re.compile(r"[.!?;:]\s+(?=[^\W_a-z])")


@lru_cache(maxsize=64)
def words_of(text: str) -> tuple[frozenset[str], str]:
    """The words of a text in small letters, as a set, and in their order between blanks."""
    words = _WORD.findall(text.lower())
    return frozenset(words), f" {' '.join(words)} "


def is_unit(word: str) -> bool:
    """Whether a word or a sign is a unit, or a factor."""
    return word.lower() in _UNITS or not word[0].isalpha() or _FACTOR.fullmatch(word) is not None


def unit_behind(text: str, end: int) -> str:
    """The unit that stands behind a figure which ends here; empty where none does."""
    found = _AFTER_FIGURE.match(text, end)
    return found[1] if found and is_unit(found[1]) else ""


def has_unit(text: str) -> bool:
    """Whether a figure with a unit stands in a text."""
    return any(map(is_unit, _FIGURE_WITH_UNIT.findall(text)))


def is_withdrawn(before: str, after: str) -> bool:
    """Whether the words around a fact say that it does not hold: in its own sentence, or in the next one."""
    own = _FROM_HERE.split(before)[-1]
    return any(map(_tells_withdrawal, [own, *_FROM_HERE.split(after)[:2]]))


def _tells_withdrawal(text: str) -> bool:
    words, _ = words_of(text)
    has_hint = any(word.startswith(_BEGINNINGS) or not word.isascii() for word in words)
    return has_hint and _WITHDRAWN.search(text) is not None
