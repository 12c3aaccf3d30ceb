"""What a node is told of one dispatch: by its task whom to call, and over that connection what to start."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from outcrop.launching import LaunchSpec
from outcrop.policy import build_policy
from outcrop_schemas import wire
from outcrop_schemas.errors import LaunchError
from outcrop_specialists.guard.places import allowed_environment

# A connection whose other machine has gone without a word is given up after IDLE + COUNT * INTERVAL seconds.
_KEEPALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 20_000}


@dataclass(frozen=True)
class Site:
    """Where the work is, as every node must see it: the workspace, and a file in it of which the content is known."""

    workspace: str
    probe: str
    content: str
    launch: str
    wraps: bool
    version: str


@dataclass(frozen=True)
class Ticket:
    """The arguments of one task. `token` is good for one connection, `certificate` (PEM) is the orchestrator's own."""

    host: str
    port: int
    certificate: str
    token: str
    site: Site

    def context(self) -> ssl.SSLContext:
        """Trusts this one certificate, which no name is in, and nobody else's."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.load_verify_locations(cadata=self.certificate)
        return context


def as_bytes(spec: LaunchSpec, workspace: Path) -> bytes:
    """A launch as it is sent to a node. Raises LaunchError where it cannot be written down.

    What may be read and which limits hold is for the node to say, since its interpreter and its kernel are others; and
    of our environment it has its own.
    """
    ours = allowed_environment()
    told = {
        "argv": list(spec.argv) if spec.argv is not None else None,
        "request": spec.request.decode(),
        "environment": {name: value for name, value in spec.environment.items() if ours.get(name) != value},
        "folder": str(spec.folder),
        "workspace": str(workspace),
        "writable": [path for path in spec.policy["writable"] if path != str(spec.folder)],
        # The number of a file system is another on each machine; that of a folder in it is not.
        "inodes": {path: inode for path, (_, inode) in spec.policy["identities"].items()},
        "needed": spec.policy["needed"],
        "memory_bytes": spec.memory_bytes,
        "processes": spec.processes,
        "has_channel": spec.channel is not None,
    }
    try:
        return wire.dumps(told)
    except ValueError as error:
        raise LaunchError(f"it cannot be sent to a node: {error}") from error


def on_this_node(data: bytes) -> tuple[LaunchSpec, bool]:
    """The launch of `as_bytes` as it is done here, and whether it has a channel to a model.

    Raises LaunchError where a folder is another than the orchestrator granted.
    """
    told: Mapping[str, Any] = wire.loads(data)
    folder, argv = Path(told["folder"]), told["argv"]
    policy = build_policy(
        Path(told["workspace"]),
        [Path(path) for path in told["writable"]],
        folder,
        argv,
        told["memory_bytes"],
        told["processes"],
        identities={path: _identity(path, inode) for path, inode in told["inodes"].items()},
        needed=told["needed"],
    )
    environment = {**allowed_environment(), **told["environment"]}
    request = told["request"].encode()
    spec = LaunchSpec(argv, request, environment, folder, policy, told["memory_bytes"], told["processes"])
    return spec, told["has_channel"]


def _identity(path: str, inode: int) -> tuple[int, int]:
    try:
        about = Path(path).lstat()
    except OSError as error:
        raise LaunchError(f"{path}: this node does not see the folder: {error.strerror}") from error
    if about.st_ino != inode:
        raise LaunchError(f"{path}: on this node it is another folder than the orchestrator granted")
    return about.st_dev, about.st_ino


def keep_alive(connected: socket.socket) -> None:
    """Let the kernel find out where the other machine is gone."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def as_task(ticket: Ticket) -> dict[str, Any]:
    """Plain data: a task that carries classes of ours could not be refused by a node with other ones."""
    return asdict(ticket)


def of_task(task: Mapping[str, Any]) -> Ticket:
    """What `as_task` gave."""
    return Ticket(**{**task, "site": Site(**task["site"])})
