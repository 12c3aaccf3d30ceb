"""Figures of a cell's neighbourhood: gradients and texture, where cells without data never count as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Cells = NDArray[Any]

Gradient = Literal["slope", "aspect", "sobel"]
Texture = Literal["std", "entropy", "range"]
LEVELS = 32


def gradient(values: Cells, width: float, height: float, method: Gradient) -> Cells:
    """Horn's third-order difference over 3 by 3 cells (B. K. P. Horn, Hill shading and the reflectance map, Proc. IEEE
    69(1), 1981, 14-47), NaN where one of the nine cells is NaN or outside the raster.

    slope is in degrees, aspect in degrees clockwise from north of the direction downhill, both for values in the units
    of the cells; sobel is the magnitude of the difference per cell, without cell size. Rows run from north to south.
    """
    import numpy

    padded = numpy.pad(values, 1, constant_values=numpy.nan)
    lines, columns = values.shape
    cell = {
        (up, across): padded[1 + up : 1 + up + lines, 1 + across : 1 + across + columns]
        for up in (-1, 0, 1)
        for across in (-1, 0, 1)
    }
    east = cell[-1, 1] + 2 * cell[0, 1] + cell[1, 1]
    west = cell[-1, -1] + 2 * cell[0, -1] + cell[1, -1]
    south = cell[1, -1] + 2 * cell[1, 0] + cell[1, 1]
    north = cell[-1, -1] + 2 * cell[-1, 0] + cell[-1, 1]
    to_east, to_north = (east - west) / 8, (north - south) / 8
    # The cell itself takes no part in the differences; where it has no data there is no gradient all the same.
    gap = numpy.isnan(values)
    if method == "sobel":
        found = numpy.hypot(to_east, to_north)
    elif method == "slope":
        found = numpy.degrees(numpy.arctan(numpy.hypot(to_east / width, to_north / height)))
    else:
        found = numpy.degrees(numpy.arctan2(-to_east / width, -to_north / height)) % 360
        gap = gap | ((to_east == 0) & (to_north == 0))
    return numpy.where(gap, numpy.nan, found)


def texture(values: Cells, window: int, method: Texture) -> Cells:
    """Standard deviation (n), range or entropy (bits, of values in 32 equal classes between the band's 1st and 99th
    percentile) of the cells with data in a square window; NaN for a cell without data itself."""
    import numpy
    from scipy import ndimage

    has = numpy.isfinite(values)
    size = window * window
    count = ndimage.uniform_filter(has.astype(float), window, mode="constant") * size
    count = numpy.rint(count)
    if method == "range":
        low = ndimage.minimum_filter(numpy.where(has, values, numpy.inf), window, mode="constant", cval=numpy.inf)
        high = ndimage.maximum_filter(numpy.where(has, values, -numpy.inf), window, mode="constant", cval=-numpy.inf)
        found = high - low
    elif method == "std":
        # Centred first: the sum of squares of large values would lose the digits that the deviation consists of.
        centred = numpy.where(has, values - numpy.mean(values[has]), 0.0)
        mean = ndimage.uniform_filter(centred, window, mode="constant") * size / numpy.maximum(count, 1)
        squares = ndimage.uniform_filter(centred**2, window, mode="constant") * size / numpy.maximum(count, 1)
        found = numpy.sqrt(numpy.maximum(squares - mean**2, 0.0))
    else:
        found = _entropy(values, has, count, window)
    return numpy.where(has, found, numpy.nan)


def _entropy(values: Cells, has: Cells, count: Cells, window: int) -> Cells:
    import numpy
    from scipy import ndimage

    low, high = numpy.percentile(values[has], [1, 99])
    scaled = (numpy.where(has, values, low) - low) / ((high - low) or 1.0)
    classes = numpy.clip((scaled * LEVELS).astype(int), 0, LEVELS - 1)
    found = numpy.zeros(values.shape)
    for level in range(LEVELS):
        inside = has & (classes == level)
        if not inside.any():
            continue
        share = numpy.rint(ndimage.uniform_filter(inside.astype(float), window, mode="constant") * window**2)
        share /= numpy.maximum(count, 1)
        found -= numpy.where(share > 0, share * numpy.log2(numpy.where(share > 0, share, 1.0)), 0.0)
    return numpy.maximum(found, 0.0)
