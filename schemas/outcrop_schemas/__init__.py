"""The ground both sides stand on: what crosses a process or file boundary, every limit, every error class."""
