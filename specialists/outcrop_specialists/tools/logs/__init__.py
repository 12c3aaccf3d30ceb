"""Tools for well logs: curves measured down a hole."""
