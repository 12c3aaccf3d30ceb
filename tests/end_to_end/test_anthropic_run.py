"""`outcrop run` on the demo objective with a model behind a server: real SDK, real sockets, real specialists."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
from installed import OUTCROP, outcrop
from servers import peers
from servers.messages_api import Fault, MessagesApi
from servers.recorded import recorded_script, recorded_turns
from servers.turns import Answer, Body, Script

ROOT = Path(__file__).resolve().parents[2]
OBJECTIVE = (
    "Remove duplicate rows, summarise alcohol and proline, cluster the samples into 3 groups on alcohol, flavanoids "
    "and color_intensity, and plot the groups"
)
CANARY = "sk-canary-4f1d9b7c2e60"
MODEL = "claude-sonnet-5-5"


def run(workspace: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["run", OBJECTIVE, "--data", "wines.csv", "--json", *arguments]
    return outcrop(workspace, *command, env={**os.environ, **environment}, timeout=170)


def wines(folder: Path) -> Path:
    folder.mkdir()
    subprocess.run([sys.executable, ROOT / "scripts" / "write_wines.py", folder / "wines.csv"], check=True)
    return folder


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outcome of the demo with the offline model, whose turns are what the server gives."""
    done = run(wines(tmp_path_factory.mktemp("offline") / "w"), "--model", "offline")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@dataclass
class Watched:
    """A script that looks at the environment of every process that the orchestrator has while it is asked."""

    script: Script
    environments: list[dict[str, str]] = field(default_factory=list)

    def __call__(self, body: Body) -> Answer:
        for process in psutil.process_iter(["cmdline"]):
            if any("outcrop_specialists" in part for part in process.info["cmdline"] or []):
                self._look(process)
        return self.script(body)

    def _look(self, process: psutil.Process) -> None:
        try:
            self.environments.append(process.environ())
        except psutil.Error:
            return


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[Answer]]:
    """The demo done offline one specialist at a time: its outcome, and its turns as they were asked for."""
    done = run(wines(tmp_path_factory.mktemp("in_order") / "w"), "--model", "offline", "--workers", "1")
    found: dict[str, Any] = json.loads(done.stdout)
    return found, recorded_turns(Path(found["run_folder"]))


def said(turn: Answer) -> tuple[str, list[dict[str, Any]]]:
    """The text of a turn, and its tool uses."""
    text = "".join(block["text"] for block in turn["content"] if block["type"] == "text")
    return text, [block for block in turn["content"] if block["type"] == "tool_use"]


def same_but_for_the_model(found: dict[str, Any], offline: dict[str, Any]) -> None:
    assert found["status"] == offline["status"] == "success"
    assert found["summary"] == offline["summary"]
    assert [line["status"] for line in found["dispatches"]] == ["success"] * len(offline["dispatches"])
    assert sorted(a["path"] for a in found["artifacts"]) == sorted(a["path"] for a in offline["artifacts"])
    assert found["model"] == MODEL


