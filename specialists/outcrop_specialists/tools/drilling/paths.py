"""The path of drill holes by minimum curvature: each stretch between two survey stations is an arc of a circle.

Source: S. J. Sawaryn and J. L. Thorogood, A Compendium of Directional Calculations Based on the Minimum Curvature
Method, SPE Drilling & Completion 20(1), 2005, pp. 24-36 (SPE 84246): directions, dogleg, shape factor, interpolation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

# Below this dogleg (radians) an arc is straight to within the precision of a float; the series of tan(x)/x is used.
STRAIGHT = 1e-4


@dataclass(frozen=True)
class Stations:
    """Survey stations of many holes, ordered by hole and depth; arrays of one length, angles in radians.

    `hole` numbers the holes from 0; `depth` is measured along the hole; `inclination` is from vertical (0 down, pi up);
    `azimuth` clockwise from north. The first station of each hole lies at depth 0.
    """

    hole: Vector
    depth: Vector
    inclination: Vector
    azimuth: Vector

    def directions(self) -> Vector:
        """Unit vectors (east, north, down) of shape (stations, 3)."""
        import numpy

        sine = numpy.sin(self.inclination)
        return numpy.column_stack(
            [sine * numpy.sin(self.azimuth), sine * numpy.cos(self.azimuth), numpy.cos(self.inclination)]
        )


@dataclass(frozen=True)
class Paths:
    """Stations with their places (east, north, down of the collar) and the dogleg (radians) since the one above, 0 for
    the first."""

    stations: Stations
    directions: Vector
    places: Vector
    dogleg: Vector


def trace(stations: Stations) -> Paths:
    """Places of all stations, relative to the collar."""
    import numpy

    directions = stations.directions()
    first, second = directions[:-1], directions[1:]
    same = stations.hole[1:] == stations.hole[:-1]
    dogleg = numpy.where(same, angle_between(first, second), 0.0)
    length = numpy.where(same, numpy.diff(stations.depth), 0.0)
    steps = (length / 2 * shape_factor(dogleg))[:, None] * (first + second)
    places = numpy.zeros_like(directions)
    numpy.cumsum(steps, axis=0, out=places[1:])
    # Each hole starts anew: take off what the holes before it added up.
    begins = numpy.flatnonzero(numpy.concatenate([[True], ~same]))
    places -= numpy.repeat(places[begins], numpy.diff(numpy.append(begins, len(places))), axis=0)
    return Paths(stations, directions, places, numpy.concatenate([[0.0], dogleg]))


def at_depths(paths: Paths, hole: Vector, depth: Vector) -> tuple[Vector, Vector]:
    """Places (east, north, down of the collar) at depths of holes, and whether each lies beyond the last station, where
    the hole is taken to go straight on."""
    import numpy

    stations = paths.stations
    begins = numpy.searchsorted(stations.hole, hole, side="left")
    ends = numpy.searchsorted(stations.hole, hole, side="right") - 1
    above = _station_above(stations, hole, depth, begins, ends)
    below = numpy.minimum(above + 1, ends)
    beyond = depth > stations.depth[ends]
    span = stations.depth[below] - stations.depth[above]
    part = numpy.divide(depth - stations.depth[above], span, out=numpy.zeros_like(depth), where=span > 0)
    part = numpy.where(beyond, 0.0, part)
    first, second = paths.directions[above], paths.directions[below]
    dogleg = angle_between(first, second)
    direction = _between(first, second, dogleg, part)
    step = numpy.where(beyond, 0.0, depth - stations.depth[above])
    places = paths.places[above] + (step / 2 * shape_factor(part * dogleg))[:, None] * (first + direction)
    straight = numpy.where(beyond, depth - stations.depth[ends], 0.0)
    places = numpy.where(beyond[:, None], paths.places[ends], places) + straight[:, None] * paths.directions[ends]
    return places, beyond


def angle_between(first: Vector, second: Vector) -> Vector:
    """Angle (radians) between unit vectors, exact for small angles too: 2 atan2(|b - a|, |a + b|)."""
    import numpy

    found: Vector = 2 * numpy.arctan2(
        numpy.linalg.norm(second - first, axis=1), numpy.linalg.norm(first + second, axis=1)
    )
    return found


def shape_factor(dogleg: Vector) -> Vector:
    """tan(half the dogleg) / half the dogleg; 1 for a straight stretch."""
    import numpy

    half = dogleg / 2
    bent = numpy.where(half > STRAIGHT, half, 1.0)
    found: Vector = numpy.where(half > STRAIGHT, numpy.tan(bent) / bent, 1 + half**2 / 3 + 2 * half**4 / 15)
    return found


def _between(first: Vector, second: Vector, dogleg: Vector, part: Vector) -> Vector:
    """The direction at a part (0 to 1) of an arc."""
    import numpy

    sine = numpy.sin(dogleg)
    bent = numpy.where(sine > STRAIGHT, sine, 1.0)
    weight = numpy.where(sine > STRAIGHT, numpy.sin(part * dogleg) / bent, part)
    rest = numpy.where(sine > STRAIGHT, numpy.sin((1 - part) * dogleg) / bent, 1 - part)
    mixed = rest[:, None] * first + weight[:, None] * second
    found: Vector = mixed / numpy.linalg.norm(mixed, axis=1, keepdims=True)
    return found


def _station_above(stations: Stations, hole: Vector, depth: Vector, begins: Vector, ends: Vector) -> Vector:
    """For each depth the last station at or above it, in its hole; stations and depths are ordered by hole alike."""
    import numpy

    # One sort over (hole, depth) of stations and wanted depths together; a station comes before a depth equal to it.
    holes = numpy.concatenate([stations.hole, hole])
    depths = numpy.concatenate([stations.depth, depth])
    is_wanted = numpy.concatenate([numpy.zeros(len(stations.hole), bool), numpy.ones(len(hole), bool)])
    order = numpy.lexsort((is_wanted, depths, holes))
    seen = numpy.cumsum(~is_wanted[order]) - 1
    above = numpy.empty(len(order), dtype=numpy.int64)
    above[order] = seen
    found: Vector = numpy.clip(above[len(stations.hole) :], begins, ends)
    return found
