"""What values the curves of well logs can physically have, by mnemonic and unit.

The bounds are ours, for common rock in an open hole: wider than what is usual, narrower than what a tool can write.
Massive ore can lie outside; a value outside is therefore reported and never left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """Least and greatest plausible value of a kind of curve in a unit."""

    low: float
    high: float


GAMMA, DENSITY, NEUTRON, SONIC, CALIPER, RESISTIVITY, PHOTOELECTRIC = (
    "gamma", "density", "neutron", "sonic", "caliper", "resistivity", "photoelectric",
)  # fmt: skip
_MNEMONICS = {
    GAMMA: "gr sgr cgr grd gam gamn gamma gammaray ngam natgam hsgr ecgr grs",
    DENSITY: "rhob rhoz den dens density zden rhom bdcx dfar dnear",
    NEUTRON: "nphi tnph npor cnc cncf npl nphl npls",
    SONIC: "dt dtc dtco dt4p ac bhc dtcomp sonic",
    CALIPER: "cali cal caliper hcal c1 c2 calx caly",
    RESISTIVITY: "rt rd rs rm rxo lld lls ild ilm sflu msfl rlla at10 at30 at90 res resd resistivity",
    PHOTOELECTRIC: "pef pe pefz pdpe",
}
# By kind, and by unit where a kind has several; "" stands for any other unit or none.
_RANGES: dict[str, dict[str, Range]] = {
    GAMMA: {"": Range(0, 2_000)},
    DENSITY: {"": Range(1.0, 3.0), "kg/m3": Range(1_000, 3_000), "k/m3": Range(1_000, 3_000)},
    NEUTRON: {"": Range(-0.15, 1.0), "%": Range(-15, 100), "pu": Range(-15, 100)},
    SONIC: {"": Range(40, 240), "us/m": Range(130, 790)},
    CALIPER: {"": Range(0.001, 2_000)},
    RESISTIVITY: {"": Range(0, 1e6)},
    PHOTOELECTRIC: {"": Range(0, 20)},
}
# Without a unit a curve may be in another one than the usual: then nothing is said about its range.
_NEEDS_UNIT = {DENSITY, NEUTRON, SONIC}


def range_of(name: str, unit: str | None, median: object = None) -> Range | None:
    """The plausible range of a curve; None for a kind or a unit that is not known.

    Where a density has no unit its median tells g/cm3 from kg/m3: they are a thousand apart.
    """
    key = re.sub(r"[^a-z0-9]", "", re.sub(r"[\[(:;].*", "", name).casefold())
    kind = next((kind for kind, words in _MNEMONICS.items() if key in words.split()), None)
    if kind is None:
        return None
    spelt = (unit or "").casefold().replace("µ", "u").replace("μ", "u").replace("³", "3").strip("[]() ")
    ranges = _RANGES[kind]
    if not spelt and kind == DENSITY and isinstance(median, float):
        return ranges["kg/m3"] if median > 100 else ranges[""]
    if spelt in ranges:
        return None if not spelt and kind in _NEEDS_UNIT else ranges[spelt]
    known = {
        DENSITY: {"g/cc", "g/cm3", "g/c3", "gm/cc"},
        NEUTRON: {"v/v", "m3/m3", "frac", "fraction", "dec"},
        SONIC: {"us/ft", "us/f", "usec/ft"},
    }
    return ranges[""] if kind not in known or spelt in known[kind] else None
