"""Launches without confinement, for who asks for it: resource limits, supervision and a clean environment stay."""

from __future__ import annotations

import dataclasses

from outcrop.launching import Child, Launcher, LaunchSpec
from outcrop_specialists.guard.confine import always_on
from outcrop_specialists.guard.script import CONFINEMENT

TURNED_OFF = "turned off by --unconfined"


class UnconfinedLauncher:
    """Starts what another launcher starts, with the layers that are always on and no other."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher

    def warm(self) -> None:
        self._launcher.warm()

    async def close(self) -> None:
        await self._launcher.close()

    async def launch(self, spec: LaunchSpec) -> Child:
        """Start one process. Raises LaunchError."""
        policy = {**spec.policy, "layers": always_on(), "left_out": TURNED_OFF}
        environment = {**spec.environment, CONFINEMENT: "off"}
        bare = dataclasses.replace(spec, policy=policy, environment=environment, bubblewrap=None)
        return await self._launcher.launch(bare)
