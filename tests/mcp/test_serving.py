"""The server as a program."""

import json
import subprocess
import sys
from pathlib import Path

import anyio

from tests.projects import project


def test_a_host_starts_it_and_asks_on_standard_input(tmp_path: Path) -> None:
    """Standard output has the protocol only, and the server ends with its input."""
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
    """After an invalid or too deeply nested request the next one is answered.

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
