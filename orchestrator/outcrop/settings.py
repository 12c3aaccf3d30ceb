"""Policy that a user may change: environment variables with the prefix OUTCROP_. Limits are not policy."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """How Outcrop behaves where nothing else is said."""

    model_config = SettingsConfigDict(env_prefix="OUTCROP_", frozen=True)

    workers: int = Field(default=2, ge=1, le=256)
    """Specialists at work at a time."""

    model: str = "offline"
    """The model of lead and specialists."""

    model_calls: int = Field(default=8, ge=1, le=1024)
    """Model calls at a time, of all agents together."""
