"""By which words a sentence is worth keeping, and how much: the rules of `facts.py`, for the languages people write in.

They keep too much rather than too little; what is more than there is room for goes by weight.
"""

from __future__ import annotations

import re
from functools import lru_cache

from outcrop_schemas import limits
from outcrop_specialists.context.fact_names import has_name
from outcrop_specialists.context.fact_signs import has_unit, words_of

BY_USER = 16
"""Added to the weight of what a user said and not a model."""
BINDING = 8
"""From this weight on a fact binds, or holds two kinds of what does not change."""
_KIND_WEIGHT, _NEGATION_WEIGHT, _UNIT_WEIGHT, _NAME_WEIGHT = 4, 2, 2, 1


class _Words:
    """Single words, beginnings of words (`avoid*`) and phrases of them: sets, since a pattern of hundreds is slow."""

    def __init__(self, words: str, phrases: str = "") -> None:
        plain = words.split()
        self._beginnings = tuple(word[:-1] for word in plain if word.endswith("*"))
        self._words = frozenset(word for word in plain if not word.endswith("*"))
        self._phrases: dict[str, list[str]] = {}
        for phrase in filter(None, (" ".join(each.split()) for each in phrases.split(","))):
            self._phrases.setdefault(phrase.split()[0], []).append(f" {phrase} ")

    def search(self, text: str) -> bool:
        words, joined = words_of(text)
        if not self._words.isdisjoint(words):
            return True
        if self._beginnings and any(word.startswith(self._beginnings) for word in words):
            return True
        return any(phrase in joined for first in self._phrases.keys() & words for phrase in self._phrases[first])


class _Parts:
    """Parts of words, in small letters."""

    def __init__(self, parts: str) -> None:
        self._parts = parts.split()

    def search(self, text: str) -> bool:
        low = text.lower()
        return any(part in low for part in self._parts)


class _Gated:
    """A dear pattern, tried only where a cheaper one finds something."""

    def __init__(
        self, gate: _Words | _Parts | re.Pattern[str], pattern: str, flags: re.RegexFlag = re.IGNORECASE
    ) -> None:
        self._gate, self._pattern = gate, re.compile(pattern, flags)

    def search(self, text: str) -> bool:
        return bool(self._gate.search(text)) and self._pattern.search(text) is not None


