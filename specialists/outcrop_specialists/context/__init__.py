"""The context window: what a model sees, decided in code."""
