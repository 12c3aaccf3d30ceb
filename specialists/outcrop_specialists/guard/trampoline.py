"""What a script is started through: confines itself as it is told, then becomes the script.

A program of its own, because the specialist that starts it has threads: nothing of ours can run between its fork and
exec. It says on `status` which layers the kernel took, or why the script could not be started.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from outcrop_specialists.guard.confine import close_all_but, confine, say_layers
from outcrop_specialists.guard.supervisor import read_spec


def main() -> NoReturn:
    """The numbers of the descriptors of spec and status are on the command line."""
    spec_number, status = map(int, sys.argv[1:])
    try:
        spec = read_spec(spec_number)
        os.set_inheritable(status, False)
        close_all_but({2, status})
        layers = confine(spec["policy"])
        os.write(status, f"ok {say_layers(layers)}".encode())
        # Python ignores it; a program that is piped into `head` must end.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvpe(spec["argv"][0], spec["argv"], spec["environment"])
    except OSError as error:
        os.write(status, f"failed {error.errno or 0} {error.strerror or error}".encode())
    finally:
        os._exit(127)


if __name__ == "__main__":
    main()