class _Any:
    """One of several."""

    def __init__(self, *rules: _Words | _Gated | re.Pattern[str]) -> None:
        self._rules = rules

    def search(self, text: str) -> bool:
        return any(rule.search(text) for rule in self._rules)


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
_BINDING_WORDS = _Words(
    """
    must mustn never always nobody only allowed cannot shall should deadline due limit limits threshold thresholds
    cutoff require requires required requirement requirements need needs needed except unless without instead exactly
    settled opted picked adopted
    agreed decide decided decision decisions promised approved refuse refused declined chose chosen choose keep stay
    stays exclude excludes excluded excluding drop dropped expire expires until budget withdrew withdrawn want wants
    wanted insist insists allergic
    darf darfst dürfen nie niemals nur muss müssen soll sollen sollte statt stattdessen ohne verboten mindestens
    höchstens frist spätestens kein keine keinen keinem keiner keines niemand außer ausser lieber entschieden
    beschlossen vereinbart gewählt geeinigt festgelegt
    jamais seulement uniquement doit doivent sans plutôt éviter sauf faut échéance décidé choisi convenu retenu
    nunca jamás sólo solo solamente debe deben sin excepto salvo evitar decidido decidimos elegido elegimos acordado
    acordamos
    nooit nimmer geen niemand moet moeten mogen alleen zonder tenzij uiterlijk verplicht besloten gekozen afgesproken
    não jamais ninguém deve devem somente apenas sem proibido exceto decidimos escolhemos
    devono dovete bisogna vietato senza soltanto nessuno nessun nessuna deciso scelto concordato
    nigdy musi muszą wolno tylko bez zakaz zabronione nikt wyłącznie postanowiono wybrano ustalono
    aldrig måste endast bara utan ingen inga förbjudet senast bestämt valde enades
    aldri aldrig skal kun uten uden ikke
    asla yasak yasaktır zorunlu zorunda sadece yalnızca hariç hiçbir kesinlikle gerekir gerekiyor
    nikdy musí nesmí pouze jen zakázáno
    нельзя никогда только без запрещено нужно надо обязательно решили выбрали
    заборонено ніколи лише треба
    avoid* forbid* forbade prohibit* prefer* reject* skip* ignor* omit* cancel* confirm* bevorzug* vermeide* interdit*
    prohibid* prefier* долж* решено решены henceforth
    """,
    """
    at most, at least, no later, no more, no less, not later, cut off, cut offs, rather than, leave out, left out,
    hold back, held back, do not, don t, does not, doesn t, will not, won t, may not, might not, can t, au moins,
    au plus, al menos, como máximo, go with, goes with, going with, went with, go for, goes for, going for, went for,
    stick with, stick to, sticks to, sticking with, sticking to, settle on, settle for, opt for, opts for, opting for,
    is to be, are to be, is to stay, are to stay, is to remain, are to remain, from now on, rule out, ruled out,
    rules out, in favour of, in favor of, switch to, switched to, made up my, made up our, made up their, made up his,
    made up her, wir nehmen, nehmen wir, bleiben wir, bleiben bei, bleibt es bei, mai più, mag niet, mag pas, mag men,
    u mag, je mag, het mag, men mag, dat mag, får inte, får ej, w żadnym, on retient, nous prenons, on prend,
    à la place, en lugar de, en vez de, em vez de, invece di, in plaats van, i stället för, zamiast tego, yerine
    """,
)
# Scripts that part no words.
_STRONG_UNPARTED = re.compile(
    r"不要|不得|不准|不许|不許|不可|不能|禁止|严禁|嚴禁|切勿|必须|必須|务必|只能|只用|决定|決定|选定|改用|而不是|"
    r"ないでくだ|てはいけ|てはなら|ではいけ|なければなら|べから|必ず|決して|のみ|ことにし|せずに|"
    r"금지|안 ?됩니다|안 ?된다|하지 ?마|반드시|절대|결정|ห้าม|ต้อง|يجب|ممنوع|لا تست|אסור|חייב"
)
_STRONG = _Any(
    _BINDING_WORDS,
    _STRONG_UNPARTED,
    # In French and German a month.
    _Gated(_Words("mai"), r"\bnon(?:\s+\w+){1,4}\s+mai\b|\bmai(?=\s+\w+[aei]r(?:e|l[oaie])\b)"),
)
_NEGATION_WORDS = _Words(
    """
    no not nor neither nothing nowhere before after today tomorrow yesterday monday tuesday wednesday thursday friday
    saturday sunday
    nicht nichts weder montag dienstag mittwoch donnerstag freitag samstag sonntag
    ne pas aucun aucune rien lundi mardi mercredi jeudi vendredi samedi dimanche
    ninguno ninguna ningún nada tampoco lunes martes miércoles jueves viernes sábado domingo
    niet niets nergens não nem nada nie nic inte ej icke inget ikke intet değil yok ei älä ne není nem kein
    не нет нічого
    """,
    "next week",
)
_NEGATION = _Any(
    _NEGATION_WORDS,
    _Gated(re.compile(r"[’']"), r"n[’']t\b|\bn[’']\w"),
    _Gated(_Words("non"), r"\bnon(?!-)\b"),
)
_ERROR = _Gated(
    _Parts(
        "error exception warning fehler erreur fail traceback fault dumped denied time memory killed "
        "abort file found connection pipe full space panic fatal unavailable corrupt"
    ),
    r"(?:error|exception|warning|fehler|erreur)\b|\bfail(?:ed|ure|s)\b|\btraceback\b|segmentation fault|core dumped|"
    r"(?:permission|access) denied|timed? ?out\b|out of memory|\bkilled\b|\babort(?:ed)?\b|no such file|not found|"
    r"connection (?:refused|reset|closed)|broken pipe|disk full|no space left|panic|fatal|unavailable|corrupt\w*",
)
_PATH = _Gated(
    re.compile(r"[/\\]|\.[A-Za-z]"),
    r"(?:[\w.~-]*/)+[\w.-]+|(?<!\w)[A-Za-z]:\\[^\n\"<>|?*]+|\\\\[\w.-]+\\[^\n\"<>|?*]+|"
    r"\b[\w-]+\.(?:csv|tsv|xlsx?|parquet|jsonl?|las|png|pdf|txt|log|dat|md|py|toml|ya?ml|xml|html|zip|gz|docx?|shp|tif+)\b",
)
_MONTH, _NUMBER = "|".join(_MONTHS.split()), "|".join(_WORDED.split())
_FIGURE = re.compile(r"[\d½⅓⅔¼¾⅛]")
_NUMERIC_DATE = re.compile(
    r"\d{4}-(?:\d{2}(?:-\d{2})?|W\d{2})\b|\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\d{1,2}:\d{2}\b", re.IGNORECASE
)
_DATE = _Any(
    _NUMERIC_DATE,
    _Gated(
        _Words(_MONTHS),
        rf"(?<!\w)(?:\d{{1,2}}(?:st|nd|rd|th|\.)?|{_NUMBER})\s+(?:of\s+|de\s+)?(?:{_MONTH})(?!\w)|"
        rf"(?<!\w)(?:{_MONTH})\.?\s+\d{{1,4}}\b",
    ),
)
_MONEY = _Any(
    _Gated(re.compile(r"[$€£¥₹]"), r"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]"),
    _Words(
        """
        usd eur gbp chf jpy aud cad cny dollar dollars euro euros pounds franc francs credit credits voucher vouchers
        refund gutschein guthaben
        """
    ),
)
# Capitals and figures in one word: a hole, a batch, a booking.
_IDENTIFIER = re.compile(r"\b(?=[A-Z0-9-]*[A-Z])(?=[A-Z0-9-]*\d)[A-Z0-9]+(?:-[A-Z0-9]+)*\b")
_WORD_OF_FIGURE = _Words(_MONTHS + _WORDED, "per cent")
# A code without a digit, a name with an underscore, a letter by itself that is no word.
_CODE = re.compile(r"\b[A-Z]{2,}[A-Z_-]*\b|\b[^\W_]+_\w+|(?<=\w )[B-HJ-Z]\b")
# Letters other than Latin ones: of a script whose words are not known here everything counts (and so do µ and α).
_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")

