"""What every confined process may see: system folders, devices, this interpreter, the allowed environment.

Both confinements are made from it: a specialist's by the orchestrator, a script's by its specialist. Standard library
only, and little of it.
"""

from __future__ import annotations

import os
import sys
from functools import cache

SYSTEM = (
    "/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/fonts", "/etc/passwd", "/etc/group",
    "/etc/nsswitch.conf", "/etc/alternatives", "/etc/ssl", "/proc", "/sys/devices/system", "/sys/fs/cgroup",
    "/sys/kernel/mm",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")

_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# Outcrop's own in a workspace: records, caches, settings.
PRIVATE = frozenset({".outcrop", "outcrop.toml"})

# What is passed on of an environment. An allow-list, since a deny-list misses the next key.
ALLOWED = (
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_NUMERIC",
    "TZ",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
)
# Numeric libraries pick kernels and threads by these; some processors need them for right numbers.
ALLOWED_PREFIXES = ("OPENBLAS_", "OMP_", "MKL_", "POLARS_MAX_THREADS", "NUMEXPR_")


def allowed_environment() -> dict[str, str]:
    """The part of our environment that is passed on, with a PATH and a language in any case.

    Specialists share the processors: unless asked to, a thread of scikit-learn that waits for another does not spin.
    """
    kept = {name: value for name, value in os.environ.items() if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", "OMP_WAIT_POLICY": "PASSIVE", **kept}


@cache
def interpreter_paths() -> tuple[str, ...]:
    """This interpreter, its libraries, and the folders its packages are imported from.

    Not where the program that runs lies, nor what its environment added: a specialist is started without either.
    """
    imported_from = {path for path in sys.path if path and os.path.isdir(path)}
    own = {sys.prefix, sys.base_prefix, sys.exec_prefix, *imported_from} - _of_the_program()
    # Where we were imported from is needed in any case.
    return tuple(sorted((own - {os.getcwd(), "/"}) | {_PACKAGES}))


def _of_the_program() -> set[str]:
    added = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    own = os.path.dirname(os.path.realpath(main)) if main else ""
    folders = [*added, own, *([] if sys.flags.safe_path else sys.path[:1])]
    return {path for folder in folders if folder for path in (folder, os.path.abspath(folder))}


def workspace_entries(workspace: str | os.PathLike[str]) -> list[str]:
    """What of a workspace may be read: all of it but Outcrop's own records and settings."""
    with os.scandir(os.fspath(workspace)) as entries:
        # A link is followed by the kernel to where it leads, and that is not the workspace's.
        # However many there are, each has a rule of its own: a rule for the whole folder would open the records too.
        return [entry.path for entry in entries if entry.name not in PRIVATE and not entry.is_symlink()]
