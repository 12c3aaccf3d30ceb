"""The commands that tell what is so: tools, limits, this installation."""

from __future__ import annotations

from outcrop.cli.parsing.shared import Commands, command, workspace


def add(commands: Commands) -> None:
    command(commands, "tools", "facts:tools", "list the tools and who has them")
    workspace(command(commands, "limits", "facts:limits", "print every limit, how it is enforced, and the settings"))
    doctor = command(commands, "doctor", "facts:doctor", "check this installation and say what is confined")
    workspace(doctor)
    schema = command(commands, "schema", "facts:schema", "print a JSON Schema of protocol 1 or of a record", json=False)
    schema.add_argument("name", choices=("dispatch", "stream", "completion", "outcome", "journal", "plan"))
    complete = command(commands, "completion", "facts:completion", "print a shell completion script", json=False)
    complete.add_argument("shell", choices=("bash", "zsh", "tcsh"))
