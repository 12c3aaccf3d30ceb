"""Plans: the tool calls of a finished run, taken from its record, and done again on other files without a model."""
