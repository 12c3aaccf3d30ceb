"""Factors between units of one quantity: concentrations, conductivities, lengths, temperatures …"""

from __future__ import annotations

from dataclasses import dataclass

from outcrop_specialists.columns.units import normal_unit

TROY_OUNCE = 31.1034768
SHORT_TON, LONG_TON = 907184.74, 1016046.9088
"""Grams, of the international avoirdupois pound (0.45359237 kg)."""
FOOT = 0.3048

_GROUPS: dict[str, dict[str, float]] = {
    # Mass in mass, as mg/kg.
    "mass fraction": {
        "% %wt wt% wt.% wt_% wtpct pct percent": 1e4,
        "permil ‰ o/oo g/kg mg/g kg/t": 1e3,
        "ppm ppmw ppmwt g/t gpt mg/kg ug/g µg/g": 1.0,
        "ppb ug/kg µg/kg ng/g mg/t": 1e-3,
        "ppt ng/kg pg/g": 1e-6,
        "g/g kg/kg": 1e6,
        "oz/t opt oz/st": TROY_OUNCE / SHORT_TON * 1e6,
        "oz/lt": TROY_OUNCE / LONG_TON * 1e6,
        "oz/tonne": TROY_OUNCE,
    },
    # Mass in volume, as mg/l.
    "mass concentration": {
        "g/l kg/m3 kg/m³": 1e3,
        "mg/l g/m3 g/m³": 1.0,
        "ug/l µg/l mg/m3 mg/m³": 1e-3,
        "ng/l": 1e-6,
    },
    "amount concentration": {"mol/l": 1e3, "mmol/l mol/m3": 1.0, "µmol/l umol/l": 1e-3},
    "conductivity": {"s/m": 1e4, "ms/cm": 1e3, "ds/m": 1e3, "ms/m": 10.0, "us/cm µs/cm": 1.0, "us/m µs/m": 1e-2},
    "length": {
        "km": 1e3,
        "m metre metres meter meters": 1.0,
        "cm": 1e-2,
        "mm": 1e-3,
        "um µm": 1e-6,
        "nm": 1e-9,
        "ft feet foot": FOOT,
        "in inch inches": FOOT / 12,
        "mi miles": 5280 * FOOT,
    },
    "area": {"km2 km²": 1e6, "ha": 1e4, "m2 m²": 1.0},
    "mass": {
        "t tonnes": 1e3,
        "kg": 1.0,
        "g": 1e-3,
        "mg": 1e-6,
        "ug µg": 1e-9,
        "lb": 0.45359237,
        "ozt": TROY_OUNCE / 1e3,
    },
    "density": {"g/cc g/cm3 g/cm³ t/m3 t/m³": 1.0, "kg/m3 kg/m³": 1e-3},
    "pressure": {"pa": 1.0, "hpa mbar": 1e2, "kpa": 1e3, "bar": 1e5, "mpa": 1e6, "gpa": 1e9, "psi": 6894.757293168361},
    "discharge": {"m3/s m³/s": 1e3, "l/s": 1.0, "cfs": FOOT**3 * 1e3},
    "fraction": {"frac fraction v/v m3/m3 m³/m³": 1.0, "% pct percent": 1e-2},
    "time": {"s sec": 1.0, "min": 60.0, "h hr hours": 3600.0, "d day days": 86400.0},
    "slowness": {"us/m µs/m": 1.0, "us/ft µs/ft": 1 / FOOT},
    "voltage": {"v": 1.0, "mv": 1e-3},
}
_TEMPERATURES = {"°c": (1.0, 273.15), "degc": (1.0, 273.15), "c": (1.0, 273.15), "k": (1.0, 0.0)}
_TEMPERATURES |= dict.fromkeys(("°f", "degf", "f"), (5 / 9, 459.67 * 5 / 9))


@dataclass(frozen=True)
class Conversion:
    """`new = old * factor + offset`, and the quantity that both units measure."""

    factor: float
    offset: float
    quantity: str


def conversion(one: str, other: str) -> Conversion | None:
    """From one unit to another; None where they do not measure the same quantity or one is not known.

    `oz/t` is the troy ounce per short ton, as American assays give it.
    """
    first, second = normal_unit(one), normal_unit(other)
    if first in _TEMPERATURES and second in _TEMPERATURES:
        (scale, zero), (new_scale, new_zero) = _TEMPERATURES[first], _TEMPERATURES[second]
        return Conversion(scale / new_scale, (zero - new_zero) / new_scale, "temperature")
    for quantity, groups in _GROUPS.items():
        factors = {unit: factor for units, factor in groups.items() for unit in units.split()}
        if first in factors and second in factors:
            return Conversion(_ratio(factors[first], factors[second]), 0.0, quantity)
    return None


def _ratio(one: float, other: float) -> float:
    """1000 and not 999.9999999999999, where both are powers of ten."""
    ratio = one / other
    rounded = float(f"{ratio:.12g}")
    return rounded if abs(rounded - ratio) < 1e-12 * ratio else ratio
