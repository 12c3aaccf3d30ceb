"""The command that talks: chat."""

from __future__ import annotations

from outcrop.cli.options import add_settings
from outcrop.cli.parsing.shared import Commands, attach, command, positive, workspace


def add(commands: Commands) -> None:
    chat = command(commands, "chat", "chat:chat", "talk about the tables of a workspace; objectives become runs")
    chat.add_argument(
        "message",
        nargs="?",
        metavar="MESSAGE",
        help="one question; - reads it from stdin. Without: a conversation, piped in a line is a message",
    )
    chat.add_argument(
        "--data", nargs="+", action="extend", default=[], metavar="FILE", help="data files that it is about"
    )
    workspace(chat)
    add_settings(chat)
    chat.add_argument("--workers", type=positive, metavar="N", help="specialists at work at a time (default 2)")
    chat.add_argument(
        "--pin", action="append", default=[], metavar="KEY=VALUE", help="a fact to keep word for word in every request"
    )
    attach(chat)
    chat.add_argument(
        "--continue",
        dest="earlier",
        nargs="?",
        const="",
        metavar="CHAT",
        help="go on with an earlier conversation: its id or the beginning of it (default: the last one); "
        "a MESSAGE stands before this",
    )
