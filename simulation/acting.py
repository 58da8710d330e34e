"""Tickets that edit files, by a model that quotes only what it was shown: right trees, lost and doubled edits, costs.

Each edit adds 1,000 to a number, so that a lost and a doubled one both show. The model is no model: it looks at what
stands in the request and asks for what is missing. It can give wrong arguments, fail, loop, or never answer; processes
are killed at random times and started again.
"""

import json
import os
import random
import re
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from signal import SIGKILL, pause
from tempfile import TemporaryDirectory
from typing import Any

from aggregate import (
    ProviderError,
    Reply,
    RunOptions,
    StateError,
    TrackError,
    Usage,
    conduct,
    count,
    open_project,
)
from aggregate.agents.tools import make_tool
from aggregate.agents.tracks import (
    Assignment,
    ModelWorker,
    Steps,
    WorkerReply,
    WorkerTerms,
    run_control,
    run_worker,
    worker_tools,
)
from aggregate.agents.tracks.run_control import made_attempts, status
from aggregate.sending.clients.client import ChatRequest, Retry, scripted_client
from aggregate.sending.models import LoopTurn, ToolCall
from simulation.killing import Journal, forked
from simulation.track_kills import server
from simulation.trees import commit_all, git, write_track

TRACK = "acting_1"
ADDED = " + 1000"
_FILES = 40  # of the project at least, most of which no ticket is about
_TOOLS = '["search_files", "read_file", "replace_text"]'
_NOTING = '["search_files", "read_file", "replace_text", "note"]'


@dataclass(frozen=True, slots=True)
class Model:
    """How the model behaves; every request is a line of the journal, with its tokens."""

    journal: Journal
    wrong: float = 0.0  # the part of calls with wrong arguments
    fails: float = 0.0  # the part of requests that the provider refuses for a while
    loops: str = ""  # the number of the ticket that reads on and on
    hangs: str = ""  # the number of the ticket that never gets an answer
    pause: float = 0.0  # seconds of each answer

    def __call__(self, request: ChatRequest) -> Reply:
        """Answer a request."""
        text = request.plan.text
        turns = [
            block.turn for block in request.plan.blocks if block.turn and block.role == "assistant"
        ]
        kind, number = re.findall(r"\[(edit|line) (\d+)\]", text)[-1]
        self.journal.write(f"request {kind} {number} {count(text)}")
        time.sleep(self.pause)
        if number == self.hangs:
            time.sleep(3600)
        if random.random() < self.fails:
            raise ProviderError("it is busy", status=429, retryable=True)
        notes = any(tool.name == "note" for tool in request.tools)
        call = _next_call(kind, number, turns, notes=notes)
        if number == self.loops:
            call = {"tool": "read_file", "path": f"pkg/mod_{number}.py"}
        if call is None:
            return Reply("Done.", Usage())
        if random.random() < self.wrong:
            call = {"tool": call["tool"], random.choice(["file", "text", "old"]): "?"}
        tool = call.pop("tool")
        return Reply("", Usage(), calls=(ToolCall(f"c{len(turns)}", tool, call),))


def _next_call(
    kind: str, number: str, turns: Sequence[LoopTurn], *, notes: bool
) -> dict[str, str] | None:
    """Return what a model does next that knows what its calls gave, and nothing else."""
    given = [
        (one.call, one.text)
        for turn in turns
        for one in turn.results
        if not one.text.startswith("error: ")
    ]
    if any(call.name == "replace_text" for call, _ in given):
        broken_off = any("was broken off" in turn.response for turn in turns)
        if notes and not broken_off and not any(call.name == "note" for call, _ in given):
            return {"tool": "note", "text": f"edit {number}"}
        return None
    shown = next((text for call, text in reversed(given) if call.name == "read_file"), "")
    if kind == "line":
        if "# end" not in shown:
            return {"tool": "read_file", "path": "names.txt"}
        new = f"name {number}\n# end"
        return {"tool": "replace_text", "path": "names.txt", "old": "# end", "new": new}
    found = "\n".join(text for call, text in given if call.name == "search_files")
    if not (path := re.search(rf"(\S+):\d+: def value_{number}\(", found)):
        return {"tool": "search_files", "text": f"def value_{number}("}
    if not (line := re.search(r"^ *limit = .*$", shown, re.MULTILINE)):
        return {"tool": "read_file", "path": path[1]}
    new = f"{line[0]}{ADDED}"
    return {"tool": "replace_text", "path": path[1], "old": line[0], "new": new}