def places_of(secret: str, folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def test_the_demo_is_done_with_scripted_answers(tmp_path: Path, offline: dict[str, Any]) -> None:
    with MessagesApi(recorded_script(Path(offline["run_folder"]))) as api:
        workspace = wines(tmp_path / "w")
        done = run(workspace, "--model", MODEL, **api.environment())
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
    same_but_for_the_model(found, offline)
    assert api.refusals == []
    assert set(api.statuses) == {200}
    usages = [seen.usage for seen in api.seen if seen.usage]
    for name in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
        assert found["usage"][name] == sum(usage[name] for usage in usages)
    replayed = outcrop(workspace, "replay", "last", "--verify")
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr


def test_the_demo_is_done_over_every_fault_and_the_key_is_nowhere(tmp_path: Path, offline: dict[str, Any]) -> None:
    faults = [
        Fault("status", 429, headers={"retry-after": "0.2"}), None, Fault("status", 529), Fault("drop"), None,
        Fault("status", 500), Fault("malformed"), None, Fault("truncate"), Fault("error_event"), None,
        Fault("refuse_connection"),
    ]  # fmt: skip
    script = Watched(recorded_script(Path(offline["run_folder"])))
    with MessagesApi(script, faults=faults, key=CANARY) as api:
        workspace = wines(tmp_path / "w")
        done = run(workspace, "--model", MODEL, "--debug", **api.environment())
    assert done.returncode == 0, done.stderr
    same_but_for_the_model(json.loads(done.stdout), offline)
    assert not api.faults
    assert api.refusals == []
    assert CANARY not in done.stdout + done.stderr
    assert places_of(CANARY, workspace) == []
    assert script.environments
    assert not [names for names in script.environments if CANARY in str(names)]


def test_the_demo_is_done_by_llmock_over_faults_and_it_finds_nothing_wrong(
    tmp_path: Path, in_order: tuple[dict[str, Any], list[Answer]]
) -> None:
    offline, turns = in_order
    turn_asked = {"stream": True}
    # The stream that breaks off takes the first reply with it.
    behaviors: list[dict[str, Any]] = [
        {"type": "fail", "status": 429, "retry_after": 1, "match": turn_asked},
        {"type": "stream_fault", "kind": "disconnect", "after_chunks": 2},
        {"type": "reply", "text": "This never arrives as a whole, so it is not used.", "match": turn_asked},
    ]
    for turn in turns:
        text, uses = said(turn)
        calls = [{"name": use["name"], "arguments": use["input"]} for use in uses]
        reply = {"text": text} if text else {}
        behaviors.append({"type": "reply", **reply, "tool_calls": calls, "match": turn_asked})
    with peers.llmock(tmp_path / "log") as url:
        peers.ask(f"{url}/_llmock/scenario", {"behaviors": behaviors})
        server = {"ANTHROPIC_BASE_URL": f"{url}/anthropic", "ANTHROPIC_API_KEY": CANARY}
        done = run(wines(tmp_path / "w"), "--model", MODEL, "--workers", "1", **server)
        verdict = peers.ask(f"{url}/_llmock/verdict")
    assert done.returncode == 0, done.stderr
    same_but_for_the_model(json.loads(done.stdout), offline)
    assert verdict["faults_injected"] == 2
    assert verdict["findings"] == []


def test_the_demo_is_done_by_aimock(tmp_path: Path, in_order: tuple[dict[str, Any], list[Answer]]) -> None:
    offline, turns = in_order
    fixtures = []
    for number, turn in enumerate(turns):
        text, uses = said(turn)
        calls = [{"name": use["name"], "arguments": json.dumps(use["input"])} for use in uses]
        response = {**({"content": text} if text else {}), **({"toolCalls": calls} if calls else {})}
        fixtures.append({"match": {"model": MODEL, "sequenceIndex": number}, "response": response})
    with peers.aimock(fixtures, tmp_path) as url:
        server = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": CANARY}
        done = run(wines(tmp_path / "w"), "--model", MODEL, "--workers", "1", **server)
    assert done.returncode == 0, done.stderr
    same_but_for_the_model(json.loads(done.stdout), offline)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault("status", 400, "messages.0: the reason"), "invalid_request_error: messages.0: the reason (HTTP 400, "),
        (Fault("status", 401, f"invalid x-api-key: {CANARY}"), "authentication_error: invalid x-api-key: [key] (HTTP "),
    ],
)
def test_a_deterministic_refusal_ends_the_run_with_its_reason_and_without_the_key(
    tmp_path: Path, fault: Fault, reason: str
) -> None:
    with MessagesApi(faults=[fault], key=CANARY) as api:
        workspace = wines(tmp_path / "w")
        done = run(workspace, "--model", MODEL, "--debug", **api.environment())
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["status"] == "error"
    assert reason in found["errors"][0]
    assert "request req_" in found["errors"][0]
    assert api.statuses == [fault.status]
    assert CANARY not in done.stdout + done.stderr
    assert places_of(CANARY, workspace) == []


def test_the_sdk_is_paid_for_after_the_first_progress_line(tmp_path: Path) -> None:
    """A sitecustomize of the test's own tells when the SDK's import begins; the line is on the screen by then."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import sys\n"
        "class Tells:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'anthropic':\n"
        "            sys.stderr.write('IMPORTING\\n'); sys.stderr.flush()\n"
        "sys.meta_path.insert(0, Tells())\n"
    )
    with MessagesApi(faults=[Fault("status", 400, "enough")]) as api:
        workspace = wines(tmp_path / "w")
        command = [OUTCROP, "run", OBJECTIVE, "--data", "wines.csv", "--json", "--model", MODEL]
        environment = {**os.environ, **api.environment(), "PYTHONPATH": str(tmp_path / "site")}
        done = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True, timeout=170)
    lines = done.stderr.splitlines()
    assert lines.count("IMPORTING") == 1
    assert lines.index("lead started: it plans the work") < lines.index("IMPORTING")


def test_an_unknown_model_is_told_with_those_there_are(tmp_path: Path) -> None:
    with MessagesApi() as api:
        done = run(wines(tmp_path / "w"), "--model", "claude-nonesuch", **api.environment())
    assert done.returncode == 1
    assert "the server has no model 'claude-nonesuch'; it has: claude-opus-5-5" in done.stderr


def test_without_a_key_the_offline_model_is_used_and_that_is_said(workspace: Path) -> None:
    done = outcrop(workspace, "run", "list the files")
    assert "there is no key (ANTHROPIC_API_KEY): the offline model plans, which is no language model" in done.stderr
    assert "no key" not in outcrop(workspace, "run", "list the files", "--model", "offline").stderr


def test_with_a_key_and_no_choice_claude_is_asked_and_that_is_said(tmp_path: Path) -> None:
    with MessagesApi(faults=[Fault("status", 400, "enough")]) as api:
        done = run(wines(tmp_path / "w"), **api.environment())
    assert "Claude is asked, since there is a key" in done.stderr
    assert [seen.body["model"] for seen in api.seen] == ["claude-opus-5-5"]
