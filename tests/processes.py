"""What tests ask of processes that may end while they are asked."""

from __future__ import annotations

from collections.abc import Collection

import psutil

# For the program of a specialist: leaves a process behind that nothing of its own leads to.
DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (0, 1, 2):
            os.close(number)
        time.sleep(300)
    os._exit(0)
"""


def name_of(process: psutil.Process) -> str:
    """Its name; nothing where it ended."""
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs: neither gone nor a zombie."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def begun_since(before: Collection[psutil.Process]) -> list[psutil.Process]:
    """What this process of pytest has started since then, with all below it; the servers that it keeps are older."""
    begun = [child for child in psutil.Process().children() if child not in before]
    return begun + [below for child in begun for below in child.children(recursive=True)]