@dataclass(frozen=True, slots=True)
class SimulatedWorker:
    """Lets the model act, with a tool that writes where no tree is."""

    model: Model
    folder: Path
    seconds: float | None = None

    def work(self, assignment: Assignment) -> WorkerReply:
        """Answer a ticket without tools, of which there is none."""
        raise AssertionError(f"{assignment.ticket} has no tools, and each was given some")

    def act(self, assignment: Assignment, steps: Steps) -> WorkerReply:
        """Act on a ticket."""

        def note(text: str) -> str:
            """Write a note into a journal.

            Args:
                text: The note.
            """
            self.model.journal.write(f"note {text}")
            return "noted"

        registry = worker_tools(self.folder, permissions=("read", "write"))
        registry.add(make_tool(note, permissions="write"))
        client = replace(scripted_client(self.model), retry=Retry(attempts=1))
        worker = ModelWorker(client, terms=WorkerTerms(tools=registry))
        return worker.act(assignment, steps)


def write_project(
    folder: Path, edits: int, lines: int, *, more: str = "", tools: str = _TOOLS
) -> Path:
    """Write a project with a track of tickets that each edit a file, and of such that all edit one."""
    tickets = [
        f'[[tickets]]\nid = "edit_{i}"\nprompt = "[edit {i}] Add 1000 to the limit of value_{i}."\n'
        f"tools = {tools}\n{more}"
        for i in range(edits)
    ]
    tickets += [
        f'[[tickets]]\nid = "line_{i}"\nprompt = "[line {i}] Add your line before the end of names.txt."\n'
        f"tools = {_TOOLS}\n{more}"
        for i in range(lines)
    ]
    write_track(folder, TRACK, "\n".join(tickets), files="pkg/*.py")
    (folder / "pkg").mkdir()
    for i in range(max(edits, _FILES)):
        (folder / "pkg" / f"mod_{i}.py").write_text(_module(i), encoding="utf-8")
    (folder / "names.txt").write_text("# names\n# end\n", encoding="utf-8")
    (folder / ".gitignore").write_text("md_gen/\nconductor/\n*.log\n", encoding="utf-8")
    commit_all(folder)
    return folder


def _module(number: int, added: str = "") -> str:
    return (
        f'"""Module {number}."""\n\n\ndef value_{number}(flag):\n    if flag:\n'
        f"        limit = {number}{added}\n        return limit\n    return None\n"
    )


@dataclass(frozen=True, slots=True)
class Trees:
    """What stands in a project's files after its changes were applied."""

    right: int
    lost: int
    doubled: int


def applied(folder: Path, edits: int, lines: int, url: str = "") -> Trees:
    """Apply what the last run has changed, count, and set the files back."""
    with suppress(TrackError):
        run_control.apply(open_project(folder / "manual_slop.toml"), TRACK, database=url)
    right = lost = doubled = 0
    for i in range(edits):
        text = (folder / "pkg" / f"mod_{i}.py").read_text(encoding="utf-8")
        right += text == _module(i, ADDED)
        lost += ADDED not in text
        doubled += text.count(ADDED) > 1
    names = (folder / "names.txt").read_text(encoding="utf-8").splitlines()
    for i in range(lines):
        times = names.count(f"name {i}")
        right, lost, doubled = right + (times == 1), lost + (times == 0), doubled + (times > 1)
    git(folder, "checkout", "-q", "--", ".")
    return Trees(right, lost, doubled)


