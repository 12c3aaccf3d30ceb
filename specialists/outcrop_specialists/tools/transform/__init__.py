"""Tools that make new columns, and new shapes, of tables."""
