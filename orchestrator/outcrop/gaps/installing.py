"""Installs a package for one workspace: wheels only, so that no code of it runs, and nothing that the base has.

pip first says what is missing besides what is installed already, at the very versions that are; then that, and no
more, is put by its hashes into a folder of its own, which stands behind the base on the import path.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import importlib.util
import os
import secrets
import shutil
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from outcrop.gaps.requirement import Requirement, canonical
from outcrop.spill import open_private, write_private
from outcrop.text import shorten
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import PackageError

# What pip may know of the user's: where packages come from, and how to get there. Nothing else, above all no key.
_PASSED_ON = frozenset((
    "PATH", "HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
    "all_proxy", "no_proxy", "NETRC", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX",
    "PIP_TRUSTED_HOST", "PIP_CERT", "PIP_CLIENT_CERT", "PIP_PROXY", "PIP_CONFIG_FILE", "PIP_DEFAULT_TIMEOUT",
    "PIP_TIMEOUT", "PIP_RETRIES",
))  # fmt: skip
_PIP = (
    sys.executable,
    "-P",
    "-m",
    "pip",
    "install",
    "--no-input",
    "--disable-pip-version-check",
    "--only-binary",
    ":all:",
)
_REASON_CHARS = 400
_NO_MODULES = (".dist-info", ".data", "__pycache__", "bin")


@dataclass(frozen=True)
class Distribution:
    """One package as it was installed."""

    name: str
    version: str
    sha256: str

    def as_json(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class Installed:
    """What one installation brought, and the folder that it lies in."""

    folder: Path
    distributions: tuple[Distribution, ...]

    def __str__(self) -> str:
        return ", ".join(f"{one.name} {one.version}" for one in self.distributions)


class PackageStore:
    """The packages of a workspace that this interpreter can use. It belongs to the process that holds the workspace."""

    def __init__(self, home: Path) -> None:
        self.place = home / "packages" / str(sys.implementation.cache_tag)
        self._one_at_a_time = asyncio.Lock()
        self._done: dict[str, Installed] = {}

    def folders(self) -> list[Path]:
        """A folder for each package that was installed; one that is just being installed is none."""
        with contextlib.suppress(OSError), os.scandir(self.place) as entries:
            return sorted(Path(one.path) for one in entries if one.is_dir(follow_symlinks=False) and one.name[0] != ".")
        return []

    async def install(self, requirement: Requirement, log: Path) -> Installed:
        """Install it, once; what pip says goes to `log`. Raises PackageError, and then leaves nothing behind."""
        async with self._one_at_a_time:
            if str(requirement) not in self._done:
                self._done[str(requirement)] = await self._install(requirement, log)
        return self._done[str(requirement)]

    async def _install(self, requirement: Requirement, log: Path) -> Installed:
        staging = self.place / f".new-{secrets.token_hex(4)}"
        try:
            self._make_place()
            staging.mkdir(mode=0o700)
            async with asyncio.timeout(limits.GAP_INSTALL_SECONDS):
                others = [each for each in self.folders() if not _is_version_of(each, requirement)]
                return await _installed(requirement, staging, log, others)
        except TimeoutError:
            raise PackageError(f"{requirement} was not installed within {limits.GAP_INSTALL_SECONDS:g} s") from None
        except OSError as error:
            raise PackageError(f"{requirement} could not be installed: {error.strerror or error}") from error
        finally:
            await asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True)

    def _make_place(self) -> None:
        for folder in (self.place.parent, self.place):
            folder.mkdir(mode=0o700, exist_ok=True)
            if folder.is_symlink():
                raise PackageError(f"{folder} is a link; remove it: packages are kept in the workspace")
        # Of an orchestrator that was killed: nobody else installs while this one holds the workspace.
        for left in self.place.glob(".new-*"):
            shutil.rmtree(left, ignore_errors=True)


async def _installed(requirement: Requirement, staging: Path, log: Path, others: Sequence[Path]) -> Installed:
    report, bounds, wanted = (staging / name for name in ("report.json", "bounds.txt", "wanted.txt"))
    # What two packages of the workspace need is there twice, and must be the same.
    shared = {name: version for name, version in _versions(map(str, others)).items() if name != requirement.key}
    kept = {**shared, **_versions()}
    write_private(bounds, "".join(f"{name}=={version}\n" for name, version in kept.items()).encode())
    dry = ("--dry-run", "--quiet", "--report", str(report), "--constraint", str(bounds), str(requirement))
    await _pip(dry, staging, log, requirement)
    found = _missing(wire.loads(report.read_bytes()))
    if not found:
        raise PackageError(f"{requirement} is there already; nothing was installed")
    lines = (f"{one.name}=={one.version} --hash=sha256:{one.sha256}\n" for one in found)
    write_private(wanted, "".join(lines).encode())
    files = staging / "files"
    what = ("--no-deps", "--require-hashes", "--target", str(files), "--requirement", str(wanted))
    await _pip(what, staging, log, requirement)
    _check_names(files, requirement)
    _check_others(files, requirement, others)
    return Installed(_published(files, requirement, found, staging), found)


def _published(files: Path, requirement: Requirement, found: Sequence[Distribution], staging: Path) -> Path:
    """The files in their place; an older version of the package gives way."""
    version = next((one.version for one in found if canonical(one.name) == requirement.key), found[0].version)
    place = staging.parent
    target = place / f"{requirement.key}-{version}"
    before = [folder for folder in place.iterdir() if _is_version_of(folder, requirement)]
    for number, other in enumerate(before):
        other.rename(staging / f"before-{number}")
    files.rename(target)
    return target


def _missing(report: Mapping[str, Any]) -> tuple[Distribution, ...]:
    """What pip would install. Raises PackageError for a report that is none, and for what has no hash."""
    try:
        return tuple(
            Distribution(
                one["metadata"]["name"],
                one["metadata"]["version"],
                _sha256(one["download_info"]["archive_info"]),
            )
            for one in report["install"]
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise PackageError(f"pip did not say what it would install (no {error})") from error


def _sha256(archive: Mapping[str, Any]) -> str:
    """The hash of an archive: pip before 23.1 says it as `hash`, later ones as `hashes` too. Raises KeyError."""
    if "hashes" in archive:
        return str(archive["hashes"]["sha256"])
    kind, _, digits = archive["hash"].partition("=")
    return {kind: str(digits)}["sha256"]


def _is_version_of(folder: Path, requirement: Requirement) -> bool:
    return folder.match(f"{requirement.key}-[0-9]*")


def _versions(folders: Iterable[str] = sys.path) -> dict[str, str]:
    """Every distribution in these folders, or of this installation, of which none is replaced."""
    found = ((one.metadata["Name"], one.version) for one in importlib.metadata.distributions(path=list(folders)))
    return {canonical(name): version for name, version in found if name and version}


def _check_names(files: Path, requirement: Requirement) -> None:
    """Raises PackageError where a module has the name of one that is there."""
    names = {path.name.partition(".")[0] for path in files.iterdir() if not path.name.endswith(_NO_MODULES)}
    for name in sorted(names):
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
        # A namespace without a file of its own is shared by right.
        if spec is not None and spec.origin is not None:
            raise PackageError(f"{requirement} was not installed: it brings a module {name!r}, which is there already")


def _check_others(files: Path, requirement: Requirement, others: Sequence[Path]) -> None:
    """Raises PackageError where a module is in another package of the workspace already, and is not the same: of both
    only one could be imported, and nobody would know which."""
    brought = _modules(files)
    for folder in others:
        for name, (there, is_whole_there) in _modules(folder).items():
            new, is_whole = brought.get(name, (there, False))
            if new != there and (is_whole or is_whole_there):
                raise PackageError(
                    f"{requirement} was not installed: {new} brings a module {name!r}, which {there} has already, "
                    f"installed for this workspace; if it is no longer needed, remove {folder} and try again"
                )


def _modules(folder: Path) -> dict[str, tuple[str, bool]]:
    """Each top-level module, what brought it, and whether it has a file of its own: a namespace is shared by right."""
    found: dict[str, tuple[str, bool]] = {}
    for one in importlib.metadata.distributions(path=[str(folder)]):
        told = f"{canonical(one.metadata['Name'])} {one.version}"
        for file in one.files or ():
            top, *below = file.parts
            name = top.partition(".")[0]
            if name.isidentifier() and not top.endswith(_NO_MODULES):
                is_whole = not below or (len(below) == 1 and below[0].partition(".")[0] == "__init__")
                found[name] = told, is_whole or found.get(name, ("", False))[1]
    return found


# --- pip as a process -------------------------------------------------------------------------------------------------


async def _pip(arguments: Sequence[str], staging: Path, log: Path, requirement: Requirement) -> None:
    """Run pip to its end, in a session of its own. Raises PackageError with the end of what it said."""
    log.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor = open_private(log)
    try:
        process = await asyncio.create_subprocess_exec(
            *_PIP,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            cwd=staging,
            env={**pip_environment(), "TMPDIR": str(staging)},
            start_new_session=True,
        )
        try:
            code = await process.wait()
        finally:
            await _stop(process)
    finally:
        os.close(descriptor)
    if code:
        raise PackageError(f"{requirement} could not be installed: {_reason(log)}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End pip with all that it started: SIGTERM, the grace time, SIGKILL. A second cancellation does not stop it."""
    if process.returncode is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(process.wait()), limits.GRACE_SECONDS)
    # Only before it is reaped: after that another process may have its number.
    if process.returncode is None:
        _signal(process, signal.SIGKILL)


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def pip_environment() -> dict[str, str]:
    """What of our environment pip is given."""
    return {name: value for name, value in os.environ.items() if name in _PASSED_ON}


def _reason(log: Path) -> str:
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()]
    errors = [line for line in lines if line.startswith("ERROR")] or [line for line in lines if line][-3:]
    return shorten("; ".join(errors) or "pip said nothing", _REASON_CHARS)