def scenario(
    name: str,
    edits: int,
    lines: int,
    *,
    expected: int | None = None,
    more: str = "",
    model: Mapping[str, Any] | None = None,
) -> bool:
    """Run a track in this process and print a row about it; tell whether it is as it must be."""
    with TemporaryDirectory() as scratch:
        folder = write_project(Path(scratch) / "p", edits, lines, more=more)
        journal = Journal(Path(scratch) / "requests.log")
        worker = SimulatedWorker(Model(journal, **(model or {})), folder)
        began, cpu = time.monotonic(), _cpu()
        database = str(Path(scratch) / "runs.sqlite")
        options = RunOptions(database=database, terms=_terms(folder))
        result = conduct(open_project(folder / "manual_slop.toml"), TRACK, worker, options=options)
        seconds, cpu = time.monotonic() - began, _cpu() - cpu
        trees = applied(folder, edits, lines, database)
        done = sum(line.is_done for line in result.lines)
        requests, tokens = _requests(journal)
        right = edits + lines if expected is None else expected
        print(
            f"{name:<34} {trees.right:>4} of {edits + lines:<4} lost {trees.lost} doubled {trees.doubled} "
            f"done {done:>4}  {requests:>5} requests {tokens:>9,} tokens  {seconds:>6.1f} s, "
            f"{1000 * cpu / (edits + lines):>5.0f} ms of CPU each",
            flush=True,
        )
        return trees.right == done == right and not trees.doubled


def _terms(folder: Path) -> WorkerTerms:
    registry = worker_tools(folder, permissions=("read", "write"))
    registry.add(make_tool(lambda text: text, "note", permissions="write"))
    return WorkerTerms(tools=registry)


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _requests(journal: Journal) -> tuple[int, int]:
    lines = [line for line in journal.counts().elements() if line.startswith("request ")]
    return len(lines), sum(int(line.rpartition(" ")[2]) for line in lines)


def live(role: str, folder: Path, database: str, worker: SimulatedWorker) -> None:
    """Be a process that is killed."""
    with (folder / "stderr.log").open("ab") as errors:
        os.dup2(errors.fileno(), sys.stderr.fileno())
    if role == "work":
        with run_worker(database, worker, lease=2):
            pause()
    options = RunOptions(database=database, lease=2, terms=_terms(folder))
    project = open_project(folder / "manual_slop.toml")
    conduct(project, TRACK, worker if role == "conduct" else None, options=options)


@dataclass(frozen=True, slots=True)
class Killed:
    """What a run has left that was killed."""

    kills: int
    trees: Trees
    notes: int  # that were written twice
    unsure: int  # notes that were broken off, and not repeated
    failed: int
    events: int  # lines of events that are missing or doubled


def wrong_events(folder: Path, url: str, names: Sequence[str]) -> int:
    """Count turns and calls of the last run that are not in its file of events exactly once."""
    project = open_project(folder / "manual_slop.toml")
    out = max((folder / "md_gen").glob(f"{TRACK}_*"))
    lines = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    ids = [line["id"] for line in lines]
    wrong = len(ids) - len(set(ids))
    for name in names:
        recorded = Counter(
            line["event"]
            for made in made_attempts(project, TRACK, name, database=url)
            for line in made.lines
        )
        found = Counter(line["event"] for line in lines if line["ticket"] == name)
        wrong += abs(found["turn"] - recorded["turn"])
        wrong += abs(found["call"] - recorded["call"])
        wrong += found["ticket"] < 2
    return wrong


