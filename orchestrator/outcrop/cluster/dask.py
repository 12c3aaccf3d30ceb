"""The launcher that has specialists started by the workers of a Dask cluster (`outcrop[dask]`).

One task for each dispatch, of which Dask neither repeats nor keeps anything: a worker that is lost is told as a lost
node, and whether its work is done again is for the settings to say. https://distributed.dask.org
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from outcrop.cluster import node
from outcrop.cluster.relay import Expected, Relay
from outcrop.cluster.remote import RemoteChild
from outcrop.cluster.ticket import Site, Ticket, as_bytes, as_task
from outcrop.isolation import Proof
from outcrop.launching import Launcher, LaunchSpec
from outcrop.places import Places
from outcrop.settings import Settings
from outcrop.spill import write_private
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import ClusterError, LaunchError, MissingExtraError, NodeUnfitError, UsageError

Task = Any
"""A `distributed.Future`."""

_log = logging.getLogger(__name__)
PREFIX = "dask:"
_SCHEMES = ("tcp", "tls")


class DaskLauncher:
    """Starts specialists on the nodes of one cluster, for one workspace that all of them share."""

    def __init__(self, address: str, workspace: Workspace, settings: Settings, launch: str = "auto") -> None:
        self._address, self._settings = _checked(address, settings), settings
        name = secrets.token_hex(8)
        self._site = Site(
            workspace=str(workspace.folder),
            probe=str(workspace.home / "cache" / f"cluster-{name}"),
            content=secrets.token_hex(32),
            launch=launch,
            wraps=settings.bubblewrap,
            version=version("outcrop"),
        )
        self._relay = Relay()
        # Of Dask's own types little is typed.
        self._client: Any = None
        self._proofs: dict[str, Proof] = {}
        self._capacity = 0
        self._looking: asyncio.Task[None] | None = None
        self._is_changed = asyncio.Event()
        self._children: set[RemoteChild] = set()
        self._unfit: dict[str, str] = {}

    async def open(self) -> None:
        """Connect, and look at every node before anything is started there.

        Raises ClusterError, which names each node that cannot do the work and why; MissingExtraError.
        """
        try:
            import distributed
        except ImportError as error:
            raise MissingExtraError("dask.distributed", "pip install 'outcrop[dask]'") from error
        where = {"scheduler_file": self._address} if self._address.endswith(".json") else {"address": self._address}
        try:
            connect: Any = distributed.Client
            self._client = await connect(
                **where, asynchronous=True, set_as_default=False, timeout=limits.CLUSTER_CONNECT_SECONDS
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {self._address} ({error}); start one (`dask scheduler`, "
                "`dask worker ADDRESS`), or give the address that it printed"
            ) from error
        address = str(self._client.scheduler.address)
        self._check_encrypted(address)
        await self._relay.open(self._settings.cluster_listen or _own_address(address))
        self._write_probe()
        await self._look_at_nodes()
        self._capacity = await self._threads()

    def places(self, workers: int | None) -> Places:
        """As many as the nodes have threads, while nodes come and go, and never more than `workers`."""
        most = workers or limits.CLUSTER_SPECIALISTS
        places = Places(max(1, min(self._capacity, most)), most)
        self._looking = asyncio.create_task(self._keep_looking(places))
        return places

    def warm(self) -> None:
        """Each node starts a nursery once it has had a few cold starts."""

    async def launch(self, spec: LaunchSpec) -> RemoteChild:
        """Have one process started by a node. One that proves unfit is set aside. Raises LaunchError."""
        while True:
            try:
                return await self._launched(spec)
            except NodeUnfitError as error:
                _log.warning("a node is set aside: %s", error)
                self._unfit[error.address] = str(error)
                self._is_changed.set()

    async def _launched(self, spec: LaunchSpec) -> RemoteChild:
        expected = self._relay.expect(spec, as_bytes(spec, Path(self._site.workspace)))
        future = await self._submitted(expected, spec.data)
        child: RemoteChild | None = None
        try:
            child = await self._called(expected, future)
            await child.started
        except BaseException:
            self._relay.forget(expected)
            if child:
                child.close()
            # Without waiting: a scheduler that does not answer must not hold up who gave up.
            future.release()
            raise
        self._watch(child, future)
        return child

    async def prove(self) -> Proof:
        """What holds on every node: a property that one of them lacks is none of the cluster's."""
        return _of_all(self._proofs)

    @property
    def gone(self) -> str | None:
        """Why nothing can be started any more; None while the scheduler is there."""
        if self._client is None or self._client.status == "running":
            return None
        return f"the scheduler at {self._address} is lost"

    async def close(self) -> None:
        """Hang up; what still runs on the nodes ends with its connection."""
        if self._looking:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        for child in list(self._children):
            child.close()
        await self._relay.close()
        self._remove_probe()
        if self._client:
            await self._client.close()

    def _write_probe(self) -> None:
        probe = Path(self._site.probe)
        # The workspace is ours alone: what lies there is of orchestrators that were killed.
        for stale in probe.parent.glob("cluster-*"):
            stale.unlink(missing_ok=True)
        write_private(probe, self._site.content.encode())

    def _remove_probe(self) -> None:
        Path(self._site.probe).unlink(missing_ok=True)

    async def _submitted(self, expected: Expected, data: Sequence[str]) -> Task:
        ticket = Ticket(self._relay.host, self._relay.port, self._relay.certificate, expected.token, self._site)
        near = [name for path, names in self._settings.cluster_near.items() if _lies_in(data, path) for name in names]
        if self._unfit:
            # Preferences would let it go to any node.
            near = list(await self._fit())
            if not near:
                raise LaunchError("; ".join(["no node of the cluster can do it", *self._unfit.values()]))
        future: Task = self._client.submit(
            node.play,
            as_task(ticket),
            key=f"outcrop-{secrets.token_hex(8)}",
            pure=False,
            retries=0,
            workers=near or None,
            # A node that is away must not hold up the work.
            allow_other_workers=bool(near) and not self._unfit,
        )
        return future

    async def _called(self, expected: Expected, future: Task) -> RemoteChild:
        """The child once its node has called. Raises LaunchError where its task ended without that."""
        ended = asyncio.create_task(_end_of(future))
        waiting: list[asyncio.Future[Any]] = [expected.child, ended]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
        if expected.child.done():
            return expected.child.result()
        raise LaunchError(f"no node of the cluster started it: {ended.result()}")

    def _watch(self, child: RemoteChild, future: Task) -> None:
        """Hold the task as long as its process, and the other way round."""

        async def until_ended() -> None:
            said = await _end_of(future)
            child.cut(f"its task ended at the scheduler: {said}")

        watching = asyncio.create_task(until_ended())
        self._children.add(child)
        child.exited.add_done_callback(lambda _: self._is_changed.set() if child.lost else None)

        def over() -> None:
            self._children.discard(child)
            watching.cancel()
            # Without waiting: a task that has ended needs none, another one has nothing left to do.
            future.release()

        child.on_closed(over)

    async def _look_at_nodes(self) -> None:
        from dataclasses import asdict

        try:
            async with asyncio.timeout(limits.NODE_LOOK_SECONDS):
                told = await self._client.run(node.look, asdict(self._site), on_error="return")
        except (OSError, TimeoutError) as error:
            raise ClusterError(
                f"the cluster at {self._address} was not looked at: {error or 'a node did not answer'}"
            ) from error
        if not told:
            raise ClusterError(f"the cluster at {self._address} has no worker; start one with `dask worker ADDRESS`")
        problems = []
        for address, said in told.items():
            if isinstance(said, BaseException):
                problems.append(f"{address}: {type(said).__name__}: {said} (is outcrop installed there?)")
            elif "reason" in said:
                problems.append(f"{said['node']} ({address}): {said['reason']}")
            elif not self._answered(said["written"]):
                problems.append(f"{said['node']} ({address}): what it wrote into the workspace is not seen here")
            else:
                self._proofs[said["node"]] = Proof.of_json(said["proof"])
        if problems:
            raise ClusterError("not every node of the cluster can do the work:\n  " + "\n  ".join(problems))

    def _answered(self, name: str) -> bool:
        """Whether what a node wrote beside the probe is there; it is removed."""
        path = Path(self._site.probe).with_name(Path(name).name)
        try:
            said = path.read_text()
            path.unlink()
        except OSError:
            return False
        return said == self._site.content[::-1]

    async def _threads(self) -> int:
        return sum((await self._fit()).values())

    async def _fit(self) -> dict[str, int]:
        """The threads of the nodes that are there, by their addresses, without those that were set aside."""
        threads: Mapping[str, int] = await self._client.nthreads()
        return {address: count for address, count in threads.items() if address not in self._unfit}

    async def _keep_looking(self, places: Places) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limits.CLUSTER_LOOK_SECONDS):
                    await self._is_changed.wait()
            self._is_changed.clear()
            try:
                # One in any case: a cluster without a node is waited for by whoever is next, and it says so in time.
                await places.resize(await self._threads())
            except (OSError, TimeoutError) as error:
                _log.warning("the scheduler at %s does not answer: %s", self._address, error)

    def _check_encrypted(self, address: str) -> None:
        host, scheme = urlsplit(address).hostname or "", urlsplit(address).scheme
        if scheme == "tls" or self._settings.cluster_plain or _is_loopback(host):
            return
        raise ClusterError(
            f"{address} is not encrypted: whoever can read or reach that connection can start programs on the nodes. "
            "Give the scheduler certificates (tls://, Dask's own `distributed.comm.tls`), or say with the setting "
            "cluster_plain = true that its network is yours alone"
        )


