"""Reads and writes rasters through rasterio: the one door to it. Bands are float64, NaN where there is no data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_specialists.paths import data_file
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext
from outcrop_specialists.tools.publish import Published, publish

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    Cells = NDArray[Any]

# A band of so many cells is 400 MB as float64; a tool holds a few of them.
MOST_CELLS = 50_000_000
# Formats that are one file by themselves; not VRT, which may name files anywhere.
DRIVERS = ("GTiff", "AAIGrid", "ENVI", "EHdr", "HFA", "PNG", "JPEG", "GSBG", "GS7BG", "GSAG", "SAGA")
NODATA = -9999.0
PATH_HELP = "Raster file (GeoTIFF, ASCII grid, ENVI, PNG…), relative to the workspace."


class RasterArguments(ToolArguments):
    """Arguments of a tool that reads a raster."""

    path: str = Field(description=PATH_HELP)


@dataclass(frozen=True)
class Raster:
    """A raster file: size in cells, bands with type and nodata each, affine transform and CRS (rasterio's, or None)."""

    path: Path
    width: int
    height: int
    types: tuple[str, ...]
    nodata: tuple[float | None, ...]
    descriptions: tuple[str | None, ...]
    transform: Any
    crs: Any
    bounds: tuple[float, float, float, float]
    driver: str

    @property
    def bands(self) -> int:
        return len(self.types)

    @property
    def cell_size(self) -> tuple[float, float]:
        """Width and height of a cell in the units of the CRS, both positive."""
        return abs(float(self.transform.a)), abs(float(self.transform.e))

    @property
    def system(self) -> str | None:
        return None if self.crs is None else str(self.crs.to_string())[:120]

    def is_classes(self) -> bool:
        """Whether all bands hold whole numbers, which may be codes of classes."""
        return all("int" in kind for kind in self.types)


def rasterio_module() -> ModuleType:
    """rasterio; raises DataError, saying how it is installed, where it is not."""
    try:
        import rasterio
        import rasterio.crs
        import rasterio.errors
        import rasterio.io
        import rasterio.transform
        import rasterio.warp
    except ImportError as error:
        raise DataError('rasters need the library rasterio: pip install "outcrop[raster]"') from error
    found: ModuleType = rasterio
    return found


def open_raster(context: ToolContext, path: str) -> Raster:
    """What a raster file is. Raises PathError, and DataError for what is no raster or has rotated or too many cells."""
    resolved = data_file(context.workspace, path)
    context.report(f"reading {resolved.name}", None, None)
    with _opened(resolved) as file:
        raster = Raster(
            resolved,
            file.width,
            file.height,
            tuple(file.dtypes),
            tuple(file.nodatavals),
            tuple(file.descriptions),
            file.transform,
            file.crs,
            tuple(file.bounds),
            file.driver,
        )
    if any("complex" in kind for kind in raster.types):
        raise DataError(f"{resolved.name}: holds complex numbers, which no tool here reads")
    require_size(raster.width, raster.height, "path", resolved.name)
    return raster


def require_size(width: float, height: float, field: str, name: str) -> None:
    """Raises ArgumentError for a raster without cells or with more than fit into memory."""
    if width < 1 or height < 1:
        raise ArgumentError(
            field, f"{name} would have {width:,.0f} by {height:,.0f} cells; at least one each is needed"
        )
    if width * height > MOST_CELLS:
        raise ArgumentError(
            field, f"{name}: {width:,.0f} by {height:,.0f} cells are more than the {MOST_CELLS:,} that are worked on; "
            "clip it or use larger cells",
        )  # fmt: skip


def require_bands(raster: Raster, wanted: Sequence[int] | None, field: str = "bands") -> list[int]:
    """The band numbers (from 1) wanted, all where None. Raises ArgumentError for a number that there is not."""
    if wanted is None:
        return list(range(1, raster.bands + 1))
    wrong = next((band for band in wanted if not 1 <= band <= raster.bands), None)
    if wrong is not None:
        raise ArgumentError(field, f"{raster.path.name} has bands 1 to {raster.bands}, not {wrong}")
    return list(wanted)


def require_north_up(raster: Raster) -> None:
    """Raises DataError for a rotated raster, whose rows and columns do not run along x and y."""
    if raster.transform.b or raster.transform.d:
        raise DataError(f"{raster.path.name}: is rotated; reproject_raster makes it upright")


def read_band(raster: Raster, band: int) -> Cells:
    """A band as float64 of shape (height, width), NaN where masked, nodata or not finite."""
    import numpy

    with _opened(raster.path) as file:
        found = file.read(band, masked=True)
    values: Cells = numpy.ma.filled(found.astype(numpy.float64), numpy.nan)
    values[~numpy.isfinite(values)] = numpy.nan
    return values


def read_raw(raster: Raster, band: int) -> Cells:
    """A band in its own type, nodata as it is written."""
    with _opened(raster.path) as file:
        found: Cells = file.read(band)
        return found


@dataclass(frozen=True)
class NewRaster:
    """A raster to be written: bands of one shape and type. Float bands mark missing cells as NaN, which is written as
    `nodata`."""

    bands: Sequence[Cells]
    transform: Any
    crs: Any
    nodata: float | None = NODATA
    descriptions: Sequence[str | None] = ()


def publish_raster(
    context: ToolContext,
    tool: Tool,
    inputs: Sequence[Raster],
    arguments: ToolArguments,
    new: NewRaster,
    title: str,
    more_inputs: Sequence[Path] = (),
) -> Published:
    """Write a GeoTIFF (deflate) in place under its name, with lineage."""
    given = {name: value for name, value in arguments.model_dump(mode="json").items() if not name.endswith("path")}
    return publish(
        context,
        tool,
        [*(raster.path for raster in inputs), *more_inputs],
        given,
        extension="tif",
        kind="other",
        title=title,
        write=lambda path: _write(path, new),
    )


def statistics(values: Cells) -> dict[str, Any]:
    """Count, missing, min, mean, sd (n - 1), median and max of the cells that have data."""
    import numpy

    known = values[numpy.isfinite(values)]
    found: dict[str, Any] = {"valid": int(known.size), "nodata": int(values.size - known.size)}
    if not known.size:
        return found | dict.fromkeys(("min", "mean", "sd", "median", "max"))
    return found | {
        "min": float(known.min()),
        "mean": float(known.mean()),
        "sd": float(known.std(ddof=1)) if known.size > 1 else None,
        "median": float(numpy.median(known)),
        "max": float(known.max()),
    }


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The file, open for reading, in one of `DRIVERS`."""
    import warnings

    rasterio = rasterio_module()
    with warnings.catch_warnings(), rasterio.Env():
        # One without a place is a raster all the same; tools that need the place say so.
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        try:
            # rasterio.open takes one driver only.
            file = rasterio.io.DatasetReader(str(path), driver=list(DRIVERS))
        except rasterio.errors.RasterioError as error:
            raise DataError(f"{path.name}: cannot be read as a raster: {str(error)[:200]}") from error
        with file:
            yield file


def _write(path: Path, new: NewRaster) -> None:
    import numpy

    rasterio = rasterio_module()
    first = new.bands[0]
    is_float = first.dtype.kind == "f"
    made = {
        "driver": "GTiff",
        "width": first.shape[1],
        "height": first.shape[0],
        "count": len(new.bands),
        "dtype": first.dtype.name,
        "crs": new.crs,
        "transform": new.transform,
        "nodata": new.nodata,
        "compress": "deflate",
        "predictor": 3 if is_float else 2,
        "BIGTIFF": "IF_SAFER",
    }
    with rasterio.Env(GDAL_PAM_ENABLED=False), rasterio.open(path, "w", **made) as file:
        for number, band in enumerate(new.bands, start=1):
            kept = numpy.where(numpy.isnan(band), new.nodata, band) if is_float and new.nodata is not None else band
            file.write(kept.astype(first.dtype), number)
            if number <= len(new.descriptions) and new.descriptions[number - 1]:
                file.set_band_description(number, new.descriptions[number - 1])
