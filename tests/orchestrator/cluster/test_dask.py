"""Specialists on the nodes of a real Dask cluster: the same outcomes, and nothing that outlives what it belongs to."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from processes import is_alive

from outcrop import Pool, Run, ScriptedModel
from outcrop.events import DispatchProgress, DispatchStarted
from outcrop.models.scripted import turn
from outcrop.records import read
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop_schemas import limits
from outcrop_schemas.errors import ClusterError, UsageError
from outcrop_schemas.outcome import Outcome

pytest.importorskip("distributed", reason="the extra `dask` is not installed")

from servers.dask_cluster import THREADS, WORKERS, Cluster, running
from servers.turns import answer, call

# Says who it is and who its child is, and waits.
WAITS = """
child = subprocess.Popen(["sleep", "300"], start_new_session=True)
say(type="progress", message=f"{os.getpid()} {child.pid}", partial={"half": 1})
time.sleep(300)
"""
# What is promised is 2 s; a machine that is busy with other tests may take longer, and says nothing of it.
NODE_SECONDS = 2.0 if os.environ.get("OUTCROP_LONG") else 20.0


class Told:
    """A watcher that waits for the pids that WAITS says."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.processes: asyncio.Queue[list[psutil.Process]] = asyncio.Queue()

    def __call__(self, event: Any) -> None:
        if isinstance(event, DispatchStarted):
            self.ids.append(event.dispatch_id)
        if isinstance(event, DispatchProgress) and "message" in event.message:
            self.processes.put_nowait([psutil.Process(int(pid)) for pid in event.message["message"].split()])


