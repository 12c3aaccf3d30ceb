"""Tools that compute statistics of columns and groups."""
