"""Clauses bound to the arguments of the real tools by the offline model, on a table of soil samples."""

from __future__ import annotations

from typing import Any

from outcrop.models.offline.binding import Binding, bind
from outcrop.models.offline.profile import Column, Profile
from outcrop.models.offline.references import Previous
from outcrop_specialists.tools.registry import get_tool

ELEMENTS = ("Al", "K", "Cu", "Zn", "As", "In", "Au", "Rb", "La", "Th", "Pb")
SOIL = Profile(
    "soil.csv",
    (
        Column("SampleID", "text", "sample_id"),
        Column("Longitude", "number", "longitude"),
        Column("Latitude", "number", "latitude"),
        *(Column(name, "number", "element", "ppm") for name in ELEMENTS),
        Column("Rock Type", "text", "category"),
        Column("HoleType", "text", "category"),
    ),
    100,
)


def bound(tool: str, clause: str, profile: Profile = SOIL, previous: Previous | None = None) -> Binding:
    return bind(get_tool(tool).schema(), clause, profile, previous)


def arguments(tool: str, clause: str, profile: Profile = SOIL, previous: Previous | None = None) -> dict[str, Any]:
    """The arguments of the only call, which the tool itself accepts; without the path."""
    binding = bound(tool, clause, profile, previous)
    assert binding.refusals == []
    assert len(binding.calls) == 1
    get_tool(tool).arguments.model_validate(binding.calls[0])
    assert binding.calls[0]["path"] == profile.path
    return {name: value for name, value in binding.calls[0].items() if name != "path"}


def refusal(tool: str, clause: str, profile: Profile = SOIL) -> str:
    """Why nothing is called."""
    binding = bound(tool, clause, profile)
    assert binding.calls == []
    return "; ".join(binding.refusals)
