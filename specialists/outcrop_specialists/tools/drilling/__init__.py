"""Tools for drill holes: checks of intervals, composites, intercepts, profiles, joins and hole paths."""
