"""Goals that are killed at random moments, each time resumed, and what was done afterwards.

A goal lists parcels, weighs each, and ships each, which must not happen twice. Model and tools write a line into a log
when they are done, so that it is known how often each was.
"""

import json
import os
import random
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aggregate import NeuronAgent, ToolRegistry
from aggregate.agents.goals import (
    EngineLimits,
    new_record,
    recorded,
    scripted_model,
    unfinished_goals,
)
from aggregate.agents.goals.questions import Completion, Question
from aggregate.agents.tools import Permission, make_tool

GOAL = "Ship all parcels"
PARCELS = 12
LOG = "done.log"
ANSWER = "answer.json"
MOST_SECONDS = 60.0
MOST_KILLS = 12
"""Of one goal; then it may come to its end."""
SCRIPT = {
    "decompose": "1. List the parcels\n2. Weigh each parcel\n3. Ship each parcel",
    "find_tool": "listParcels",
    "find_tool: Step: Weigh": "weighParcel",
    "find_tool: Step: Ship": "shipParcel",
    "validate": "yes",
    "complete": "yes",
}


@dataclass(frozen=True, slots=True)
class Journal:
    """A file of lines that many processes add to."""

    path: Path

    def write(self, line: str) -> None:
        """Add a line, at once."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)

    def counts(self) -> Counter[str]:
        """Return how often each line is there."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        return Counter(text.splitlines())


def forked(target: Callable[..., None], *arguments: object) -> ForkServerProcess:
    """Start a process off a server that has imported everything, so that a start takes milliseconds, not a second."""
    context = get_context("forkserver")
    context.set_forkserver_preload([target.__module__])
    process = context.Process(target=target, args=arguments)
    process.start()
    return process


@dataclass(slots=True)
class SlowModel:
    """Answers by the script after a moment, and writes down that it did."""

    journal: Journal
    seconds: float
    script: Any = field(default_factory=lambda: scripted_model(SCRIPT))

    def ask(self, question: Question) -> Completion:
        """Answer."""
        time.sleep(self.seconds)
        completion: Completion = self.script.ask(question)
        self.journal.write(f"answered {question.call} {question.place}")
        return completion


def parcel_tools(journal: Journal, seconds: float) -> ToolRegistry:
    """Return the tools; what they do stands in the journal."""

    def listParcels() -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """List the parcels."""
        journal.write("listed")
        # Large enough that it goes to disk.
        parcels = [{"id": number, "note": "x" * 600} for number in range(1, PARCELS + 1)]
        return {"success": True, "parcels": parcels}

    def weighParcel(parcel_id: int) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """Weigh one parcel.

        Args:
            parcel_id: Its id.
        """
        time.sleep(seconds)
        journal.write(f"weighed {parcel_id}")
        return {"success": True, "weight": parcel_id * 1.5}

    def shipParcel(parcel_id: int) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """Ship one parcel.

        Args:
            parcel_id: Its id.
        """
        time.sleep(seconds)
        journal.write(f"shipped {parcel_id}")
        time.sleep(seconds)
        return {"success": True, "result": f"parcel {parcel_id} is on its way"}

    tools = ToolRegistry.of([listParcels, weighParcel], permissions=["read", "write"])
    tools.add(make_tool(shipParcel, permissions=Permission.WRITE))
    return tools


def live(folder: Path, seconds: float, interrupted: str) -> None:
    """Be the process that is killed: begin the goal, or go on with it, and write the answer."""
    records = folder / "goals"
    limits = EngineLimits(workers=1)
    unfinished = unfinished_goals(records)
    if unfinished:
        record = recorded(records, unfinished[0].number, repeat=interrupted == "repeat")
    else:
        _, record = new_record(records, GOAL, steps=limits.steps)
    journal = Journal(folder / LOG)
    agent = NeuronAgent(
        SlowModel(journal, seconds),
        parcel_tools(journal, seconds),
        state_dir=folder / "state",
        limits=limits,
    )
    result = agent.execute_goal(record.goal, record=record)
    (folder / ANSWER).write_text(
        json.dumps([result.success, result.text, result.trace.tokens]), encoding="utf-8"
    )
    record.end()


def users_word(folder: Path) -> str:
    """Return what a user says who looks whether the parcel was shipped that was on its way at the kill."""
    records = folder / "goals"
    unfinished = unfinished_goals(records)
    if not unfinished:
        return ""
    record = recorded(records, unfinished[0].number)
    calls = record.unfinished()
    record.close()
    if not calls:
        return ""
    shipped = Journal(folder / LOG).counts()
    done = [call for call in calls if shipped[f"shipped {json.loads(call.arguments)['parcel_id']}"]]
    return "skip" if done else "repeat"


@dataclass(frozen=True, slots=True)
class Round:
    """What a goal that was killed again and again has left; ``answer`` is success, text and tokens."""

    kills: int
    asked_users: int
    counts: Counter[str]
    answer: tuple[bool, str, int]

    @property
    def shipped_once(self) -> bool:
        """Whether each parcel was shipped, and none twice."""
        return all(self.counts[f"shipped {number}"] == 1 for number in range(1, PARCELS + 1))

    @property
    def repeated(self) -> int:
        """Questions and calls that were made again: those that were running at a kill, or not yet written down."""
        return sum(count - 1 for count in self.counts.values())


def killed_goal(folder: Path, chance: random.Random, *, most: int, seconds: float = 0.01) -> Round:
    """Run the goal in ``folder``, killing it at most ``most`` times, then let it end."""
    kills = asked_users = 0
    while not (folder / ANSWER).exists():
        word = users_word(folder)
        asked_users += bool(word)
        process = forked(live, folder, seconds, word)
        # Up to about what a third of the goal takes, so that kills fall on every part of it.
        process.join(chance.uniform(0.02, 0.35) if kills < most else MOST_SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
            kills += 1
        elif process.exitcode != 0:
            raise RuntimeError(f"the goal ended with {process.exitcode}")
    success, text, tokens = json.loads((folder / ANSWER).read_text(encoding="utf-8"))
    return Round(kills, asked_users, Journal(folder / LOG).counts(), (success, text, tokens))


def main(parser: ArgumentParser) -> None:
    """Print what many killed goals have left."""
    parser.add_argument("rounds", nargs="?", type=int, default=20, help="how many goals")
    rounds = parser.parse_args().rounds
    chance = random.Random(7)
    with TemporaryDirectory() as name:
        folders = [Path(name, str(number)) for number in range(rounds + 1)]
        for folder in folders:
            folder.mkdir()
        whole = killed_goal(folders[0], chance, most=0)
        killed = [killed_goal(folder, chance, most=MOST_KILLS) for folder in folders[1:]]
    once = sum(each.shipped_once for each in killed)
    same = sum(each.answer[::2] == whole.answer[::2] for each in killed)
    print(
        f"{rounds} goals, {sum(each.kills for each in killed)} kills: each parcel shipped exactly once in {once},"
        f" success and tokens as of an undisturbed goal in {same}; the user's word needed"
        f" {sum(each.asked_users for each in killed)} times; {sum(each.repeated for each in killed)} of"
        f" {sum(whole.counts.values()) * rounds} questions and calls made again"
    )
    sys.exit(once != rounds)
