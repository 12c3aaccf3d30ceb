"""Tools that write a cleaned copy of a table."""
