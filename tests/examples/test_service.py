"""The example service, driven over real HTTP: nothing is lost, what is too much is refused, the end is in order."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import psutil
import pytest
from processes import is_alive

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CSV = "sample,Au\n" + "".join(f"s{n},{n}\n" for n in range(1, 11))
JOB = {"objective": "summarise Au", "data": ["assays.csv"]}
Service = tuple[str, subprocess.Popen[bytes]]


def ask(url: str, method: str = "GET", body: object = None) -> tuple[int, Any]:
    """Status and JSON of an answer; of a refusal with the seconds after which to try again."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urlopen(request, timeout=150) as answer:
            return answer.status, json.load(answer)
    except HTTPError as refused:
        return refused.code, refused.headers.get("Retry-After")


@contextmanager
def served(workspace: Path, **own: str) -> Iterator[Service]:
    """The service in this workspace, with settings of one's own."""
    (workspace / "assays.csv").write_text(CSV)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    settings = {"WORKSPACE": str(workspace), "WORKERS": "4", "QUEUE": "8", "DRAIN": "8", **own}
    environment = {**os.environ, **{f"EXAMPLE_{name}": value for name, value in settings.items()}}
    command = [sys.executable, "-m", "uvicorn", "--app-dir", str(EXAMPLES), "service:app", "--port", str(port)]
    process = subprocess.Popen([*command, "--log-level", "warning"], env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        while process.poll() is None and not answers(f"{url}/health"):
            pass  # each try is a connection of its own
        yield url, process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(60)


@pytest.fixture
def service(workspace: Path) -> Iterator[Service]:
    with served(workspace) as running:
        yield running


def answers(url: str) -> bool:
    try:
        return ask(url)[0] == 200
    except (URLError, OSError):
        return False


def outcome_of(url: str, number: int) -> dict[str, Any]:
    found: dict[str, Any] = ask(f"{url}/jobs/{number}?wait=100")[1]
    return found


def test_a_job_goes_in_tells_its_progress_and_comes_out(service: Service) -> None:
    url, _ = service
    status, taken = ask(f"{url}/jobs", "POST", JOB)
    assert status == 202
    with urlopen(f"{url}/jobs/{taken['number']}/events", timeout=120) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.read().decode().splitlines()
    events = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    assert events[-1] == "end"
    assert "progress" in events
    found = outcome_of(url, taken["number"])
    assert found["state"] == "success"
    assert "5.5" in json.dumps(found["outcome"]["results"])
    assert ask(f"{url}/jobs/99")[0] == 404
    assert ask(f"{url}/statistics")[1]["statuses"] == {"success": 1}


def test_what_cannot_be_done_is_told_as_such(service: Service) -> None:
    url, _ = service
    number = ask(f"{url}/jobs", "POST", {**JOB, "data": ["../outside.csv"]})[1]["number"]
    found = outcome_of(url, number)
    assert found["state"] == "path"
    assert "outside.csv" in found["outcome"]["errors"][0]


def test_a_cancelled_job_is_told_and_the_service_goes_on(service: Service) -> None:
    url, _ = service
    number = ask(f"{url}/jobs", "POST", JOB)[1]["number"]
    assert ask(f"{url}/jobs/{number}", "DELETE")[1]["state"] in ("cancelled", "success")
    assert outcome_of(url, number)["state"] in ("cancelled", "success")
    assert ask(f"{url}/health")[1]["status"] == "ok"
    assert ask(f"{url}/health")[1]["running"] == 0


def test_of_many_requests_each_is_answered_or_refused_and_the_end_is_in_order(
    service: Service, record_property: Callable[[str, object], None]
) -> None:
    url, process = service
    clients, each = (50, 10) if "OUTCROP_LONG" in os.environ else (20, 2)

    def client(_: int) -> list[str]:
        said = []
        for _ in range(each):
            status, taken = ask(f"{url}/jobs", "POST", JOB)
            if status == 503:
                assert taken == "1"
            said.append("busy" if status == 503 else outcome_of(url, taken["number"])["state"])
        return said

    # What the first job brings with it stays: modules, the probe's answer.
    assert outcome_of(url, ask(f"{url}/jobs", "POST", JOB)[1]["number"])["state"] == "success"
    before = ask(f"{url}/health")[1]["rss_bytes"]
    with ThreadPoolExecutor(clients) as threads:
        said = Counter(state for states in threads.map(client, range(clients)) for state in states)
    assert said.total() == clients * each
    assert set(said) <= {"success", "busy"}
    assert said["success"] >= 8
    told = ask(f"{url}/statistics")[1]
    assert told["statuses"] == {"success": said["success"] + 1}
    assert told["waiting"] == told["running"] == 0
    grown = ask(f"{url}/health")[1]["rss_bytes"] - before
    assert grown < 32 * 2**20

    assert [ask(f"{url}/jobs", "POST", JOB)[0] for _ in range(3)] == [202, 202, 202]
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    told_at = time.monotonic()
    assert process.wait(30) in (0, -signal.SIGTERM)
    drained = time.monotonic() - told_at
    record_property("figures", f"{dict(said)}, grown by {grown / 1e6:.1f} MB, ended {drained:.1f} s after SIGTERM")
    psutil.wait_procs(family, timeout=10)
    assert not any(map(is_alive, family))


def test_whoever_listens_does_not_keep_the_service_from_ending(workspace: Path) -> None:
    def listen(number: int) -> str:
        with urlopen(f"{url}/jobs/{number}/events", timeout=120) as stream:
            listening.release()
            last = [line for line in stream.read().decode().splitlines() if line.startswith("data: ")][-1]
        return str(json.loads(last.removeprefix("data: "))["state"])

    listening, jobs = threading.Semaphore(0), 16
    with served(workspace, WORKERS="1", QUEUE="20", DRAIN="0.2") as (url, process):
        numbers = [ask(f"{url}/jobs", "POST", JOB)[1]["number"] for _ in range(jobs)]
        with ThreadPoolExecutor(jobs) as threads:
            ends = [threads.submit(listen, number) for number in numbers]
            for _ in numbers:
                listening.acquire()
            family = psutil.Process(process.pid).children(recursive=True)
            process.send_signal(signal.SIGTERM)
            said = Counter(end.result() for end in ends)
        assert process.wait(60) in (0, -signal.SIGTERM)
    # Had it drained only when nobody listened any more, all would have been done.
    assert set(said) <= {"success", "cancelled"}
    assert said["cancelled"] > 0
    psutil.wait_procs(family, timeout=10)
    assert not any(map(is_alive, family))


@pytest.mark.parametrize("number", [signal.SIGTERM, *([signal.SIGINT] if "OUTCROP_LONG" in os.environ else [])])
def test_the_script_ends_early_and_tells_what_was_done(workspace: Path, number: signal.Signals) -> None:
    for name in range(40):
        (workspace / f"t{name}.csv").write_text(CSV)
    command = [sys.executable, str(EXAMPLES / "script.py"), str(workspace), "Au"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as script:
        assert script.stdout is not None
        assert script.stderr is not None
        first = script.stdout.readline()
        script.send_signal(number)
        # Not `communicate`, which passes over what the first line left in the buffer.
        told, errors = script.stdout.read(), script.stderr.read()
    *lines, statuses, end = [first, *told.splitlines()]
    assert (script.returncode, errors) == (130, "")
    assert all(": success, " in line for line in lines)
    assert statuses == str({"success": len(lines)})
    assert end == f"ended early: {len(lines)} of 40 tables"
    assert len(lines) < 40


def test_the_script_does_all_tables_of_a_folder(workspace: Path) -> None:
    for name in ("a.csv", "b.csv", "c.csv"):
        (workspace / name).write_text(CSV)
    command = [sys.executable, str(EXAMPLES / "script.py"), str(workspace), "Au"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert {line.partition(":")[0] for line in done.stdout.splitlines()[:-1]} == {"a.csv", "b.csv", "c.csv"}
    assert done.stdout.splitlines()[-1] == "{'success': 3}"
