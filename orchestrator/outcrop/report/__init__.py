"""The report of a run: its record as facts, the facts as one page that needs nothing but a browser."""
