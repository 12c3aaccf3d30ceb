"""The current defaults, and whether there is a key. Names are configuration; the server says which models it has."""

from __future__ import annotations

import os

# Current in November 2026.
DEFAULT_LEAD = "claude-opus-5-5"
DEFAULT_SPECIALIST = "claude-sonnet-5-5"
# Where the SDK finds credentials, without opening files.
_CREDENTIALS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_PROFILE",
    "ANTHROPIC_IDENTITY_TOKEN",
    "ANTHROPIC_IDENTITY_TOKEN_FILE",
)


def has_credentials() -> bool:
    """Whether the environment holds a key, or says where one is."""
    return any(os.environ.get(name) for name in _CREDENTIALS)
