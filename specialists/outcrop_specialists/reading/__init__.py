"""How a file of any kind becomes one typed table, with a report of what was found and repaired."""
