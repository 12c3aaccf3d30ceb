"""Expressions over the columns of a table, from text to polars, with a list of what is allowed and no `eval`."""
