"""One dispatch, one status: real processes that behave and misbehave."""

from __future__ import annotations

import asyncio
import hashlib
import json
import stat
from pathlib import Path
from typing import Any

import psutil
import pytest

from outcrop import Pool
from outcrop.events import DispatchEnded, DispatchProgress, DispatchStarted, Event
from outcrop.recovery import open_run
from outcrop_schemas import limits
from outcrop_schemas.errors import ObjectiveError, PathError, PoolClosedError, UnknownNameError, UsageError


def living(mark: str) -> list[int]:
    """Processes of this test that are still there, zombies apart."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        if any(mark in part for part in process.info["cmdline"] or []) and process.info["status"] != "zombie":
            found.append(process.pid)
    return found


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("claimed", ['{"spent_usd":"1e99999"}', '"all of it"', "[]", "true", '{"by_specialist":7}'])
async def test_what_was_spent_and_measured_is_never_a_specialists_word(pool: Pool, claimed: str) -> None:
    usage = f'{{"spending":{claimed},"cpu_seconds":{claimed},"max_rss_bytes":{claimed},"node":{claimed},"pages":3}}'
    script = (
        'read -r request; id=$(printf %s "$request" | sed \'s/.*"dispatch_id":"\\([^"]*\\)".*/\\1/\'); '
        f'printf \'{{"type":"completion","dispatch_id":"%s","status":"success","results":{{}},"usage":{usage}}}\' "$id"'
    )
    outcome = await pool.dispatch("shell", command=["sh", "-c", script])
    assert outcome.status == "success"
    assert outcome.usage["pages"] == 3
    assert set(outcome.usage) == {"pages", "cpu_seconds", "max_rss_bytes"}
    assert isinstance(outcome.usage["cpu_seconds"], float)


async def test_a_program_in_any_language_is_a_specialist(pool: Pool) -> None:
    script = (
        'read -r request; id=$(printf %s "$request" | sed \'s/.*"dispatch_id":"\\([^"]*\\)".*/\\1/\'); '
        'printf \'{"type":"completion","dispatch_id":"%s","status":"success","results":{"n":3}}\' "$id"'
    )
    outcome = await pool.dispatch("shell", command=["sh", "-c", script])
    assert (outcome.status, outcome.results, outcome.warnings) == ("success", {"n": 3}, [])
    assert outcome.launch == "cold"
    assert outcome.exit.code == 0


async def test_the_request_says_all_that_protocol_1_promises(pool: Pool, program: Any, workspace: Path) -> None:
    (workspace / "a.csv").write_text("x\n1\n")
    command = program("complete({'request': request, 'cwd': os.getcwd(), 'env': dict(os.environ)})")
    outcome = await pool.dispatch("mine", "look", ["a.csv"], {"k": "v"}, command=command, environment={"EXTRA": "1"})
    seen = outcome.results["answer"]
    assert seen["request"]["type"] == "dispatch"
    assert seen["request"]["protocol"] == 1
    assert seen["request"]["dispatch_id"] == outcome.dispatch_id
    assert seen["request"]["context"] == {"data": ["a.csv"], "k": "v"}
    assert seen["request"]["workspace"] == str(workspace)
    assert Path(seen["request"]["results_dir"]).is_dir()
    assert seen["request"]["model_channel"] is None
    assert seen["cwd"] == seen["env"]["HOME"] == seen["env"]["TMPDIR"]
    assert Path(seen["cwd"]).is_relative_to(workspace / ".outcrop" / "runs")
    assert seen["env"]["EXTRA"] == "1"


async def test_no_key_of_ours_is_in_the_environment_of_a_specialist(
    pool: Pool, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "AWS_SESSION_TOKEN", "PGPASSFILE", "MY_SECRET", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.setenv(name, "canary")
    outcome = await pool.dispatch("mine", command=program("complete(list(os.environ.values()))"))
    assert "canary" not in outcome.results["answer"]


@pytest.mark.parametrize("status", ["success", "partial", "error", "capability_gap"])
async def test_the_specialists_own_word_is_the_status(pool: Pool, program: Any, status: str) -> None:
    outcome = await pool.dispatch("mine", command=program(f"complete(status={status!r})"))
    assert outcome.status == status


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("sys.stderr.write('boom\\n'); sys.exit(3)", "failed", "exit code 3"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "SIGSEGV"),
        ("say(type='progress')", "no_completion", "exit code 0 without a completion"),
        ("os.close(1); time.sleep(60)", "no_completion", "stdout was closed"),
        ("say(type='completion', dispatch_id=ID, status='success', results=None)", "protocol_error", "results"),
        ("say(type='progress', partial={'found': 7}); time.sleep(60)", "timeout", "wall-clock limit of 1.5 s"),
    ],
)
async def test_every_end_has_its_status_and_says_why(
    pool: Pool, program: Any, body: str, status: str, said: str
) -> None:
    outcome = await pool.dispatch("mine", command=program(body), timeout=1.5, grace=0.3)
    assert outcome.status == status
    assert said in " ".join(outcome.errors)


async def test_partial_findings_survive_a_timeout(pool: Pool, program: Any) -> None:
    command = program("say(type='progress', partial={'found': 7}); time.sleep(60)")
    outcome = await pool.dispatch("mine", command=command, timeout=3.0, grace=0.2)
    assert outcome.results == {"found": 7}
    assert "partial findings" in outcome.warnings[0]


async def test_a_result_is_kept_when_the_process_fails_or_hangs_afterwards(pool: Pool, program: Any) -> None:
    failed = await pool.dispatch("mine", command=program("complete(); sys.exit(3)"))
    hung = await pool.dispatch("mine", command=program("complete(); time.sleep(60)"), grace=0.3)
    assert (failed.status, hung.status) == ("success", "success")
    assert "exit code 3" in failed.warnings[0]
    assert "did not exit" in hung.warnings[0]


async def test_a_specialist_that_ignores_sigterm_is_killed(pool: Pool, program: Any) -> None:
    body = "signal.signal(signal.SIGTERM, signal.SIG_IGN); say(type='progress'); time.sleep(60)"
    command = program(body)
    outcome = await pool.dispatch("mine", command=command, timeout=1.0, grace=0.3)
    assert (outcome.status, outcome.exit.signal) == ("timeout", "SIGKILL")
    assert "SIGKILL" in outcome.errors[0]
    assert living(command[-1]) == []


async def test_a_grandchild_that_holds_the_pipes_neither_stalls_nor_survives(pool: Pool, program: Any) -> None:
    body = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', sys.argv[0]]); complete()"
    command = program(body)
    outcome = await pool.dispatch("mine", command=command, grace=0.5)
    assert outcome.status == "success"
    assert "left behind were ended" in outcome.warnings[0]
    assert outcome.duration_s < 10
    assert living(command[-1]) == []


async def test_a_stray_with_its_pipes_closed_is_ended_too(pool: Pool, program: Any) -> None:
    body = """
    null = subprocess.DEVNULL
    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', sys.argv[0]], stdout=null, stderr=null)
    complete()
    """
    command = program(body)
    outcome = await pool.dispatch("mine", command=command, grace=0.5)
    assert "left behind were ended" in outcome.warnings[0]
    assert living(command[-1]) == []


async def test_cancelling_the_caller_ends_the_process_and_is_recorded(pool: Pool, program: Any) -> None:
    command = program("say(type='started'); time.sleep(60)")
    task = asyncio.create_task(pool.dispatch("mine", command=command, grace=0.3))
    for _ in range(200):
        if living(command[-1]):
            break
        await asyncio.sleep(0.05)
    assert living(command[-1])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert living(command[-1]) == []
    assert [outcome.status for outcome in open_run(pool.run_folder).outcomes] == ["cancelled"]


async def test_leaving_the_pool_cancels_what_is_under_way(workspace: Path, program: Any) -> None:
    command = program("say(type='started'); time.sleep(60)")
    async with Pool(workers=1, workspace=workspace) as pool:
        folder = pool.run_folder
        task = asyncio.create_task(pool.dispatch("mine", command=command, grace=0.3))
        while not living(command[-1]):
            await asyncio.sleep(0.05)
    assert task.cancelled()
    assert living(command[-1]) == []
    assert [outcome.status for outcome in open_run(folder).outcomes] == ["cancelled"]
    with pytest.raises(PoolClosedError):
        await pool.dispatch("mine", command=command)


async def test_a_specialist_that_dies_mid_dispatch_leaves_its_siblings_alone(pool: Pool, program: Any) -> None:
    good, bad = program("time.sleep(0.5); complete('fine')"), program("os.kill(os.getpid(), signal.SIGKILL)")
    outcomes = await asyncio.gather(*(pool.dispatch("mine", command=bad if n == 1 else good) for n in range(4)))
    assert [outcome.status for outcome in outcomes] == ["success", "crashed", "success", "success"]


async def test_a_result_over_the_cap_is_spilled_whole_and_private(pool: Pool, program: Any) -> None:
    outcome = await pool.dispatch("mine", command=program("complete('long ' * 100_000)"))
    assert outcome.truncated is not None
    assert outcome.truncated.spill is not None
    spill = Path(outcome.truncated.spill)
    data = spill.read_bytes()
    assert json.loads(data) == {"answer": "long " * 100_000}
    assert outcome.truncated.chars == len(data.decode())
    assert outcome.truncated.sha256 == hashlib.sha256(data).hexdigest()
    assert stat.S_IMODE(spill.stat().st_mode) == 0o600
    assert len(json.dumps(outcome.results, separators=(",", ":"), ensure_ascii=False)) <= limits.RESULT_CHARS


async def test_a_spill_that_cannot_be_written_is_said(pool: Pool, program: Any) -> None:
    (pool.run_folder.path / "spill").write_text("a file where the folder should be")
    outcome = await pool.dispatch("mine", command=program("complete('long ' * 10_000)"))
    assert outcome.status == "success"
    assert outcome.truncated is not None
    assert outcome.truncated.spill is None
    assert "could not be written" in outcome.warnings[0]


async def test_artifacts_are_checked_hashed_and_reported_relative_to_the_workspace(
    pool: Pool, program: Any, workspace: Path
) -> None:
    (workspace / "link.csv").symlink_to("/etc/passwd")
    body = """
    open("own.csv", "w").write("a,b\\n")
    open("empty.csv", "w").close()
    os.mkfifo("pipe.csv")
    results = os.path.join(request["results_dir"], "made.csv")
    open(results, "w").write("x\\n1\\n")
    complete(artifacts=[{"path": results, "kind": "table", "title": "made"}, "own.csv", "empty.csv", "pipe.csv",
        "missing.csv", "/etc/passwd", "../../../../../escape.csv", request["workspace"] + "/link.csv", "a\\0b", "."])
    """
    outcome = await pool.dispatch("mine", command=program(body))
    made, own = outcome.artifacts
    assert (made.path, made.kind, made.title, made.bytes) == ("results/made.csv", "table", "made", 4)
    assert made.sha256 == hashlib.sha256(b"x\n1\n").hexdigest()
    assert own.path.endswith("/own.csv")
    said = "\n".join(outcome.warnings)
    reasons = ("is empty", "is not a regular file", "is missing", "is outside the workspace", "is a symlink", "NUL")
    assert all(reason in said for reason in reasons)
    assert len(outcome.warnings) == 8


async def test_a_program_that_does_not_exist_is_a_spawn_error(pool: Pool) -> None:
    outcome = await pool.dispatch("mine", command=["no-such-program-anywhere"])
    assert outcome.status == "spawn_error"
    assert "no-such-program-anywhere" in outcome.errors[0]


async def test_a_required_property_that_is_missing_refuses_the_start(pool: Pool, program: Any) -> None:
    outcome = await pool.dispatch("mine", command=program("complete()"), require=["disk_capped"])
    assert outcome.status == "spawn_error"
    assert "disk_capped" in outcome.errors[0]


async def test_orders_that_make_no_sense_are_refused_before_anything_starts(pool: Pool, workspace: Path) -> None:
    (workspace / "empty.csv").touch()
    (workspace / "folder").mkdir()
    (workspace / "assays.csv").write_text("x\n1\n")
    refused: list[tuple[type[Exception], str, dict[str, object]]] = [
        (UnknownNameError, "analytics", {"specialist": "analitics", "objective": "x"}),
        (ObjectiveError, "empty", {"specialist": "analytics", "objective": "  "}),
        (ObjectiveError, "200000", {"specialist": "analytics", "objective": "x" * 200_000}),
        (PathError, "assays.csv", {"specialist": "analytics", "objective": "x", "data": ["asays.csv"]}),
        (PathError, "is empty", {"specialist": "analytics", "objective": "x", "data": ["empty.csv"]}),
        (PathError, "is a folder", {"specialist": "analytics", "objective": "x", "data": ["folder"]}),
        (PathError, "outside the workspace", {"specialist": "analytics", "objective": "x", "data": ["/etc/passwd"]}),
        (UsageError, "characters", {"specialist": "analytics", "objective": "x", "context": {"k": "v" * 30_000}}),
        (UsageError, "timeout", {"specialist": "analytics", "objective": "x", "timeout": 0}),
        (UnknownNameError, "isolation property", {"specialist": "analytics", "objective": "x", "require": ["walls"]}),
    ]
    for kind, said, order in refused:
        with pytest.raises(kind, match=said):
            await pool.dispatch(**order)  # type: ignore[arg-type]
    assert open_run(pool.run_folder).outcomes == []


async def test_a_watcher_is_told_of_start_progress_and_end(workspace: Path, program: Any) -> None:
    events: list[Event] = []
    async with Pool(workers=1, workspace=workspace, watcher=events.append) as pool:
        await pool.dispatch(
            "mine", "watch me", command=program("say(type='progress', text='half', done=5); complete()")
        )
    assert [type(event) for event in events] == [DispatchStarted, DispatchProgress, DispatchEnded]
    progress = events[1]
    assert isinstance(progress, DispatchProgress)
    assert progress.message["done"] == 5


async def test_a_flood_of_stderr_does_not_block_and_its_end_is_kept(pool: Pool, program: Any) -> None:
    body = "sys.stderr.write('noise\\n' * 2_000_000 + 'the last words\\n'); sys.exit(1)"
    outcome = await pool.dispatch("mine", command=program(body))
    assert outcome.status == "failed"
    assert "the last words" in outcome.errors[-1]


async def test_dispatches_leave_no_descriptor_open(pool: Pool, program: Any) -> None:
    command = program("complete()")
    await pool.dispatch("mine", command=command)
    await settled(0)
    before = open_descriptors()
    for _ in range(3):
        await asyncio.gather(*(pool.dispatch("mine", command=command) for _ in range(8)))
    assert await settled(before) == before


async def settled(expected: int) -> int:
    """The number of open descriptors once the last supervisors, which end after their last word, have been reaped."""
    for _ in range(100):
        if open_descriptors() <= expected or not psutil.Process().children():
            break
        await asyncio.sleep(0.02)
    return open_descriptors()


async def test_the_transcript_has_everything_that_was_printed(pool: Pool, program: Any) -> None:
    outcome = await pool.dispatch("mine", command=program("print('noise'); complete(1); complete(2)"))
    transcript = pool.run_folder.transcript(outcome.dispatch_id)
    assert transcript.read_text().startswith("noise\n")
    assert transcript.read_text().count('"completion"') == 2
    assert stat.S_IMODE(transcript.stat().st_mode) == 0o600


async def test_results_of_any_depth_end_in_an_outcome(pool: Pool, program: Any) -> None:
    for depth in (90, 150, 400, 900, 3_000):
        body = f"""
        nested = "{{\\"a\\":" * {depth} + "1" + "}}" * {depth}
        print('{{"type":"completion","dispatch_id":"%s","status":"success","results":%s}}' % (ID, nested))
        """
        outcome = await pool.dispatch("mine", command=program(body))
        assert outcome.status in ("success", "protocol_error")
        assert len(json.dumps(outcome.results)) <= limits.RESULT_CHARS
    assert len(open_run(pool.run_folder).outcomes) == 5


async def test_cancelling_after_the_completion_is_heeded_at_once(pool: Pool, program: Any) -> None:
    command = program("complete(); time.sleep(60)")
    task = asyncio.create_task(pool.dispatch("mine", command=command, grace=30))
    transcripts = pool.run_folder.path / "transcripts"
    while not any(b"completion" in path.read_bytes() for path in transcripts.iterdir()):
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 15)
    assert [outcome.status for outcome in open_run(pool.run_folder).outcomes] == ["cancelled"]


async def test_a_flood_after_the_completion_is_an_output_limit(pool: Pool, program: Any) -> None:
    body = """
    complete()
    piece = b"x" * (1 << 20)
    while True:
        sys.stdout.buffer.write(piece)
    """
    outcome = await pool.dispatch("mine", command=program(body), grace=60)
    assert outcome.status == "output_limit"
    (pool.run_folder.transcript(outcome.dispatch_id)).unlink()


async def test_what_cannot_be_prepared_is_a_spawn_error_with_its_end_recorded(
    pool: Pool, program: Any, workspace: Path
) -> None:
    (workspace / "results").write_text("a file where the folder should be")
    outcome = await pool.dispatch("mine", command=program("complete()"))
    assert outcome.status == "spawn_error"
    assert "results" in outcome.errors[0]
    assert open_run(pool.run_folder).outcomes == [outcome]


async def test_a_verified_artifact_with_a_long_title_is_kept(pool: Pool, program: Any) -> None:
    body = 'open("a.csv", "w").write("x"); complete(artifacts=[{"path": "a.csv", "title": "t" * 20_000}])'
    [artifact] = (await pool.dispatch("mine", command=program(body))).artifacts
    assert len(artifact.title) == limits.ENTRY_CHARS


async def test_a_claim_that_is_not_so_is_replaced_by_what_is_so(pool: Pool, program: Any) -> None:
    body = """
    open("a.csv", "w").write('x,y\\n1,"two\\nlines"\\n3,4\\n')
    complete(artifacts=[{"path": "a.csv", "kind": "table", "rows": 9, "columns": 2, "bytes": 5}])
    """
    outcome = await pool.dispatch("mine", command=program(body))
    [artifact] = outcome.artifacts
    assert (artifact.rows, artifact.columns, artifact.bytes) == (2, 2, 22)
    assert "rows 2, not 9" in outcome.warnings[0]
    assert "bytes 22, not 5" in outcome.warnings[0]


async def test_a_file_with_a_second_name_is_no_artifact(pool: Pool, program: Any) -> None:
    body = 'open("a.csv", "w").write("x"); os.link("a.csv", "b.csv"); complete(artifacts=["a.csv"])'
    outcome = await pool.dispatch("mine", command=program(body))
    assert outcome.artifacts == []
    assert "hard links" in outcome.warnings[0]


async def test_a_watcher_that_fails_changes_nothing(workspace: Path, program: Any) -> None:
    def watcher(event: Event) -> None:
        raise RuntimeError(f"no good: {event}")

    async with Pool(workspace=workspace, watcher=watcher) as pool:
        outcome = await pool.dispatch("mine", command=program("say(type='progress'); complete()"))
        assert open_run(pool.run_folder).outcomes == [outcome]
    assert outcome.status == "success"


@pytest.mark.parametrize("path", ["a\0b.csv", "x" * 5_000, "/".join(["d"] * 3_000)])
async def test_what_is_no_path_is_a_path_error(pool: Pool, path: str) -> None:
    with pytest.raises(PathError):
        await pool.dispatch("analytics", "summarise", [path])


@pytest.mark.parametrize("order", [{"timeout": float("nan")}, {"timeout": float("inf")}, {"context": {"data": ["x"]}}])
async def test_more_orders_that_make_no_sense_are_refused(pool: Pool, order: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        await pool.dispatch("analytics", "summarise", **order)
    with pytest.raises(UsageError):
        await pool.dispatch("mine", command=[])
    with pytest.raises(UsageError):
        await pool.dispatch("mine", command=["true"], environment={"A": 5})  # type: ignore[dict-item]
