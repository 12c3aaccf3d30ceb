"""A real Dask cluster of processes on loopback: a scheduler, and two workers under their nannies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import distributed
import psutil

WORKERS, THREADS = ("north", "south"), 2


@dataclass
class Cluster:
    """`dask:ADDRESS` for tests, and its worker processes by name."""

    backend: str

    def ask(self, question: Callable[[Any], Any]) -> Any:
        with distributed.Client(self.backend.removeprefix("dask:"), set_as_default=False) as client:
            return question(client)

    def wait(self) -> None:
        """Until all workers are there: a nanny starts another one for each that was killed."""
        self.ask(lambda client: client.wait_for_workers(len(WORKERS), timeout=60))

    def workers(self) -> dict[str, psutil.Process]:
        def pids(client: Any) -> dict[str, int]:
            named = {one["name"]: address for address, one in client.scheduler_info(n_workers=-1)["workers"].items()}
            found = client.run(os.getpid)
            return {name: found[address] for name, address in named.items() if address in found}

        return {name: psutil.Process(pid) for name, pid in self.ask(pids).items()}


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """Its logs and its scheduler file lie in the folder."""
    place = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60"}
    environment["ANTHROPIC_API_KEY"] = "sk-of-the-node"
    here: dict[str, Any] = {"cwd": folder, "env": environment, "start_new_session": True}
    scheduler = [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", place]
    processes = [subprocess.Popen(scheduler, stderr=(folder / "scheduler.log").open("w"), **here)]
    try:
        for name in WORKERS:
            worker = [*dask, "worker", "--scheduler-file", place, "--name", name, "--nthreads", str(THREADS)]
            options = ["--no-dashboard", "--host", "127.0.0.1"]
            processes.append(subprocess.Popen([*worker, *options], stderr=(folder / f"{name}.log").open("w"), **here))
        with distributed.Client(scheduler_file=str(place), set_as_default=False, timeout=60) as client:
            client.wait_for_workers(len(WORKERS), timeout=60)
        yield Cluster("dask:" + json.loads(place.read_text())["address"])
    finally:
        for process in reversed(processes):
            os.killpg(process.pid, signal.SIGTERM)
        for process in processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
