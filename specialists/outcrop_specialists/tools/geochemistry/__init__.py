"""Tools for compositions and for results below a detection limit."""
