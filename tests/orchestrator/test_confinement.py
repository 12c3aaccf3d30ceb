"""What a specialist cannot do, shown by specialists that try; and that nothing is claimed that was not proved."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from outcrop import Pool
from outcrop.doctor import examine
from outcrop.properties import judge
from outcrop_schemas.outcome import ISOLATION_PROPERTIES
from outcrop_specialists.guard.confine import LAYERS

ATTEMPT = """
def attempt(action):
    try:
        action()
    except OSError as error:
        return error.strerror
    return "done"
"""

pytestmark = pytest.mark.usefixtures("confined")


@pytest.fixture
async def confined(pool: Pool, program: Any) -> None:
    outcome = await pool.dispatch("mine", command=program("complete()"))
    missing = [
        name for name in ("write_confined", "network_denied", "keys_hidden") if not outcome.isolation[name].active
    ]
    if missing:
        pytest.skip(f"this kernel cannot give {', '.join(missing)}")


async def tried(pool: Pool, program: Any, **actions: str) -> dict[str, str]:
    body = (
        ATTEMPT
        + "complete({"
        + ", ".join(f"{name!r}: attempt(lambda: {code})" for name, code in actions.items())
        + "})"
    )
    outcome = await pool.dispatch("mine", command=program(body))
    assert outcome.status == "success", outcome.errors
    found: dict[str, str] = outcome.results["answer"]
    return found


async def test_it_writes_its_scratch_and_results_and_nothing_else(
    pool: Pool, program: Any, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "mine.csv").write_text("x\n1\n")
    journal = pool.run_folder.journal
    found = await tried(
        pool,
        program,
        scratch='open("own.txt", "w")',
        results='open(request["results_dir"] + "/a.csv", "w")',
        data=f'open("{workspace}/mine.csv", "a")',
        new=f'open("{workspace}/new.csv", "w")',
        journal=f'open("{journal}", "a")',
        outside=f'open("{tmp_path}/outside", "w")',
        temporary='open("/tmp/outcrop-escape", "w")',
        link=f'(os.symlink("{tmp_path}", "out"), open("out/outside", "w"))',
        rename=f'os.rename("{workspace}/mine.csv", "stolen.csv")',
        remove=f'os.remove("{workspace}/mine.csv")',
    )
    denied = {name for name, said in found.items() if said != "done"}
    assert denied == set(found) - {"scratch", "results"}
    assert (workspace / "mine.csv").read_text() == "x\n1\n"
    assert not (tmp_path / "outside").exists()


async def test_it_reads_the_workspace_but_neither_records_nor_settings_nor_what_lies_outside(
    pool: Pool, program: Any, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "folder").mkdir()
    (workspace / "folder" / "deep.csv").write_text("x\n")
    (workspace / "outcrop.toml").write_text("secret = 1\n")
    (tmp_path / "secret").write_text("s")
    (workspace / "link").symlink_to(tmp_path / "secret")
    found = await tried(
        pool,
        program,
        deep=f'open("{workspace}/folder/deep.csv")',
        listing=f'os.listdir("{workspace}")',
        journal=f'open("{pool.run_folder.journal}")',
        about=f'open("{pool.run_folder.path}/run.json")',
        settings=f'open("{workspace}/outcrop.toml")',
        outside=f'open("{tmp_path}/secret")',
        link=f'open("{workspace}/link")',
        shadow='open("/etc/shadow")',
    )
    assert {name for name, said in found.items() if said == "done"} == {"deep", "listing"}


async def test_it_has_no_network_no_tracing_and_no_namespaces_but_socket_pairs(pool: Pool, program: Any) -> None:
    found = await tried(
        pool,
        program,
        tcp='__import__("socket").socket()',
        udp='__import__("socket").socket(2, 2)',
        unix='__import__("socket").socket(1)',
        pair='__import__("socket").socketpair()',
        loop='__import__("asyncio").new_event_loop().close()',
    )
    assert {name for name, said in found.items() if said == "done"} == {"pair", "loop"}


async def test_keys_are_neither_in_its_environment_nor_to_be_read_from_ours(
    pool: Pool, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary-in-our-environment")
    body = f"""
    seen = []
    for pid in ["self", str(os.getppid()), "{os.getpid()}"]:
        for name in ("environ", "mem", "maps"):
            try:
                seen.append(open(f"/proc/{{pid}}/{{name}}", "rb").read(1 << 20).decode("latin-1"))
            except OSError as error:
                pass
    complete("canary-in-our-environment" in "".join(seen))
    """
    outcome = await pool.dispatch("mine", command=program(body))
    assert outcome.results == {"answer": False}
    assert b"canary-in-our" not in b"".join(
        p.read_bytes()
        for p in pool.run_folder.path.rglob("*")
        if p.is_file() and "program" not in p.name and p.suffix != ".ndjson"
    )


async def test_it_cannot_signal_its_supervisor_or_the_orchestrator_to_death(pool: Pool, program: Any) -> None:
    body = f"""
    for pid in (os.getppid(), {os.getpid()}):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(pid, number)
            except (PermissionError, ProcessLookupError):
                pass
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    complete()
    """
    outcome = await pool.dispatch("mine", command=program(body), grace=0.5)
    assert outcome.status == "success"
    assert "1 processes that it had left behind were ended" in outcome.warnings[0]


async def test_root_keeps_no_capability_but_to_write_what_belongs_to_another(pool: Pool, program: Any) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root has capabilities to lose")
    body = """
    wanted = ("CapEff", "CapBnd", "NoNewPrivs")
    complete([line.split()[1] for line in open("/proc/self/status") if line.startswith(wanted)])
    """
    outcome = await pool.dispatch("mine", command=program(body))
    assert outcome.results["answer"] == ["0000000000000002", "0000000000000002", "1"]


async def test_a_dispatch_that_takes_too_much_memory_is_ended_and_said_so(pool: Pool, program: Any) -> None:
    outcome = await pool.dispatch("mine", command=program("x = bytearray(100 << 30); complete()"))
    assert outcome.status == "failed"
    assert "MemoryError" in " ".join(outcome.errors)


async def test_a_required_property_that_is_proved_lets_it_start_and_one_that_is_not_refuses(
    pool: Pool, program: Any
) -> None:
    good = await pool.dispatch("mine", command=program("complete()"), require=["write_confined", "network_denied"])
    bad = await pool.dispatch("mine", command=program("complete()"), require=["disk_capped"])
    assert good.status == "success"
    assert bad.status == "spawn_error"
    assert "disk_capped is not available here" in bad.errors[0]


GOOD_LAYERS = dict.fromkeys(LAYERS, "ok")
REFUSED = {
    **dict.fromkeys(
        (
            *("write", "write_through_link", "read", "network", "datagrams", "environment", "environments"),
            *("namespace", "memory", "processes"),
        ),
        "denied: no",
    ),
    "metadata": "done",
    "strays_ended": 1,
    "outside_written": False,
}
BREAKS = [
    ("write_confined", {"landlock": "this kernel has no Landlock"}, {}),
    ("write_confined", {}, {"write_through_link": "done"}),
    ("write_confined", {}, {"outside_written": True}),
    ("read_confined", {"landlock": "Function not implemented"}, {}),
    ("read_confined", {}, {"read": "done"}),
    ("network_denied", {"seccomp": "Invalid argument"}, {}),
    ("network_denied", {}, {"network": "done"}),
    ("network_denied", {}, {"datagrams": "done"}),
    ("keys_hidden", {}, {"environment": "done"}),
    ("keys_hidden", {}, {"environments": "done"}),
    ("keys_hidden", {"landlock": "this kernel has no Landlock"}, {}),
    ("keys_hidden", {"capabilities": "Operation not permitted"}, {}),
    ("tree_kill_complete", {}, {"strays_ended": 0}),
    ("memory_capped", {"rlimits": "Operation not permitted"}, {}),
    ("memory_capped", {}, {"memory": "done"}),
    ("processes_capped", {"rlimits": "Operation not permitted"}, {}),
    ("processes_capped", {}, {"processes": "done"}),
]


@pytest.mark.parametrize(("name", "layers", "attempts"), BREAKS)
def test_a_property_is_not_claimed_when_its_layer_or_its_probe_fails(
    name: str, layers: dict[str, str], attempts: dict[str, Any]
) -> None:
    assert judge(GOOD_LAYERS, REFUSED)[name].active  # type: ignore[index]
    broken = judge({**GOOD_LAYERS, **layers}, {**REFUSED, **attempts})
    assert not broken[name].active  # type: ignore[index]
    assert list(broken) == list(ISOLATION_PROPERTIES)


def test_nothing_is_claimed_of_a_probe_that_said_nothing() -> None:
    assert not any(found.active for found in judge({}, {}).values())


async def test_a_layer_that_the_kernel_refuses_is_seen_through_the_real_launch(
    workspace: Path, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The policy asks for no Landlock: what a kernel without it comes to, where there is no bubblewrap either.
    monkeypatch.setenv("OUTCROP_BUBBLEWRAP", "0")
    monkeypatch.setattr("outcrop.policy.LAYERS", tuple(layer for layer in LAYERS if layer != "landlock"))
    async with Pool(workspace=workspace.parent, launcher="cold") as pool:
        outcome = await pool.dispatch("mine", command=program("complete()"))
        refused = await pool.dispatch("mine", command=program("complete()"), require=["write_confined"])
    assert not outcome.isolation["write_confined"].active
    assert "landlock: not applied" in outcome.isolation["write_confined"].by
    assert outcome.isolation["network_denied"].active
    assert refused.status == "spawn_error"


def test_of_landlock_and_bubblewrap_one_is_enough_and_both_are_named() -> None:
    inside = {**GOOD_LAYERS, "bubblewrap": "ok"}
    assert judge(inside, REFUSED)["write_confined"].by.startswith("Landlock and bubblewrap")
    alone = judge({**inside, "landlock": "this kernel has no Landlock"}, REFUSED)["write_confined"]
    assert alone.active
    assert alone.by.startswith("bubblewrap")
    neither = judge({**GOOD_LAYERS, "landlock": "no", "bubblewrap": "it left pid as outside"}, REFUSED)
    assert not neither["write_confined"].active
    assert not neither["read_confined"].active


def test_what_landlock_does_not_cover_is_said() -> None:
    assert "mode, owner and times" in judge(GOOD_LAYERS, REFUSED)["write_confined"].by
    refused = {**REFUSED, "metadata": "denied: Read-only file system"}
    assert judge({**GOOD_LAYERS, "bubblewrap": "ok"}, refused)["write_confined"].by.count("mode, owner") == 0


def test_what_memory_is_not_covered_is_said() -> None:
    assert "System V" in judge(GOOD_LAYERS, {**REFUSED, "shared_memory": "done"})["memory_capped"].by
    assert "System V" not in judge(GOOD_LAYERS, {**REFUSED, "shared_memory": "denied: no"})["memory_capped"].by


async def test_doctor_probes_anew_and_what_it_finds_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Pool(workspace=tmp_path, launcher="cold") as pool:
        assert (await pool._desk.shared.proof.get())["write_confined"].active
    cache = tmp_path / ".outcrop" / "cache" / "isolation.json"
    with monkeypatch.context() as broken:
        broken.setenv("OUTCROP_BUBBLEWRAP", "0")
        broken.setattr("outcrop.policy.LAYERS", tuple(layer for layer in LAYERS if layer != "landlock"))
        report = await examine(tmp_path)
    assert not report.isolation["write_confined"].active
    assert not json.loads(cache.read_bytes())["proof"]["sets"]["cold"]["write_confined"]["active"]
    assert (await examine(tmp_path)).isolation["write_confined"].active
    assert json.loads(cache.read_bytes())["proof"]["sets"]["cold"]["write_confined"]["active"]


async def test_a_proof_of_other_surroundings_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Pool(workspace=tmp_path, launcher="cold") as pool:
        await pool._desk.shared.proof.get()
    # As in a container or a filtered service, under the same boot.
    monkeypatch.setattr("outcrop.isolation._limited_by", lambda: "another filter")
    monkeypatch.setattr("outcrop.policy.LAYERS", tuple(layer for layer in LAYERS if layer != "seccomp"))
    async with Pool(workspace=tmp_path, launcher="cold") as pool:
        assert not (await pool._desk.shared.proof.get())["network_denied"].active


UNCONFINED = """
found = {"landlock": attempt(lambda: open(OUTSIDE, "w")), "seccomp": attempt(lambda: __import__("socket").socket())}
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
import resource
complete([found, status["NoNewPrivs"].strip(), status["Seccomp"].strip(), os.getsid(0) == os.getpid(),
          sorted(os.environ), resource.getrlimit(resource.RLIMIT_CORE)])
