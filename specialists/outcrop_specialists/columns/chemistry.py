"""Which column names are chemical elements or oxides."""

from __future__ import annotations

import re

SYMBOLS: frozenset[str] = frozenset(
    word
    for line in (
        "Ag Al As Au B Ba Be Bi Br C Ca Cd Ce Cl Co Cr Cs Cu Dy Er Eu F Fe Ga Gd Ge H Hf Hg Ho I In Ir K La Li Lu Mg",
        "Mn Mo N Na Nb Nd Ni O Os P Pb Pd Pr Pt Ra Rb Re Rh Ru S Sb Sc Se Si Sm Sn Sr Ta Tb Te Th Ti Tl Tm U V W Y Yb",
        "Zn Zr",
    )
    for word in line.split()
)
"""Elements that laboratories report; noble gases and short-lived ones are left out, `At` and `No` being words."""

NAMES: dict[str, str] = {
    "aluminium": "Al",
    "aluminum": "Al",
    "antimony": "Sb",
    "arsenic": "As",
    "barium": "Ba",
    "bismuth": "Bi",
    "boron": "B",
    "cadmium": "Cd",
    "calcium": "Ca",
    "cerium": "Ce",
    "chromium": "Cr",
    "cobalt": "Co",
    "copper": "Cu",
    "gold": "Au",
    "iron": "Fe",
    "lanthanum": "La",
    "lead": "Pb",
    "lithium": "Li",
    "magnesium": "Mg",
    "manganese": "Mn",
    "mercury": "Hg",
    "molybdenum": "Mo",
    "nickel": "Ni",
    "phosphorus": "P",
    "platinum": "Pt",
    "potassium": "K",
    "rubidium": "Rb",
    "selenium": "Se",
    "silicon": "Si",
    "silver": "Ag",
    "sodium": "Na",
    "strontium": "Sr",
    "sulfur": "S",
    "sulphur": "S",
    "thorium": "Th",
    "tin": "Sn",
    "titanium": "Ti",
    "tungsten": "W",
    "uranium": "U",
    "vanadium": "V",
    "yttrium": "Y",
    "zinc": "Zn",
    "zirconium": "Zr",
}

OXIDE = re.compile(
    r"^(?:(?:si|ti|zr|mn|s|c)o2|(?:al|fe|cr|v)2o3|(?:fe|mn|mg|ca|ba|sr|ni)o|(?:na|k|li|rb|h)2o|p2o5|so3|loi)(?:_?t(?:ot(?:al)?)?)?$",
    re.IGNORECASE,
)


def symbol_of(word: str) -> str | None:
    """The element a word stands for: `Cu`, `CU`, `cu` or `copper` gives `Cu`. A single letter must be a capital."""
    if len(word) <= 1:
        return word if word in SYMBOLS else None
    return NAMES.get(word.casefold()) or (word.capitalize() if word.capitalize() in SYMBOLS else None)


def is_oxide(word: str) -> bool:
    """Whether a word is an oxide as in whole-rock analyses (`SiO2`, `FeOT`), or loss on ignition."""
    return OXIDE.match(word) is not None
