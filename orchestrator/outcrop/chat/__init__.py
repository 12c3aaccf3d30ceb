"""The agent that talks with the user: it looks at files, hands objectives to runs, answers. It sees no row."""