"""


async def test_unconfined_leaves_out_every_layer_but_what_is_always_on_and_says_so(
    workspace: Path, program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    body = f"OUTSIDE = {str(tmp_path / 'outside')!r}\n" + ATTEMPT + UNCONFINED
    async with Pool(workspace=workspace.parent, launcher="cold", unconfined=True) as pool:
        command = program(body)
        outcome = await pool.dispatch("mine", command=command)
        refused = await pool.dispatch("mine", command=command, require=["write_confined"])
        allowed = await pool.dispatch("mine", command=command, require=["tree_kill_complete", "memory_capped"])
        folder = pool.run_folder
    assert outcome.status == "success", outcome.errors
    found, privileges, seccomp, own_session, environment, core = outcome.results["answer"]
    assert found == {"landlock": "done", "seccomp": "done"}
    assert (privileges, seccomp, own_session, core) == ("1", "0", True, [0, 0])
    assert "ANTHROPIC_API_KEY" not in environment
    for name, layer in (("write_confined", "landlock"), ("read_confined", "landlock"), ("network_denied", "seccomp")):
        assert not outcome.isolation[name].active
        assert outcome.isolation[name].by.startswith(f"{layer}: turned off by --unconfined")
    assert outcome.isolation["tree_kill_complete"].active
    assert outcome.isolation["memory_capped"].active
    assert refused.status == "spawn_error"
    assert "turned off by --unconfined" in refused.errors[0]
    assert allowed.status == "success"
    about = json.loads((folder.path / "run.json").read_text())
    assert about["unconfined"] is True
    assert about["isolation"]["write_confined"]["active"] is False


async def test_what_was_proved_of_the_one_mode_is_not_taken_for_the_other(workspace: Path, program: Any) -> None:
    for unconfined in (True, False, True):
        async with Pool(workspace=workspace.parent, launcher="cold", unconfined=unconfined) as pool:
            outcome = await pool.dispatch("mine", command=program("complete()"))
        assert outcome.isolation["write_confined"].active is not unconfined


async def test_what_was_proved_is_kept_with_the_run(workspace: Path, program: Any) -> None:
    async with Pool(workspace=workspace.parent) as pool:
        folder = pool.run_folder
    await asyncio.sleep(0)
    assert json.loads((folder.path / "run.json").read_text())["isolation"]["network_denied"]["active"] is True
