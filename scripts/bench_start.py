"""What starting costs: `outcrop --help` against `python -c pass`, a specialist against importing what it uses.

CPU seconds, medians of interleaved runs. Exits 1 where a promise is broken: --help within 0.2 s of CPU beyond
`python -c pass`.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 9
HELP_CPU_SECONDS = 0.2
OUTCROP = str(Path(sys.executable).parent / "outcrop")


def cpu_seconds(command: list[str], folder: str) -> float:
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    python = sys.executable
    cases = {
        "python -c pass": [python, "-c", "pass"],
        "outcrop --help": [OUTCROP, "--help"],
        'python -c "import outcrop"': [python, "-c", "import outcrop"],
        "outcrop limits": [OUTCROP, "limits"],
        'python -c "import sklearn.cluster, polars; os._exit(0)"': [
            python, "-c", "import os, sklearn.cluster, polars; os._exit(0)",
        ],
        "outcrop dispatch -- true": [OUTCROP, "dispatch", "--", "true"],
    }  # fmt: skip
    taken: dict[str, list[float]] = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for name, command in cases.items():
                taken[name].append(cpu_seconds(command, folder))
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    for name, seconds in medians.items():
        print(f"{seconds * 1000:8.0f} ms CPU  {name}")
    beyond = medians["outcrop --help"] - medians["python -c pass"]
    print(f"--help beyond python -c pass: {beyond * 1000:.0f} ms of CPU (limit {HELP_CPU_SECONDS * 1000:.0f})")
    return 0 if beyond < HELP_CPU_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