def gone_within(processes: list[psutil.Process], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while any(is_alive(process) for process in processes):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def worker_of(process: psutil.Process, cluster: Cluster) -> psutil.Process:
    """The worker process that a specialist runs beneath."""
    above = {parent.pid for parent in process.parents()}
    return next(worker for worker in cluster.workers().values() if worker.pid in above)


async def test_a_run_on_a_cluster_is_the_run_on_this_machine(cluster: Cluster, soils: Path, tmp_path: Path) -> None:
    async def told(backend: str) -> tuple[list[tuple[str, str | None]], str]:
        folder = tmp_path / backend.partition(":")[0]
        folder.mkdir()
        (folder / "soils.csv").write_bytes(soils.read_bytes())
        objective = "summarise Cu and Zn"
        outcome = await Run(objective, ["soils.csv"], workspace=folder, backend=backend).start()
        assert outcome.status == "success", outcome.errors
        record = read(Path(outcome.run_folder, "journal.jsonl"))[0]
        about = next(one.body for one in record if one.type == "run")
        assert about["backend"] == backend
        for end in (one.body for one in record if one.type == "end"):
            assert ("node" in end["usage"]) is (backend != "local")
            assert end["isolation"]["network_denied"]["active"], end["isolation"]
        return sorted((one.path, one.sha256) for one in outcome.artifacts), outcome.summary

    assert await told(cluster.backend) == await told("local")


async def test_as_many_are_at_work_as_the_nodes_have_threads_and_on_all_of_them(
    cluster: Cluster, workspace: Path, program: Any
) -> None:
    command = program("say(type='progress', message=f'{os.getpid()} {os.getppid()}'); time.sleep(300)")
    told = Told()
    async with Pool(workspace=workspace, backend=cluster.backend, watcher=told) as pool:
        assert pool.health()["workers"] == THREADS * len(WORKERS)
        tasks = [asyncio.create_task(pool.dispatch("mine", command=command)) for _ in range(THREADS * len(WORKERS))]
        seen = [(await told.processes.get())[0] for _ in tasks]
        # cold starts of COMMANDs: each beneath the worker that started it
        assert {worker_of(process, cluster).pid for process in seen} == {one.pid for one in cluster.workers().values()}
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    assert gone_within(seen, NODE_SECONDS)


async def test_no_key_of_a_node_or_of_the_orchestrator_reaches_a_specialist(
    pool: Pool, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-orchestrator")
    body = """
    seen = dict(os.environ)
    for pid in [os.getppid(), *map(int, filter(str.isdigit, os.listdir("/proc")))]:
        try:
            seen[str(pid)] = open(f"/proc/{pid}/environ").read()
        except OSError:
            pass
    say(type="completion", dispatch_id=ID, status="success", results={"keys": "sk-of-the" in json.dumps(seen),
        "extra": os.environ.get("MINE")})
    """
    outcome = await pool.dispatch("mine", command=program(body), environment={"MINE": "yes"})
    assert outcome.results == {"keys": False, "extra": "yes"}, outcome.errors


async def test_what_a_node_sends_is_bounded_and_spilled_as_here(pool: Pool, program: Any) -> None:
    body = """
    for n in range(20_000):
        say(type="log", message="x" * 1_000)
    sys.stderr.write("e" * 300_000)
    say(type="completion", dispatch_id=ID, status="success", results={"text": "y" * 50_000})
    sys.exit(3)
    """
    outcome = await pool.dispatch("mine", command=program(body))
    assert outcome.status == "success", outcome.errors
    assert outcome.exit.code == 3
    assert outcome.truncated
    assert outcome.truncated.chars > 50_000
    assert any("exit code 3" in said for said in outcome.warnings)


async def test_a_program_that_is_not_there_is_told_with_the_node(pool: Pool, tmp_path: Path) -> None:
    script = tmp_path / "tool"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    outcome = await pool.dispatch("mine", command=[str(script)])
    assert outcome.status in ("spawn_error", "failed"), outcome
    assert outcome.errors


async def test_a_killed_worker_leaves_nothing_and_its_work_is_told_as_lost(
    cluster: Cluster, workspace: Path, program: Any
) -> None:
    told = Told()
    async with Pool(workspace=workspace, backend=cluster.backend, watcher=told) as pool:
        work = asyncio.create_task(pool.dispatch("mine", command=program(WAITS)))
        started = await told.processes.get()
        worker_of(started[0], cluster).kill()
        assert await asyncio.to_thread(gone_within, started, NODE_SECONDS)
        outcome = await work
    assert (outcome.status, outcome.results) == ("crashed", {"half": 1})
    assert "was lost while it was at work" in outcome.errors[0]
    assert told.ids == [outcome.dispatch_id], "not done again unless somebody allows it"


async def test_lost_work_is_done_again_where_it_may_be(cluster: Cluster, workspace: Path, program: Any) -> None:
    marker = workspace / "results" / "began"
    marker.parent.mkdir()
    command = program(f"""
    if os.path.exists({str(marker)!r}):
        complete(2)
        sys.exit()
    open({str(marker)!r}, "w")
    {WAITS.replace(chr(10), chr(10) + "    ")}
    """)
    told = Told()
    settings = Settings(cluster_retry_lost=1)
    async with Pool(workspace=workspace, backend=cluster.backend, watcher=told, settings=settings) as pool:
        work = asyncio.create_task(pool.dispatch("mine", command=command))
        worker_of((await told.processes.get())[0], cluster).kill()
        outcome = await work
        journal = pool.run_folder.journal
    assert (outcome.status, outcome.results) == ("success", {"answer": 2})
    starts = [record for record in read(journal)[0] if record.type == "start"]
    ends = [record.body["status"] for record in read(journal)[0] if record.type == "end"]
    assert [start.body.get("again_for") for start in starts] == [None, [starts[0].id]]
    assert ends == ["crashed", "success"]


async def test_a_run_that_lost_a_node_is_rebuilt_from_its_record(cluster: Cluster, workspace: Path) -> None:
    (workspace / "a.csv").write_text("x\n1\n2\n")
    workers = cluster.workers()

    def kill_its_node(_: Any) -> Any:
        """While the specialist waits for this turn."""
        at_work = [w for w in workers.values() if any("work/d0001" in cwd_of(c) for c in w.children(recursive=True))]
        assert len(at_work) == 1
        at_work[0].kill()
        return turn(("complete", {"status": "success", "summary": "nobody hears it"}))

    done = turn(("complete", {"status": "success", "summary": "done"}))
    work = {"specialist": "analytics", "objective": "look", "data": ["a.csv"]}
    model = {
        "lead": ScriptedModel([turn(("dispatch", work)), done]),
        "analytics": ScriptedModel([kill_its_node, done]),
    }
    settings = Settings(cluster_retry_lost=1)
    run = Run("look", ["a.csv"], workspace=workspace, backend=cluster.backend, model=model, settings=settings)
    outcome = await run.start()
    assert outcome.status == "success", outcome.errors
    record = open_run(RunFolder(Path(outcome.run_folder)))
    lost, again = [Outcome.model_validate(one.body) for one in record.records if one.type == "end"]
    assert (lost.status, again.status) == ("crashed", "success")
    assert any(f"done again for {lost.dispatch_id}" in said for said in again.warnings)
    assert [one.difference for one in await asyncio.to_thread(verify, record)] == [None] * 3


def cwd_of(process: psutil.Process) -> str:
    try:
        return process.cwd()
    except psutil.Error:
        return ""


async def test_work_that_loses_three_nodes_is_set_aside(cluster: Cluster, workspace: Path, program: Any) -> None:
    told = Told()
    settings = Settings(cluster_retry_lost=limits.LOST_NODES - 1)
    async with Pool(workspace=workspace, backend=cluster.backend, watcher=told, settings=settings) as pool:
        work = asyncio.create_task(pool.dispatch("mine", command=program(WAITS)))
        seen = []
        for _ in range(limits.LOST_NODES):
            started = await told.processes.get()
            await asyncio.to_thread(cluster.wait)
            (await asyncio.to_thread(worker_of, started[0], cluster)).kill()
            seen += started
        outcome = await work
    assert outcome.status == "crashed"
    assert "set aside" in outcome.errors[0]
    assert len(told.ids) == limits.LOST_NODES
    assert gone_within(seen, NODE_SECONDS)


@pytest.mark.parametrize("ended_by", ["the caller", "the scheduler", "the time limit"])
async def test_whatever_ends_a_dispatch_ends_its_process_on_the_node(
    ended_by: str, cluster: Cluster, workspace: Path, program: Any
) -> None:
    told = Told()
    async with Pool(workspace=workspace, backend=cluster.backend, watcher=told) as pool:
        seconds = 1.0 if ended_by == "the time limit" else 60.0
        work = asyncio.create_task(pool.dispatch("mine", command=program(WAITS), timeout=seconds, grace=0.5))
        started = await told.processes.get()
        if ended_by == "the caller":
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
        else:
            if ended_by == "the scheduler":
                await asyncio.to_thread(cluster.ask, cancel_all)
            outcome = await work
            assert outcome.status == ("timeout" if ended_by == "the time limit" else "crashed"), outcome.errors
            assert outcome.results == {"half": 1}
    assert await asyncio.to_thread(gone_within, started, NODE_SECONDS)


def cancel_all(client: Any) -> None:
    """As somebody else may, who is connected to the same scheduler."""

    def forget(dask_scheduler: Any = None) -> None:
        keys = list(dask_scheduler.tasks)
        for name in list(dask_scheduler.clients):
            dask_scheduler.client_releases_keys(keys=keys, client=name)
            dask_scheduler.report({"op": "cancelled-keys", "keys": keys, "reason": "cancelled by hand"}, client=name)

    client.run_on_scheduler(forget)


def test_a_killed_orchestrator_leaves_nothing_on_the_nodes(cluster: Cluster, workspace: Path, program: Any) -> None:
    source = f"""
import asyncio, sys
from outcrop import Pool
def tell(event):
    if getattr(event, "message", None):
        print(event.message.get("message"), flush=True)
async def main():
    async with Pool(workspace={str(workspace)!r}, backend={cluster.backend!r}, watcher=tell) as pool:
        await pool.dispatch("mine", command={program(WAITS)!r})
asyncio.run(main())
"""
    process = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    started = [psutil.Process(int(pid)) for pid in process.stdout.readline().split()]
    assert len(started) == 2
    process.kill()
    process.wait()
    assert gone_within(started, NODE_SECONDS)


async def test_the_preferred_worker_gets_the_work_for_its_files(
    cluster: Cluster, workspace: Path, program: Any
) -> None:
    (workspace / "north").mkdir()
    (workspace / "north" / "a.csv").write_text("x\n1\n")
    told, settings = Told(), Settings(cluster_near={"north": ["north"]})
    command = program("say(type='progress', message=str(os.getpid())); time.sleep(300)")
    async with Pool(workspace=workspace, backend=cluster.backend, watcher=told, settings=settings) as pool:
        works = [asyncio.create_task(pool.dispatch("mine", data=["north/a.csv"], command=command)) for _ in range(2)]
        seen = [(await told.processes.get())[0] for _ in works]
        north = (await asyncio.to_thread(cluster.workers))["north"]
        assert {(await asyncio.to_thread(worker_of, one, cluster)).pid for one in seen} == {north.pid}
        for work in works:
            work.cancel()
        await asyncio.wait(works)


async def test_one_ceiling_holds_over_all_nodes(cluster: Cluster, soils: Path, workspace: Path, serving: Any) -> None:
    """Models are asked by the orchestrator alone: its ledger sees every call, wherever the specialist is."""
    serving(answer(call("inspect_dataset", path="soils.csv")))
    (workspace / "soils.csv").write_bytes(soils.read_bytes())
    ceiling = 60_000
    settings = Settings(model="claude-haiku-5-5", budget_tokens=ceiling)
    async with Pool(workspace=workspace, backend=cluster.backend, settings=settings) as pool:
        works = [pool.dispatch("analytics", f"describe Cu, {n}", ["soils.csv"]) for n in range(6)]
        outcomes = await asyncio.gather(*works)
        spent = sum(one.usage.get("input_tokens", 0) + one.usage.get("output_tokens", 0) for one in outcomes)
    assert {one.status for one in outcomes} == {"budget"}, [one.errors for one in outcomes]
    assert {one.usage["node"] for one in outcomes if "node" in one.usage}
    assert 0 < spent <= ceiling


async def test_a_node_that_comes_later_and_is_unfit_is_set_aside(
    cluster: Cluster, workspace: Path, program: Any, tmp_path: Path
) -> None:
    """It has no probe file: a worker of its own that sees another folder in the place of the workspace."""
    if os.geteuid() != 0:
        pytest.skip("another view of the file system takes a mount, which takes root")
    async with Pool(workspace=workspace, backend=cluster.backend) as pool:
        dask = f"{sys.executable} -m dask worker {cluster.backend.removeprefix('dask:')} --nthreads 4 --no-dashboard"
        hidden = f"mount -t tmpfs none {workspace} && cd / && exec {dask} --host 127.0.0.1 --no-nanny"
        log = (tmp_path / "late.log").open("w")
        late = subprocess.Popen(["unshare", "-m", "sh", "-c", hidden], stderr=log, start_new_session=True)
        try:
            await asyncio.to_thread(cluster.ask, lambda client: client.wait_for_workers(len(WORKERS) + 1, timeout=60))
            works = [pool.dispatch("mine", command=program("complete(1)")) for _ in range(8)]
            outcomes = await asyncio.gather(*works)
        finally:
            os.killpg(late.pid, signal.SIGTERM)
            late.wait()
    assert {one.status for one in outcomes} == {"success"}, [one.errors for one in outcomes]


async def test_a_stopped_node_is_told(cluster: Cluster, workspace: Path, program: Any) -> None:
    told = Told()
    async with Pool(workspace=workspace, backend=cluster.backend, watcher=told) as pool:
        work = asyncio.create_task(pool.dispatch("mine", command=program(WAITS), timeout=2, grace=0.5))
        started = await told.processes.get()
        worker = await asyncio.to_thread(worker_of, started[0], cluster)
        worker.suspend()
        try:
            outcome = await work
        finally:
            worker.resume()
    assert outcome.status == "timeout"
    assert any("may still run" in said for said in outcome.warnings), outcome.warnings
    assert await asyncio.to_thread(gone_within, started, 20)


async def test_a_workspace_that_nodes_do_not_see_is_refused_before_anything_starts(
    cluster: Cluster, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The nodes look for the probe where it is not: as if their file system were another.
    from outcrop.cluster import dask

    monkeypatch.setattr(dask, "write_private", lambda path, data: None)
    with pytest.raises(ClusterError, match=r"is not the orchestrator's workspace on this node"):
        async with Pool(workspace=workspace, backend=cluster.backend):
            raise AssertionError("it was opened")
    assert not list((workspace / ".outcrop" / "cache").glob("cluster-*"))


@pytest.mark.parametrize("backend", ["dask", "dask:", "dask:host", "dask:ftp://host:1", "slurm:x", "dask:tcp://h:p"])
async def test_a_backend_that_is_none_is_told(backend: str, workspace: Path) -> None:
    with pytest.raises(UsageError, match="backend"):
        async with Pool(workspace=workspace, backend=backend):
            pass


async def test_a_scheduler_that_is_not_there_is_told(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CLUSTER_CONNECT_SECONDS", 0.3)
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        async with Pool(workspace=workspace, backend="dask:127.0.0.1:9"):
            pass


def test_a_batch_on_a_cluster_survives_the_loss_of_a_worker(cluster: Cluster, soils: Path, tmp_path: Path) -> None:
    jobs = int(os.environ.get("OUTCROP_CLUSTER_JOBS", "200" if os.environ.get("OUTCROP_LONG") else "8"))
    (tmp_path / "soils.csv").write_bytes(soils.read_bytes())
    columns = ("Cu", "Zn", "Pb", "As")
    lines = [{"objective": f"summarise {columns[n % 4]}", "data": ["soils.csv"], "id": str(n)} for n in range(jobs)]
    (tmp_path / "jobs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    given = ["batch", str(tmp_path / "jobs.jsonl"), "--workspace", str(tmp_path), "--backend", cluster.backend]
    options = ["--model", "offline", "--set", "cluster_retry_lost=2", "--json"]
    process = subprocess.Popen(
        [Path(sys.executable).with_name("outcrop"), *given, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    for line in process.stderr:
        if line.startswith(f"outcrop: [{max(jobs // 4, 1)}/"):
            break
    victim = cluster.workers()["north"]
    below = victim.children(recursive=True)
    os.kill(victim.pid, signal.SIGKILL)
    assert gone_within(below, NODE_SECONDS)
    printed, _ = process.communicate(timeout=600)
    told = json.loads(printed)
    assert process.returncode == 0, told
    assert told["statuses"] == {"success": jobs}
    results = [json.loads(line) for line in Path(told["results"]).read_text().splitlines()]
    assert len(results) == jobs
    assert all(Path(tmp_path, one["path"]).is_file() for result in results for one in result["artifacts"])


def test_a_batch_whose_scheduler_is_lost_stops_and_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Cu\n1\n2\n")
    lines = [{"objective": "summarise Cu", "data": ["a.csv"], "id": str(n)} for n in range(12)]
    (tmp_path / "jobs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    command = [Path(sys.executable).with_name("outcrop"), "batch", str(tmp_path / "jobs.jsonl")]
    command += ["--workspace", str(tmp_path), "--model", "offline", "--json"]
    (tmp_path / "cluster").mkdir()
    with running(tmp_path / "cluster") as own:
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen([*command, "--backend", own.backend], **pipes)
        assert process.stderr
        for line in process.stderr:
            if line.startswith("outcrop: [1/"):
                break
        ours = [(one, one.cmdline()) for one in psutil.Process().children()]
        [scheduler] = [one for one, words in ours if "scheduler" in words and str(tmp_path) in " ".join(words)]
        scheduler.kill()
        printed, _ = process.communicate(timeout=120)
    told = json.loads(printed)
    assert process.returncode == 1
    assert "scheduler" in told["stopped_because"]
    assert told["not_begun"] > 0
    resumed = subprocess.run([*command, "--resume", "--retry", "error,crashed,spawn_error"], capture_output=True)
    assert json.loads(resumed.stdout)["statuses"] == {"success": 12}


async def test_a_specialist_on_a_node_calls_an_outside_server_of_this_machine(
    cluster: Cluster, workspace: Path
) -> None:
    server = Path(__file__).resolve().parents[2] / "servers" / "outside_bad.py"
    command = json.dumps([sys.executable, str(server)])
    (workspace / "outcrop.toml").write_text(f"[mcp.bad]\ncommand = {command}\n")
    done = turn(("complete", {"status": "success", "summary": "done", "results": {}}), turn_id="end")
    model = ScriptedModel([turn(("bad__fine", {}), turn_id="a"), done])
    async with Pool(workspace=workspace, model=model, backend=cluster.backend) as pool:
        outcome = await pool.dispatch("analytics", "call it")
    assert outcome.status == "success", outcome.errors
    assert outcome.usage["node"]
    assert '"text":"fine"' in str(model.requests[1].messages[-1].content)
