"""Words that are units, alone or inside a column name: `ppm`, `Au_ppm`, `Cu (%)`, `Au g/t`."""

from __future__ import annotations

import re

_CONCENTRATIONS = """% %wt wt% wt.% wt_% wtpct pct percent permil ‰ o/oo ppm ppb ppt ppmv ppmw ppmwt oz/t opt g/t gpt
 g/g mg/kg mg/g ug/g µg/g ug/kg µg/kg ng/g ng/kg g/kg kg/t mg/l ug/l µg/l ng/l g/l mol/l mmol/l meq/l mmol/kg mol/kg
 µmol/l umol/l"""
_COUNTS = "cfu cfu/100ml mpn/100ml ntu fnu bq bq/kg bq/l cps cpm"
_LENGTHS = """m km cm mm um µm nm ft feet foot in inch inches metre metres meter meters mi miles masl m.a.s.l. mbgl"""
_ANGLES_AND_HEAT = """deg degree degrees dd ° °c °f degc degf degrees_north degrees_east rad c k"""
_MASSES_AND_VOLUMES = """g kg mg ug µg t tonnes lb g/cc g/cm3 g/cm³ kg/m3 kg/m³ t/m3 t/m³ l ml m3 m³ ha km2 km² m2 m²
 m3/s m³/s l/s cfs m3/m3 m³/m³ v/v frac fraction ratio"""
_FIELDS_AND_LOGS = """pa hpa kpa mpa gpa bar mbar psi v mv ma a ohm ohmm ohm.m ohm-m ohm·m s/m ms/m s/cm ms/cm us/cm
 µs/cm us/ft µs/ft us/m µs/m gapi api nt mgal si 10-3si 10^-3si"""
_TIMES = """s sec min h hr hours day days d yr yrs year years ka ga mm/d mm/day mm/yr m/s km/h"""

UNIT_WORDS: frozenset[str] = frozenset(
    word
    for words in (_CONCENTRATIONS, _COUNTS, _LENGTHS, _ANGLES_AND_HEAT, _MASSES_AND_VOLUMES, _FIELDS_AND_LOGS, _TIMES)
    for word in words.split()
)
CONCENTRATIONS: frozenset[str] = frozenset(_CONCENTRATIONS.split())
ONLY_IN_BRACKETS: frozenset[str] = frozenset(
    word
    for words in (
        "c k v a s h d l t in pa si nt nm ma ga ha ka dd mi min sec hr",
        "day days year years bar opt ratio cfu",
    )
    for word in words.split()
)
"""Units that at the end of a name, without brackets, would mostly be something else: `Total S`, `depth_min`."""
SYNONYMS: tuple[frozenset[str], ...] = (
    frozenset({"ppm", "ppmw", "ppmwt", "g/t", "gpt", "mg/kg", "ug/g", "µg/g"}),
    frozenset({"ppb", "ug/kg", "µg/kg", "ng/g"}),
    frozenset({"%", "pct", "percent", "wt%", "wt.%", "%wt", "wt_%", "wtpct"}),
    frozenset({"ug/l", "µg/l"}),
)

SINGLE_SIGNS = "m%‰°"
_BRACKET = re.compile(r"^(?P<stem>.*?)\s*[(\[{]\s*(?P<unit>[^()\[\]{}]+?)\s*[)\]}]\s*$", re.DOTALL)
_UNDERSCORED = re.compile(r"^(?P<stem>.+?)[\s_]+(?P<unit>[a-zA-Zµ]+_(?:l|kg|g|t|cm|cm3|m3))$")
_TAIL = re.compile(r"^(?P<stem>.+)[\s_\-]+(?P<unit>[^\s_]+)$", re.DOTALL)


def is_unit(text: str) -> bool:
    """Whether the text, with or without brackets, is a unit and nothing else."""
    return normal_unit(text) in UNIT_WORDS


def is_doubtful_unit(text: str) -> bool:
    """Whether a unit without brackets may well be another word: `a`, `in`, `year`."""
    return text.strip().casefold() in ONLY_IN_BRACKETS


def is_unit_behind_number(text: str) -> bool:
    """Whether letters behind a number are a unit; `12A` and `12K` are rather the names of holes or houses."""
    return is_unit(text) and not is_doubtful_unit(text) and (len(text) > 1 or text in SINGLE_SIGNS)


def is_concentration(text: str) -> bool:
    """Whether a unit tells an amount in a mass or a volume: ppm, %, g/t, mg/l."""
    return normal_unit(text) in CONCENTRATIONS


def is_same_unit(one: str, other: str) -> bool:
    """Whether two spellings mean the same amount: g/t, mg/kg and ppm do."""
    first, second = normal_unit(one), normal_unit(other)
    return first == second or any(first in same and second in same for same in SYNONYMS)


def split_unit(name: str) -> tuple[str, str | None]:
    """A column name without its unit, and the unit as written: `Au_ppm` gives `Au` and `ppm`, `iron_mg_l` `mg/l`."""
    bracket = _BRACKET.match(name)
    if bracket and is_unit(bracket["unit"]):
        return bracket["stem"].strip(" _-"), bracket["unit"]
    underscored = _UNDERSCORED.match(name)
    if underscored and is_unit(underscored["unit"].replace("_", "/")):
        return underscored["stem"].strip(" _-"), underscored["unit"].replace("_", "/")
    tail = _TAIL.match(name)
    if tail and is_unit(tail["unit"]) and not is_doubtful_unit(tail["unit"]):
        return tail["stem"].strip(" _-"), tail["unit"]
    return name.strip(), None


def normal_unit(text: str) -> str:
    """A unit as the lists above spell it: trimmed, without brackets, in lower case, with one kind of micro sign."""
    return text.strip().strip("()[]{}").strip().casefold().replace("μ", "µ")
