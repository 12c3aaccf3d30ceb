"""Tools that run a script where no tool does the work."""