async def _end_of(future: Task) -> str:
    """Waits for the end of a task; why it is no end that was wished for."""
    try:
        name = await future
    except asyncio.CancelledError:
        if not future.cancelled():
            raise
        return "it was cancelled at the scheduler"
    except Exception as error:  # noqa: BLE001 - a task may raise whatever a node has in its way
        return f"{type(error).__name__}: {error}"
    return f"{name} had nothing to do for it"


def _of_all(proofs: Mapping[str, Proof]) -> Proof:
    """The weakest of all nodes, property by property."""
    first = next(iter(proofs.values()), None)
    if first is None:
        return Proof.none("no node of the cluster was looked at")
    sets = {}
    for kind in ("cold", "nursery"):
        found = dict(first.of(kind))
        for name, proof in proofs.items():
            for property_, one in proof.of(kind).items():
                if found[property_].active and not one.active:
                    found[property_] = one.model_copy(update={"by": f"not on {name}: {one.by}"})
        sets[kind] = found
    return Proof(sets["cold"], sets["nursery"], None, "each node of the cluster wraps or not by its own proof")


def _checked(address: str, settings: Settings) -> str:
    """An address of Dask's, or a scheduler file. Raises UsageError."""
    if address.endswith(".json"):
        return address
    full = address if "://" in address else f"tcp://{address}"
    try:
        parts = urlsplit(full)
        is_good = parts.scheme in _SCHEMES and parts.hostname and parts.port
    except ValueError:
        is_good = False
    if not is_good:
        raise UsageError(
            f"dask:{address} is no backend; give the scheduler's address, such as dask:tcp://127.0.0.1:8786 or "
            "dask:tls://host:8786, or the path of its scheduler file (.json)"
        )
    return full


def _own_address(scheduler: str) -> str:
    """Under which address this machine is known where the scheduler is."""
    host = urlsplit(scheduler).hostname or "127.0.0.1"
    if _is_loopback(host):
        return "127.0.0.1"
    import distributed.utils

    own_ip: Any = distributed.utils.get_ip
    return str(own_ip(host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _lies_in(data: Sequence[str], path: str) -> bool:
    """Whether a data file is this one, or in this folder of the workspace."""
    return any(Path(name).is_relative_to(path) for name in data)


@asynccontextmanager
async def open_backend(
    backend: str, workspace: Workspace, settings: Settings, launch: Launcher | str = "auto"
) -> AsyncIterator[DaskLauncher]:
    """The launcher that a backend `dask:ADDRESS` names, connected. Raises UsageError for another one, ClusterError."""
    if not backend.startswith(PREFIX):
        raise UsageError(f"{backend!r} is no backend; there are local and dask:ADDRESS")
    if not isinstance(launch, str):
        raise UsageError("a launcher of your own starts specialists here; it does not go with a backend")
    launcher = DaskLauncher(backend.removeprefix(PREFIX), workspace, settings, launch)
    try:
        await launcher.open()
        yield launcher
    finally:
        await launcher.close()
