"""Tools for places: coordinate systems, checks, neighbours, grids and variograms."""
