"""What runs inside a specialist: agent loop, tools, guards, prompts."""
