"""The server as a program."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.mcp.serving import server_of
from tests.projects import project

TOKEN = "secret-of-this-test"  # noqa: S105


def test_a_host_starts_it_and_asks_on_standard_input(tmp_path: Path) -> None:
    """Nothing but the protocol comes on standard output, and it ends with its input."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    project(tmp_path, {"a.py": "def a():\n    return 1\n"})
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "aggregate", "mcp"], cwd=str(tmp_path)
    )

    async def ask() -> None:
        async with Client(stdio_client(parameters)) as client:
            first = await client.call_tool("read", {"path": "a.py"})
            again = await client.call_tool("read", {"path": "a.py"})
            assert first.content[0].text.endswith("return 1\n")  # type: ignore[union-attr]
            assert "unchanged since your call 1" in again.content[0].text  # type: ignore[union-attr]

    anyio.run(ask)
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


def test_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    """Behind a request that is nested too deeply, or is none, the next one is answered.

    The end of the input is the end, without a word.
    """
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}}
    hello["clientInfo"] = {"name": "n", "version": "1"}
    first = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    bad = ("[" * 100_000, "nonsense", '{"jsonrpc": "2.0", "id": "\\ud800"}')
    command = [sys.executable, "-m", "aggregate", "mcp"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, text=True, **pipes) as server:  # type: ignore[call-overload]
        for line in (first, *bad, '{"jsonrpc": "2.0", "id": 2, "method": "ping"}'):
            server.stdin.write(f"{line}\n")
            server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        rest = server.stdout.read()
    assert [(answer["id"], "result" in answer) for answer in answers] == [(1, True), (2, True)]
    assert (server.returncode, rest) == (0, "")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Serve a project over HTTP and yield the address."""
    import uvicorn

    from aggregate.mcp.server import http_app

    project(tmp_path, {"a.py": "def a():\n    return 1\n"})
    config = uvicorn.Config(lambda *_: None, host="127.0.0.1", port=0, log_level="error")
    socket = config.bind_socket()
    port = socket.getsockname()[1]
    agents = server_of(tmp_path)
    config = uvicorn.Config(
        http_app(agents, token=TOKEN, host="127.0.0.1", port=port), log_level="error"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{port}/mcp"
    server.should_exit = True
    thread.join(10)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "https://evil.example"}, 403),
    ],
)
def test_over_http_only_who_knows_the_token_is_answered(
    address: str, headers: dict[str, str], status: int
) -> None:
    """No token, a wrong one, another host's name or a foreign page: refused."""
    answer = httpx2.post(
        address, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers
    )
    assert answer.status_code == status


def test_over_http_it_answers(address: str) -> None:
    """With the token the tools work as elsewhere."""
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    async def ask() -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            result = await client.call_tool("read", {"path": "a.py"})
            assert "return 1" in result.content[0].text  # type: ignore[union-attr]

    anyio.run(ask)
