"""Tools that look at files and tables and change nothing."""
