"""Tools that draw."""
