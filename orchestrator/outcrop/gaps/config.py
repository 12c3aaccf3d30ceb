"""What `[gaps]` of `outcrop.toml` says: which packages may be installed, and whether to ask."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, field_validator

from outcrop.gaps.requirement import allowed


class GapSettings(BaseModel):
    """What becomes of a package that a specialist lacks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    allow: list[str] = []
    """Packages that are installed without a question: `pip:NAME`, or `pip:NAME>=1.0,<2`."""

    ask: bool = True
    """Ask the user about others, where there is somebody to ask."""

    @field_validator("allow")
    @classmethod
    def _packages(cls, given: list[str]) -> list[str]:
        for entry in given:
            allowed(entry)
        return given
