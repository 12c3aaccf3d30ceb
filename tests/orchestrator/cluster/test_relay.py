"""The door for nodes: who has no token gets nothing, and holds nobody up."""

from __future__ import annotations

import asyncio
import secrets
import socket
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("cryptography", reason="the extra `dask` is not installed")

from outcrop.cluster import frames
from outcrop.cluster.frames import Connection, drop
from outcrop.cluster.relay import Relay
from outcrop.cluster.ticket import Site, Ticket, as_bytes, as_task, of_task, on_this_node
from outcrop.launching import LaunchSpec
from outcrop.policy import build_policy
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import LaunchError, NodeLostError, ProtocolError

SITE = Site("/w", "/w/probe", "content", "auto", True, "1")


@pytest.fixture
async def relay() -> AsyncIterator[Relay]:
    opened = Relay()
    await opened.open("127.0.0.1")
    yield opened
    await opened.close()


def ticket(relay: Relay, token: str) -> Ticket:
    return Ticket(relay.host, relay.port, relay.certificate, token, SITE)


def a_launch(folder: Path) -> LaunchSpec:
    scratch, results = folder / "scratch", folder / "results"
    for made in (scratch, results):
        made.mkdir(exist_ok=True)
    about = results.stat()
    identities = {str(results): (about.st_dev, about.st_ino)}
    policy = build_policy(folder, [results], scratch, ["/bin/true"], 1 << 30, identities=identities)
    return LaunchSpec(["/bin/true"], b'{"type":"dispatch"}\n', {"MINE": "yes"}, scratch, policy, 1 << 30, 10)


async def called(to: Ticket, token: str) -> Connection:
    reader, writer = await asyncio.open_connection(to.host, to.port, ssl=to.context())
    connection = Connection(reader, writer)
    await connection.tell(frames.HELLO, token=token, node="mine")
    return connection


async def test_a_token_is_good_for_one_connection(relay: Relay, tmp_path: Path) -> None:
    expected = relay.expect(a_launch(tmp_path), b"what to start")
    first = await called(ticket(relay, expected.token), expected.token)
    assert await first.receive() == (frames.LAUNCH, b"what to start")
    second = await called(ticket(relay, expected.token), expected.token)
    assert await second.receive() is None
    child = await expected.child
    first.close()
    with pytest.raises(NodeLostError, match="mine was lost before it had started it"):
        await child.started
    child.close()


async def test_another_token_gets_nothing_and_leaves_the_launch_for_its_node(relay: Relay, tmp_path: Path) -> None:
    expected = relay.expect(a_launch(tmp_path), b"x")
    assert await (await called(ticket(relay, ""), secrets.token_urlsafe(32))).receive() is None
    assert await (await called(ticket(relay, ""), expected.token)).receive() == (frames.LAUNCH, b"x")
    (await expected.child).close()


async def test_what_was_given_up_is_given_to_nobody(relay: Relay, tmp_path: Path) -> None:
    expected = relay.expect(a_launch(tmp_path), b"x")
    relay.forget(expected)
    assert await (await called(ticket(relay, ""), expected.token)).receive() is None


@pytest.mark.parametrize(
    "said", [b"H\x00\x00\x00\x02[]", b"H\xff\xff\xff\xff", b"X\x00\x00\x00\x00", b"H\x00\x00\x00\x01{", b""]
)
async def test_what_is_no_hello_is_closed(said: bytes, relay: Relay) -> None:
    to = ticket(relay, "")
    reader, writer = await asyncio.open_connection(to.host, to.port, ssl=to.context())
    writer.write(said)
    if not said:
        writer.transport.abort()
    else:
        assert await Connection(reader, writer).receive() is None


async def test_without_tls_nothing_is_said(relay: Relay) -> None:
    reader, writer = await asyncio.open_connection(relay.host, relay.port)
    writer.write(b"H\x00\x00\x00\x02{}" * 100)
    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
        await reader.readexactly(5)
    writer.close()


async def test_a_node_trusts_no_other_certificate(relay: Relay) -> None:
    other = Relay()
    await other.open("127.0.0.1")
    try:
        with pytest.raises(ssl.SSLCertVerificationError):
            await called(replace(ticket(relay, ""), port=other.port), "x")
    finally:
        await other.close()


async def test_who_says_nothing_is_closed(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "NODE_HELLO_SECONDS", 0.1)
    to = ticket(relay, "")
    reader, writer = await asyncio.open_connection(to.host, to.port, ssl=to.context())
    assert await Connection(reader, writer).receive() is None


def test_a_task_is_plain_data() -> None:
    given_ticket = Ticket("127.0.0.1", 1, "pem", "token", SITE)
    assert of_task(wire.loads(wire.dumps(as_task(given_ticket)))) == given_ticket


def test_a_launch_is_the_same_on_a_node(tmp_path: Path) -> None:
    spec = a_launch(tmp_path)
    found, has_channel = on_this_node(as_bytes(spec, tmp_path))
    assert (found.argv, found.request, found.folder, has_channel) == (["/bin/true"], spec.request, spec.folder, False)
    assert found.environment["MINE"] == "yes"
    assert found.policy == spec.policy


def test_a_folder_that_is_another_on_the_node_is_refused(tmp_path: Path) -> None:
    data = as_bytes(a_launch(tmp_path), tmp_path)
    (tmp_path / "results").rename(tmp_path / "away")
    with pytest.raises(LaunchError, match="does not see"):
        on_this_node(data)
    (tmp_path / "results").symlink_to(tmp_path / "away")
    with pytest.raises(LaunchError, match="another folder"):
        on_this_node(data)


def test_a_command_that_is_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="cannot be sent to a node"):
        as_bytes(replace(a_launch(tmp_path), argv=["/bin/\udcff"]), tmp_path)


@given(st.lists(st.tuples(st.sampled_from([b"o", b"e", b"c"]), st.binary(max_size=2_000)), max_size=20), st.data())
def test_frames_come_as_they_were_sent_however_they_are_cut(
    sent: list[tuple[bytes, bytes]], data: st.DataObject
) -> None:
    stream = b"".join(kind + len(payload).to_bytes(4, "big") + payload for kind, payload in sent)
    cut = data.draw(st.integers(0, len(stream)))

    async def received() -> list[tuple[bytes, bytes]]:
        reader = asyncio.StreamReader()
        reader.feed_data(stream[:cut])
        reader.feed_eof()
        connection, found = Connection(reader, None), []  # type: ignore[arg-type]
        while frame := await connection.receive():
            found.append(frame)
        return found

    found = asyncio.run(received())
    assert found == sent[: len(found)]
    assert sum(5 + len(payload) for _, payload in found) <= cut
    if cut == len(stream):
        assert found == sent


async def test_a_writer_that_was_closed_and_has_written_all_can_be_dropped() -> None:
    ours, theirs = socket.socketpair()
    _, writer = await asyncio.open_unix_connection(sock=ours)
    writer.write(b"x" * 1_000_000)
    writer.close()
    reader, other = await asyncio.open_unix_connection(sock=theirs)
    assert len(await reader.read()) == 1_000_000
    drop(writer)
    drop(writer)
    drop(other)


async def test_a_frame_beyond_the_limit_is_none() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"o" + (limits.STREAM_LINE_BYTES + 1).to_bytes(4, "big"))
    with pytest.raises(ProtocolError):
        await Connection(reader, None).receive()  # type: ignore[arg-type]