def killed_run(
    folder: Path, url: str, roles: Sequence[str], chance: random.Random, *, edits: int, lines: int
) -> Killed:
    """Run the track to its end, killing its processes at random times."""
    journal = Journal(folder / "requests.log")
    journal.path.unlink(missing_ok=True)
    worker = SimulatedWorker(Model(journal, pause=0.05, wrong=0.1), folder)
    project = open_project(folder / "manual_slop.toml")
    before = status(project, TRACK, database=url)
    processes = [forked(live, role, folder, url, worker) for role in roles]
    failed, kills, most = 0, 0, chance.randint(1, 6)
    while True:
        time.sleep(chance.uniform(0.05, 1.5))
        if kills < most:
            victim = chance.choice(processes)
            if victim.is_alive():
                victim.kill()
                victim.join()
                kills += 1
        # Looked at behind the kill: who is started again once the run is over begins another one.
        with suppress(StateError, TrackError):
            progress = status(project, TRACK, database=url)
            is_new = progress and (before is None or progress.run_id != before.run_id)
            if progress and is_new and progress.state == "finished":
                failed = sum(not line.is_done for line in progress.lines)
                break
        processes = [
            _revived(each, role, folder, url, worker)
            for each, role in zip(processes, roles, strict=True)
        ]
    for process in processes:
        process.kill()
        process.join()
    notes = [journal.counts()[f"note edit {i}"] for i in range(edits)]
    trees = applied(folder, edits, lines, url)
    names = [f"edit_{i}" for i in range(edits)] + [f"line_{i}" for i in range(lines)]
    wrong = wrong_events(folder, url, names)
    return Killed(kills, trees, sum(each > 1 for each in notes), notes.count(0), failed, wrong)


def _revived(
    process: ForkServerProcess, role: str, folder: Path, url: str, worker: SimulatedWorker
) -> ForkServerProcess:
    if process.is_alive() or process.exitcode == 0:
        return process
    if process.exitcode != -SIGKILL:
        raise RuntimeError((folder / "stderr.log").read_text(encoding="utf-8")[-3000:])
    return forked(live, role, folder, url, worker)


def kills(runs: int, *, postgres: bool) -> bool:
    """Print what many killed runs have left; tell whether nothing was lost or done twice."""
    roles = ("coordinate", "work", "work") if postgres else ("conduct",)
    edits, lines = 8, 4
    chance = random.Random(28)
    left: list[Killed] = []
    with TemporaryDirectory() as scratch, server(postgres) as url:
        folder = write_project(Path(scratch) / "p", edits, lines, tools=_NOTING)
        database = url or str(Path(scratch) / "runs.sqlite")
        for _ in range(runs):
            left.append(killed_run(folder, database, roles, chance, edits=edits, lines=lines))
    right = sum(each.trees.right == edits + lines and not each.failed for each in left)
    totals = [sum(getattr(each.trees, name) for each in left) for name in ("lost", "doubled")]
    print(
        f"{'Postgres' if postgres else 'SQLite'}: {len(left)} runs, {sum(each.kills for each in left)} kills: "
        f"{right} right; lost {totals[0]}, doubled {totals[1]}, notes twice {sum(each.notes for each in left)}, "
        f"broken off {sum(each.unsure for each in left)}, failed {sum(each.failed for each in left)}, "
        f"wrong lines of events {sum(each.events for each in left)}",
        flush=True,
    )
    is_once = not totals[1] and not any(each.notes or each.events for each in left)
    return right == len(left) and is_once


def _scenarios() -> Iterator[bool]:
    yield scenario("24 edits", 24, 0)
    yield scenario("100 edits", 100, 0)
    yield scenario(
        "24 edits, 1 of 10 requests fails", 24, 0, model={"fails": 0.1}, more="retries = 8\n"
    )
    yield scenario("24 edits, 1 of 5 calls is wrong", 24, 0, model={"wrong": 0.2})
    yield scenario("12 writers of one file", 0, 12)
    limits = "max_turns = 12\ntimeout = 4\nretries = 0\n"
    yield scenario("24 edits, one loops", 24, 0, model={"loops": "3"}, expected=23, more=limits)
    yield scenario(
        "24 edits, one never answers", 24, 0, model={"hangs": "3"}, expected=23, more=limits
    )


def main(parser: ArgumentParser) -> None:
    """Print a row for each scenario, or what killed runs have left."""
    parser.add_argument("--kills", type=int, default=0, help="only this many killed runs")
    parser.add_argument("--postgres", action="store_true", help="on a server, with two workers")
    parser.add_argument("--edits", type=int, default=0, help="only this many edits")
    options = parser.parse_args()
    random.seed(28)
    if options.kills:
        sys.exit(not kills(options.kills, postgres=options.postgres))
    if options.edits:
        sys.exit(not scenario(f"{options.edits:,} edits", options.edits, 0))
    sys.exit(not all(list(_scenarios())))
