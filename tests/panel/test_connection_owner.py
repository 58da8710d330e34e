"""The user at the other end of a connection, from the system's tables."""

import os
import socket
import sys
from pathlib import Path

import pytest

from aggregate.panel import NOBODY, connection_owner

CLIENT, SERVER = ("127.0.0.1", 40_000), ("127.0.0.1", 8123)
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
REST = "00000000:00000000 00:00000000 00000000"
LISTENING = f"   0: 0100007F:1FBB 00000000:0000 0A {REST}  1000        0 7"
OURS = f"   1: 0100007F:1FBB 0100007F:9C40 {{}} {REST}  1000        0 8"
THEIRS = f"   2: 0100007F:9C40 0100007F:1FBB {{}} {REST}  1001        0 9"
LONG = "0000000000000000FFFF00000100007F"
MAPPED = f"   0: {LONG}:9C40 {LONG}:1FBB 01 {REST}  1002        0 9"

little = pytest.mark.skipif(sys.byteorder == "big", reason="the tables are of a small end")


@little
@pytest.mark.parametrize(
    ("lines", "owner"),
    [
        ([LISTENING, OURS.format("01"), THEIRS.format("01")], 1001),
        ([LISTENING, OURS.format("08"), THEIRS.format("05")], NOBODY),  # closed behind its request
        ([LISTENING, OURS.format("08"), THEIRS.format("06")], NOBODY),
        ([LISTENING], NOBODY),  # torn off behind its request
        ([LISTENING, OURS.format("01")], None),  # from another system that shares this address
        ([LISTENING, OURS.format("01"), MAPPED], 1002),
        ([], None),  # a system that has the table and leaves it empty
    ],
)
def test_the_user_is_told_while_the_connection_stands(
    tmp_path: Path, lines: list[str], owner: int | None
) -> None:
    """Only established connections have a user: closed ones are listed as root's."""
    table = tmp_path / "tcp"
    table.write_text(HEAD + "".join(f"{line}\n" for line in lines))
    assert connection_owner(CLIENT, SERVER, tables=[table]) == owner


def test_where_no_table_is_nobody_is_told(tmp_path: Path) -> None:
    """Outside Linux, or without an address, there is no user."""
    assert connection_owner(CLIENT, SERVER, tables=[tmp_path / "none"]) is None
    assert connection_owner(("testclient", 50_000), SERVER) is None


@pytest.mark.skipif(sys.platform != "linux", reason="the table is Linux's")
def test_an_own_connection_is_one_s_own() -> None:
    """Our own connections belong to our user."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with socket.create_connection(listener.getsockname()) as client:
            ends = client.getsockname(), listener.getsockname()
            assert connection_owner(*ends) == os.getuid()
