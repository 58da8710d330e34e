"""Does a real server read, stream, call and report what its adapter expects?

A discussion is held through the real commands' halves with the server at an address, such as llama.cpp's: each turn is
streamed, a file changes before the third, and the last turn is asked by a loop with a tool.
"""

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from aggregate import ChatRequest, Client, Prompt, Usage, open_client, open_project
from aggregate.project.configuration import Project
from aggregate.sending import ModelSelection, prepare_turn, send_turn
from aggregate.sending.models import CallResult, LoopTurn, OfferedTool

TURNS, FILES, LINES = 5, 12, 40
CHANGED = 3
"""The turn before which a file changes."""
TOOL = OfferedTool(
    "read_file",
    "Read a file of the project.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


@dataclass(frozen=True, slots=True)
class Row:
    """One request: what the server has reported, what was expected to be read, and seconds."""

    what: str
    usage: Usage
    expected: float
    first: float | None
    whole: float


def write_project(folder: Path) -> Project:
    """Write a project of a few modules and open it."""
    for number in range(FILES):
        body = "".join(f"    total += step_{number}({line})\n" for line in range(LINES))
        text = f"def part_{number}(total):\n{body}    return total\n"
        (folder / f"part_{number:02}.py").write_text(text, encoding="utf-8")
    config = '[project]\nname = "parts"\n[files]\npaths = ["*.py"]\n'
    path = folder / "manual_slop.toml"
    path.write_text(config, encoding="utf-8")
    return open_project(path)


def turns(project: Project, selection: ModelSelection) -> Iterator[Row]:
    """Hold the discussion and yield what each turn was."""
    for number in range(1, TURNS + 1):
        if number == CHANGED:
            changed = project.folder / f"part_{FILES // 2:02}.py"
            changed.write_text(changed.read_text(encoding="utf-8") + "# done\n", encoding="utf-8")
        turn = prepare_turn(project, f"What does part {number} do?", selection, environ={})
        expected = turn.expected.cache_share
        begun = perf_counter()
        sent = send_turn(turn, on_text=lambda _: None)
        seconds = perf_counter() - begun
        what = f"turn {number}" + ", a file has changed" * (number == CHANGED)
        yield Row(what, sent.reply.usage, expected, sent.reply.first_piece, seconds)


def calls(client: Client, *, output: int, is_streamed: bool) -> Iterator[Row | str]:
    """Offer the tool and tell its result where it is called; yield each request, or what has not come."""
    asked, said = "Read README.md, then say so.", list[LoopTurn]()
    for what in ("a tool is offered", "its result is told"):
        request = ChatRequest(
            Prompt(()), asked, max_output=output, tools=(TOOL,), turns=tuple(said), seconds=600
        )
        begun = perf_counter()
        reply = client.send(request, (lambda _: None) if is_streamed else None)
        yield Row(what, reply.usage, 0.0, reply.first_piece, perf_counter() - begun)
        if not reply.calls:
            if not said:
                yield f"no call came, but {reply.text[:40]!r}: this model or its template calls no tools"
            return
        results = tuple(CallResult(call, "Part of a bridge.") for call in reply.calls)
        said.append(LoopTurn(reply.text, results, native=reply.native))


def main(parser: ArgumentParser) -> None:
    """Print a line for each request."""
    parser.add_argument("address", help="such as http://127.0.0.1:8080/v1")
    parser.add_argument("--model", default="tiny", help="as the server calls it")
    parser.add_argument("--max-output", type=int, default=60, metavar="N", help="of each answer")
    options = parser.parse_args()
    print(f"{'':32}{'input':>9}{'read %':>8}{'expected':>10}{'first s':>9}{'all s':>8}")
    with TemporaryDirectory() as name:
        os.environ["AGGREGATE_STATE_DIR"] = str(Path(name) / "state")
        os.environ["XDG_CONFIG_HOME"] = str(Path(name) / "config")
        folder = Path(name) / "project"
        folder.mkdir()
        selection = ModelSelection(
            "compatible", options.model, base_url=options.address, max_output=options.max_output
        )
        client = open_client("compatible", model=options.model, base_url=options.address)
        loops = (
            row
            for streamed in (False, True)
            for row in calls(client, output=options.max_output, is_streamed=streamed)
        )
        for row in (*turns(write_project(folder), selection), *loops):
            print(row if isinstance(row, str) else _line(row), flush=True)


def _line(row: Row) -> str:
    first = "-" if row.first is None else f"{row.first:.2f}"
    shares = f"{row.usage.cache_share:>8.1%}{row.expected:>10.1%}"
    return f"{row.what:32}{row.usage.input:>9,}{shares}{first:>9}{row.whole:>8.2f}"
