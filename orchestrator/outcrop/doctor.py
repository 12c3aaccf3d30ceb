"""Examines an installation: Python, libraries, model, workspace, and what is confined and what is not yet."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from outcrop.isolation import IsolationProof, Proof
from outcrop.launching.cold import ColdLauncher
from outcrop.launching.nursery import NurseryLauncher
from outcrop.models import ModelTable
from outcrop.models.anthropic.names import has_credentials
from outcrop.properties import IsolationSet, unproven
from outcrop.settings import Settings, effective
from outcrop.workspace import Workspace
from outcrop_schemas.errors import LaunchError, MissingExtraError, UsageError, WorkspaceBusyError, WorkspaceError
from outcrop_specialists.guard.kernel import hide_from_others

_NURSERY_SECONDS = 60.0


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    is_good: bool
    text: str


@dataclass(frozen=True)
class Report:
    """All checks, and the isolation that specialists get here."""

    checks: list[Check]
    isolation: IsolationSet

    @property
    def is_good(self) -> bool:
        return all(check.is_good for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        return {
            "ok": self.is_good,
            "checks": [vars(check) for check in self.checks],
            "isolation": {name: found.model_dump() for name, found in self.isolation.items()},
        }


async def examine(folder: str | Path) -> Report:
    """Look at everything and probe the confinement anew; only the workspace's own `.outcrop` folder is written to."""
    checks = [_python(), *_libraries(), _byte_code(), _processes(), *_settings(folder)]
    try:
        workspace = Workspace(folder)
        workspace.hold()
    except WorkspaceBusyError as error:
        return Report([*checks, Check("workspace", True, str(error))], unproven("the workspace is in use"))
    except WorkspaceError as error:
        return Report([*checks, Check("workspace", False, str(error))], unproven("there is no workspace to probe in"))
    try:
        proof = await _probe(workspace)
        isolation = proof.cold
        checks += [Check("workspace", True, f"{workspace.folder} can be written to"), await _nursery(workspace)]
        checks += [_bubblewrap(proof)]
    finally:
        workspace.release()
    return Report(checks, isolation)


async def _probe(workspace: Workspace) -> Proof:
    hide_from_others()
    try:
        wraps = Settings.load(workspace.folder).bubblewrap
    except UsageError as error:
        return Proof.none(f"the probe could not be run: {error}")
    return await IsolationProof(workspace, ColdLauncher(), wraps=wraps).renew()


def _bubblewrap(proof: Proof) -> Check:
    if proof.bubblewrap:
        return Check("bubblewrap", True, f"{proof.bubblewrap} is around what is started cold: a COMMAND, --launch cold")
    return Check("bubblewrap", True, f"not used: {proof.without_bubblewrap}")


async def _nursery(workspace: Workspace) -> Check:
    nursery = NurseryLauncher(workspace.home / "cache")
    try:
        nursery.warm()
        async with asyncio.timeout(_NURSERY_SECONDS):
            await nursery.ready.wait()
    except (LaunchError, TimeoutError) as error:
        return Check("nursery", False, f"cannot be used, specialists start cold: {error or 'it was not ready in time'}")
    finally:
        await nursery.close()
    return Check("nursery", True, "built-in specialists are forked from it; a COMMAND starts cold")


def _python() -> Check:
    text = f"{platform.python_version()} on {platform.system()} {platform.release()}"
    return Check("Python", sys.version_info >= (3, 11), text)


def _libraries() -> Iterator[Check]:
    for requirement in requires("outcrop") or []:
        if ";" in requirement:
            continue
        name = requirement.split(">")[0].split("=")[0].split("<")[0].strip()
        try:
            yield Check(name, True, version(name))
        except PackageNotFoundError:
            yield Check(name, False, "is not installed; run scripts/setup or install outcrop again")


def _byte_code() -> Check:
    import numpy

    cached = Path(numpy.__file__).parent / "__pycache__"
    if cached.is_dir() and any(cached.iterdir()):
        return Check("byte code", True, "libraries are compiled")
    return Check(
        "byte code", False, "libraries are not compiled: every process starts several times slower; run scripts/setup"
    )


def _processes() -> Check:
    if hasattr(os, "pidfd_open"):
        return Check("processes", True, "pidfd available")
    return Check("processes", False, "this system has no pidfd; Outcrop needs Linux 5.3 or later")


def _outside(settings: Settings, workspace: Path) -> Iterator[Check]:
    """The servers of outcrop.toml: what talks to them, whether their programs are there, what they may."""
    from outcrop.outside.launch import resolved
    from outcrop.outside.servers import check_installed

    try:
        check_installed(settings.mcp)
    except MissingExtraError as error:
        yield Check("outside servers", False, str(error))
    for name, server in settings.mcp.items():
        network = (
            "IT HAS THE NETWORK: what specialists tell it may leave this machine" if server.network else "no network"
        )
        try:
            program = resolved(server.command, workspace)[0]
        except LaunchError as error:
            yield Check(f"outside server {name}", False, str(error))
        else:
            yield Check(f"outside server {name}", True, f"{program}, confined as a COMMAND; {network}")


def _settings(folder: str | Path) -> Iterator[Check]:
    """What is set, the models that would be asked, and what they cost."""
    try:
        settings = Settings.load(folder)
        models = ModelTable(None, settings)
    except UsageError as error:
        yield Check("settings", False, str(error))
        return
    said = [f"{name} = {value}" for name, value, origin in effective(settings) if origin == "set"]
    yield Check("settings", True, "; ".join(said) or "all as they come")
    yield from _outside(settings, Path(folder).absolute())
    names = ", ".join(f"{role}: {name}" for role, name in models.names().items())
    paid, prices = models.paid_names(), settings.price_list()
    if not paid:
        yield Check("model", True, f"{names}, a deterministic planner and no language model; no key is needed")
        return
    key = "a key is set" if has_credentials() else "no key is set (ANTHROPIC_API_KEY)"
    yield Check("model", has_credentials(), f"{names}; {key}")
    without = [name for name in paid if prices.of(name) is None]
    bound = settings.budget_usd is not None
    told = f"no price for {', '.join(without)}: --budget-usd needs one in outcrop.toml" if without else "for all models"
    yield Check("prices", not (without and bound), f"{told}; the list is of {prices.as_of}")
