"""The tools of the specialists: one file a tool, one line in `registry.py`."""
