"""Puts a raster on another grid: resampling in the type of its bands, nodata kept out of every mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.raster.rasters import NODATA, NewRaster, Raster, read_raw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Cells = NDArray[Any]

Method = Literal["auto", "nearest", "bilinear", "cubic", "average", "mode", "min", "max", "median"]
METHOD_HELP = (
    "How values are resampled: nearest or mode for classes, bilinear, cubic, average, median, min or max for measured "
    "values. auto: nearest for whole numbers (they may be classes), bilinear for others."
)


@dataclass(frozen=True)
class Target:
    """The grid that a raster is put on."""

    transform: Any
    width: int
    height: int
    crs: Any


def chosen_method(raster: Raster, method: Method, *, means_are_meant: bool = False) -> str:
    """The method meant by `auto`: nearest for whole numbers."""
    if method != "auto":
        return method
    return "nearest" if raster.is_classes() else "average" if means_are_meant else "bilinear"


def warped(raster: Raster, target: Target, method: str) -> NewRaster:
    """All bands on another grid. Whole numbers stay so where the method only picks values, and become float64 where it
    computes new ones; where the source has no nodata value, cells outside it get one that it does not hold."""
    import numpy
    from rasterio.enums import Resampling
    from rasterio.warp import reproject

    picks = method in ("nearest", "mode", "min", "max")
    nodata = next((value for value in raster.nodata if value is not None), None)
    is_whole = raster.is_classes()
    stays = picks and (is_whole or nodata is not None)
    kind = numpy.dtype(raster.types[0]) if stays and len(set(raster.types)) == 1 else numpy.dtype("float64")
    sources = [read_raw(raster, band) for band in range(1, raster.bands + 1)]
    if kind.kind in "iu":
        fill: float = nodata if nodata is not None else _free_value(kind, sources, raster)
    else:
        fill = nodata if nodata is not None and numpy.isfinite(nodata) else NODATA
    bands = []
    for values, own in zip(sources, raster.nodata, strict=True):
        source = values.astype(kind)
        missing = None
        if kind.kind == "f":
            missing = ~numpy.isfinite(source) | ((source == own) if own is not None else False)
            source = numpy.where(missing, numpy.nan, source)
        made = numpy.full((target.height, target.width), numpy.nan if kind.kind == "f" else fill, dtype=kind)
        reproject(
            source, made, src_transform=raster.transform, src_crs=raster.crs or target.crs,
            dst_transform=target.transform, dst_crs=target.crs or raster.crs, resampling=Resampling[method],
            src_nodata=numpy.nan if kind.kind == "f" else own, dst_nodata=numpy.nan if kind.kind == "f" else fill,
        )  # fmt: skip
        bands.append(made)
    return NewRaster(bands, target.transform, target.crs or raster.crs, fill, raster.descriptions)


def _free_value(kind: Any, sources: list[Cells], raster: Raster) -> float:
    """A value that no cell holds, to mark cells outside the source."""
    import numpy

    limits = numpy.iinfo(kind)
    taken: set[int] = set()
    for values in sources:
        taken |= set(numpy.unique(values).tolist()) if values.size else set()
    for candidate in (limits.min if limits.min < 0 else limits.max, limits.max, limits.min, *range(255, -1, -1)):
        if candidate not in taken and limits.min <= candidate <= limits.max:
            return float(candidate)
    raise ArgumentError("path", f"{raster.path.name} has no nodata value and uses all values of its type {kind}")
