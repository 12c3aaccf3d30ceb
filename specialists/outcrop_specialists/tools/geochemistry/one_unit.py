"""Brings the parts of a composition to one unit where their units are known."""

from __future__ import annotations

from dataclasses import dataclass, field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.roles import unit_of
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.statistics.bounded import named

_SPELLINGS: dict[tuple[str, float], str] = {
    ("mass share in ppm", 1e4): "% %wt wt% wt.% wt_% wtpct pct percent",
    ("mass share in ppm", 1e3): "permil ‰ o/oo g/kg mg/g",
    ("mass share in ppm", 1.0): "ppm ppmw ppmwt g/t gpt mg/kg ug/g µg/g",
    ("mass share in ppm", 1e-3): "ppb ug/kg µg/kg ng/g mg/t",
    ("mass share in ppm", 1e6): "g/g kg/kg",
    ("mg/l", 1.0): "mg/l g/m3",
    ("mg/l", 1e3): "g/l",
    ("mg/l", 1e-3): "ug/l µg/l",
    ("mg/l", 1e-6): "ng/l",
    ("mmol/l", 1.0): "mmol/l",
    ("mmol/l", 1e3): "mol/l",
    ("mmol/l", 1e-3): "µmol/l umol/l",
}
FACTORS: dict[str, tuple[str, float]] = {
    spelling: (kind, factor) for (kind, factor), spellings in _SPELLINGS.items() for spelling in spellings.split()
}
"""Of a unit what it measures and by what a value is multiplied to get it in the unit of its kind."""


@dataclass(frozen=True)
class OneUnit:
    """By what each part is multiplied, and what was done, for a person."""

    factors: dict[str, float]
    notes: list[str] = field(default_factory=list)


def one_unit(table: Table, names: list[str]) -> OneUnit:
    """How the parts come to one unit; every factor is 1 where all have the same one or none is known.

    Raises ArgumentError where two of them measure different things (ppm and mg/l).
    """
    units = {name: unit_of(name, table.units) for name in names}
    known = {
        name: FACTORS[unit.strip().casefold()]
        for name, unit in units.items()
        if unit and unit.strip().casefold() in FACTORS
    }
    unknown = [name for name in names if name not in known]
    kinds = {kind: name for name, (kind, _) in known.items()}
    if len(kinds) > 1:
        (one, first), (other, second) = list(kinds.items())[:2]
        raise ArgumentError("columns", f"{first!r} is a {one} and {second!r} a {other}: they are no parts of one whole")
    if not known:
        return OneUnit(
            dict.fromkeys(names, 1.0), ["the units of the parts are not known; they are taken to be in one unit"]
        )
    kind = next(iter(kinds))
    notes = []
    factors = {name: known[name][1] if name in known else 1.0 for name in names}
    if len(set(factors[name] for name in known)) == 1 and not unknown:
        return OneUnit(dict.fromkeys(names, 1.0))
    strange = {unit for name in unknown if (unit := units[name])}
    if unknown:
        what = f"unknown unit ({', '.join(sorted(strange))})" if strange else "no known unit"
        common = "ppm" if kind.endswith("ppm") else kind
        notes.append(f"CHECK: {len(unknown)} parts have {what} and are taken as {common}: {named(unknown)}")
    by_unit: dict[str, int] = {}
    for name in known:
        unit = units[name] or ""
        by_unit[unit] = by_unit.get(unit, 0) + 1
    if len(set(known[name][1] for name in known)) > 1 or unknown:
        told = ", ".join(f"{count} in {unit}" for unit, count in by_unit.items())
        notes.append(f"parts brought to {'ppm' if kind.endswith('ppm') else kind} first: {told}")
    return OneUnit(factors, notes)
