"""Capability gaps: a specialist says which package it lacks; the user's settings or the user decide, never a model.

`requirement.py` says what is a package, `deciding.py` who decides, `installing.py` installs, `resuming.py` goes on.
"""
