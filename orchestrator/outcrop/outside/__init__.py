"""MCP servers that are not ours, named in `outcrop.toml`: started confined, their tools handed to specialists."""
