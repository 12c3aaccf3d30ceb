"""What `outcrop.toml` says of an outside MCP server: `[mcp.NAME]`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from pydantic import BaseModel, ConfigDict, Field, field_validator

from outcrop_schemas import limits

_NAME = re.compile(r"[A-Za-z0-9-]([A-Za-z0-9-]|_(?!_)){0,30}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(=.*)?", re.DOTALL)


class McpServer(BaseModel):
    """One server. `{workspace}` in its command and in values of its environment is the workspace's folder."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    command: list[str] = Field(min_length=1)
    """The program and its arguments; a relative path starts at the workspace."""

    env: list[str] = []
    """What is added to its environment: NAME takes our own value, NAME=VALUE the given one."""

    specialists: list[str] | None = None
    """Who may call its tools; everybody where nothing is said."""

    tools: list[str] = ["*"]
    """Which of its tools: names, or patterns with `*` and `?`."""

    without: list[str] = []
    """Which of these not."""

    timeout_seconds: float = Field(default=limits.OUTSIDE_SECONDS, gt=0, le=limits.OUTSIDE_SECONDS_MOST, strict=False)
    """How long one call may take."""

    network: bool = False
    """Let it use the network. What a specialist tells it may then leave this machine."""

    reads: list[str] = []
    """Files and folders outside of the workspace that it may read."""

    @field_validator("timeout_seconds", mode="before")
    @classmethod
    def _no_switch(cls, given: object) -> object:
        if isinstance(given, bool):
            raise ValueError("a switch (true or false) is no number of seconds")
        return given

    @field_validator("env")
    @classmethod
    def _variables(cls, given: list[str]) -> list[str]:
        for item in given:
            if not _VARIABLE.fullmatch(item) or "\0" in item:
                raise ValueError(f"an entry is NAME or NAME=VALUE, not {item[:80]!r}")
        return given

    @field_validator("command", "reads")
    @classmethod
    def _words(cls, given: list[str]) -> list[str]:
        if any(not word or "\0" in word for word in given):
            raise ValueError("an empty word, or one with a zero byte, names nothing")
        return given

    def is_for(self, specialist: str) -> bool:
        """Whether this specialist may call its tools."""
        return self.specialists is None or specialist in self.specialists

    def has(self, tool: str) -> bool:
        """Whether a tool of this name is wanted."""
        return _matches(tool, self.tools) and not _matches(tool, self.without)

    def variables(self, workspace: str) -> dict[str, str]:
        """What is added to its environment; a NAME that is not set here is passed over."""
        found = {}
        for item in self.env:
            name, is_given, value = item.partition("=")
            if is_given:
                found[name] = value.replace("{workspace}", workspace)
            elif name in os.environ:
                found[name] = os.environ[name]
        return found

    def told(self) -> str:
        """In one line, without values of its environment, which may be secret."""
        names = [item.partition("=")[0] for item in self.env]
        return (
            f"{' '.join(self.command)}; for {', '.join(self.specialists) if self.specialists is not None else 'all'}; "
            f"{'with' if self.network else 'without'} network; {self.timeout_seconds:g} s a call"
            + (f"; also reads {', '.join(self.reads)}" if self.reads else "")
            + (f"; env {', '.join(names)}" if names else "")
            + (f"; tools {', '.join(self.tools)}" if self.tools != ["*"] else "")
            + (f"; without {', '.join(self.without)}" if self.without else "")
        )


def check_name(name: str) -> None:
    """Raises ValueError for a name that cannot stand before those of tools."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name[:80]!r} cannot be the name of a server: up to 31 letters, digits, - and single _ are, as it stands "
            "before the names of its tools"
        )


def _matches(tool: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(tool, pattern) for pattern in patterns)
