"""What a column is in the world: a coordinate, a depth, an identifier, an element. From its name and its values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from outcrop_specialists.columns.chemistry import is_oxide, symbol_of
from outcrop_specialists.columns.units import is_concentration, is_unit, split_unit

ColumnType = Literal["integer", "number", "text", "date", "boolean"]
Role = Literal[
    "longitude",
    "latitude",
    "x",
    "y",
    "z",
    "depth_from",
    "depth_to",
    "depth",
    "hole_id",
    "sample_id",
    "id",
    "element",
    "cluster",
    "category",
    "measure",
    "date",
    "text",
]

CATEGORY_VALUES = 50
CATEGORY_SHARE = 0.5
"""A category has at most so many values, and not more than this share of the rows."""
CLUSTERS = 100
SINGLE_LETTERS_NEED = 2
"""A single letter is an element only beside so many columns that are elements without doubt."""
IDENTIFIER_CHARS = 24

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W0-9_A-Za-z]+|[%‰]")
NAMES: Mapping[str, frozenset[str]] = {
    role: frozenset(words.split())
    for role, words in {
        "longitude": "lon long lng longitude declong declongva longdd longitudedd londd decimallongitude",
        "latitude": "lat latitude declat declatva latdd latitudedd decimallatitude",
        "x": "x easting east xcollar xcoord xcoordinate xcoordinaat xutm utmx utme coordx eastmga xcoords collarx",
        "y": "y northing north ycollar ycoord ycoordinate ycoordinaat yutm utmy utmn coordy northmga ycoords collary",
        "z": "z elevation elev altitude alt altva rl zcollar zcoord zcoordinate coordz dem collarz",
        "depth_from": "from depthfrom fromdepth mfrom fromm top depthtop topdepth intervalfrom",
        "depth_to": "to depthto todepth mto tom bottom depthbottom bottomdepth base depthbase intervalto",
        "depth": "depth dept md tvd depthm sampledepth middepth measureddepth",
        "hole_id": "bhid holeid hole borehole boreholeid drillhole drillholeid dhid well wellid wellname uwi holename "
        "companyholeid holenumber holeno holenr boreholename boreholeno boreholenr boreholenumber drillholeno "
        "drillholename drillholenumber bhno bhname wellno wellnumber collarid bohrung bohrungid bohrungnr bohrungsnr "
        "bohrloch bohrlochid bohrlochnr sondage sondageid nosondage forage forageid noforage sondeo sondeoid taladro "
        "taladroid barreno pozo pozoid furo furoid boring boringid boringnr boornummer",
        "sample_id": "sample sampleid sampleno samplenumber samplename samp sampno labid labsampleno fieldid labno",
        "cluster": "cluster clusters clusterid clusterlabel label labels group groups",
    }.items()
}
ID_ENDINGS = frozenset("id no nr number uid uuid key fid oid code".split())  # noqa: SIM905


@dataclass(frozen=True)
class ColumnFacts:
    """What of a column's values its role depends on. `least` and `most` are of numbers only.

    `is_numberlike` also holds for text of which most values are numbers or results beyond a detection limit.
    """

    name: str
    type: ColumnType
    unit: str | None
    rows: int
    missing: int
    distinct: int
    least: float | None = None
    most: float | None = None
    is_numberlike: bool = False
    is_whole: bool = False
    is_datelike: bool = False
    longest: int = 0


def unit_of(name: str, units: Mapping[str, str]) -> str | None:
    """The unit of a column: from the row of units, else from its name, wherever it stands there."""
    if name in units:
        return units[name]
    unit = split_unit(name)[1]
    if unit is None and symbol_of(_first_word(name)):
        unit = next((word for word in re.split(r"[\s_]+", name)[1:] if is_unit(word) and is_concentration(word)), None)
    return unit


def roles_of(columns: Sequence[ColumnFacts]) -> list[Role]:
    """The role of each column; they depend on each other (`Y` beside `X` is a coordinate, beside `Zr` yttrium)."""
    names = {column.name for column in columns}
    sure = sum(_is_sure_element(column) for column in columns)
    return [_role(column, names, sure) for column in columns]


def _role(column: ColumnFacts, names: set[str], sure_elements: int) -> Role:
    if column.type == "date" or column.is_datelike:
        return "date"
    key = _key(column.name)
    if column.is_numberlike and _is_element(column, names, sure_elements):
        return "element"
    role = next((role for role, known in NAMES.items() if key in known), None)
    if role in ("longitude", "latitude", "x", "y", "z", "depth_from", "depth_to", "depth"):
        return _place(role, column)
    if role in ("hole_id", "sample_id") and column.type in ("integer", "text"):
        return role  # type: ignore[return-value]
    if role == "cluster" and column.type in ("integer", "text") and 0 < column.distinct <= CLUSTERS:
        return "cluster"
    return _other(column)


def _place(role: str, column: ColumnFacts) -> Role:
    """A place or depth is a number, and degrees lie in their range; what does not is projected."""
    if column.type not in ("integer", "number"):
        return _other(column)
    bound = {"longitude": 180.0, "latitude": 90.0}.get(role)
    if bound and max(abs(column.least or 0), abs(column.most or 0)) > bound:
        return "x" if role == "longitude" else "y"
    return role  # type: ignore[return-value]


def _other(column: ColumnFacts) -> Role:
    words = [word.casefold() for word in _WORDS.findall(column.name)]
    is_id = bool(words) and words[-1] in ID_ENDINGS
    if column.is_numberlike:
        return "id" if is_id and column.is_whole else "measure"
    if is_id and column.type == "text" and not _is_category(column):
        return "id"
    if column.type == "boolean" or _is_category(column):
        return "category"
    filled = column.rows - column.missing
    is_key = filled > 1 and column.missing == 0 and column.distinct == filled and column.longest <= IDENTIFIER_CHARS
    return "id" if is_key else "text"


def _is_category(column: ColumnFacts) -> bool:
    filled = column.rows - column.missing
    return 0 < column.distinct <= CATEGORY_VALUES and column.distinct <= max(1, CATEGORY_SHARE * filled)


def _is_element(column: ColumnFacts, names: set[str], sure_elements: int) -> bool:
    if _is_sure_element(column):
        return True
    stem = split_unit(column.name)[0]
    if len(stem) > 1 or not symbol_of(stem):
        return False
    is_coordinate = stem == "Y" and bool({"X", "x"} & names) and not ("x" in names and "y" in names)
    return sure_elements >= SINGLE_LETTERS_NEED and not is_coordinate


def _is_sure_element(column: ColumnFacts) -> bool:
    """Symbol, name or oxide with a unit of concentration; or by itself, if it is longer than one letter."""
    if not column.is_numberlike:
        return False
    stem, word = split_unit(column.name)[0], _first_word(column.name)
    if column.unit and is_concentration(column.unit):
        return symbol_of(word) is not None or is_oxide(word)
    bare = re.sub(r"[_.][0-9]+$", "", stem)
    return column.unit is None and len(bare) > 1 and (symbol_of(bare) is not None or is_oxide(bare))


def _first_word(name: str) -> str:
    return re.split(r"[\s_.(\[\-]+", split_unit(name)[0].strip(), maxsplit=1)[0]


def _key(name: str) -> str:
    return "".join(_WORDS.findall(split_unit(name)[0])).casefold()
