"""What tests ask of processes that may end while they are asked."""

from __future__ import annotations

import psutil


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