_KINDS = (_DATE, _MONEY, _IDENTIFIER, _PATH, _ERROR)
_PLAIN = (_FIGURE, _NEGATION, _WORD_OF_FIGURE, _CODE, _OTHER_SCRIPT)
# Which digits a text has weighs nothing, and of a figure of a result not even how many: few texts are left to look at.
_DIGITS = str.maketrans("123456789", "000000000")
_FIGURE_OF_RESULT = re.compile(r"= -?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=,|$)")


def is_concrete(text: str) -> bool:
    """Whether a sentence holds something that a paraphrase could lose."""
    return any(pattern.search(text) for pattern in (*_PLAIN, _STRONG, *_KINDS)) or has_name(text)


def weight(text: str) -> int:
    """How much a fact is worth against others: what binds before dates, money, identifiers, paths and errors, these
    before a word of negation or a figure with its unit, that before a name, and that before an ordinary figure."""
    return _weight(_FIGURE_OF_RESULT.sub("= 0", text).translate(_DIGITS))


@lru_cache(maxsize=limits.FACTS_KNOWN)
def _weight(text: str) -> int:
    kinds = sum(bool(pattern.search(text)) for pattern in _KINDS)
    firm = BINDING * _STRONG.search(text) + _KIND_WEIGHT * min(kinds, 2)
    if _NEGATION.search(text):
        return firm + _NEGATION_WEIGHT
    if has_unit(text):
        return firm + _UNIT_WEIGHT
    return firm + _NAME_WEIGHT * (not firm and has_name(text))


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
