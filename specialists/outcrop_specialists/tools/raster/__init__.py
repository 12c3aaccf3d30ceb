"""Tools for rasters, on rasterio: the optional extra `outcrop[raster]`."""
