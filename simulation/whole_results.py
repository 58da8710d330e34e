"""Fold workers' results into the next worker's prompt: every item is named, and nothing is lost silently.

Each run has tickets that return texts of one size and a last ticket that reads them within 16,000 tokens. Its prompt
has each text whole, or its head, and its tail if there is room for one, with the number of characters left out, under
its producer's name. Items without any room are listed by name.
"""

import re
import sys
from argparse import ArgumentParser
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from aggregate import RunOptions, conduct, count, open_project
from aggregate.agents.tracks import Assignment
from simulation.trees import write_track

TRACK = "results_1"
BUDGET = 16_000
CASES = [(8, 800), (3, 3_000), (1, 8_000), (200, 2_000)]  # tickets, and bytes of what each returns
_SHOWN = re.compile(r"^```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_LISTED = re.compile(r"^- [\d,]+ more results? (?:is|are) only named, .*$", re.MULTILINE)
_LEFT_OUT = re.compile(r"\[?([\d,]+) characters are left out")


def finding(number: int, size: int) -> str:
    """Return a text of lines, each of which no other text has."""
    lines = [
        f"Finding {number}.{line}: the value is {number * 7919 + line}.\n" for line in range(size)
    ]
    text = "".join(lines)[: size - 1]
    return text[: text.rindex("\n")]


@dataclass(slots=True)
class Reader:
    """Answers each ticket with its finding, and keeps what the last one was given."""

    size: int
    given: list[Assignment] = field(default_factory=list)

    def work(self, assignment: Assignment) -> str:
        """Answer, or keep the assignment of the last ticket."""
        if assignment.ticket == "judge":
            self.given.append(assignment)
            return "Judged."
        return finding(int(assignment.ticket.removeprefix("worker_")), self.size)


def tickets(number: int) -> str:
    """Return tickets that collect into one variable, and one that reads it."""
    rows = [
        f'[[tickets]]\nid = "worker_{i}"\nprompt = "Find."\ncollect_into = "$found"\n'
        for i in range(number)
    ]
    judge = f'[[tickets]]\nid = "judge"\nprompt = "Judge."\nbudget = {BUDGET}\ndepends_on = ["$found"]\n'
    return "\n".join((*rows, judge))


def faults_of(assignment: Assignment, number: int, size: int) -> tuple[list[str], int]:
    """Return what is wrong with the last prompt, and how many texts stand there whole."""
    text, tokens = assignment.text, count(assignment.text)
    faults = [f"{tokens:,} tokens, of {BUDGET:,}"] if tokens > BUDGET else []
    parts = re.split(r"^#### (?=worker_\d+)", text, flags=re.MULTILINE)[1:]
    by_name = {part.partition("\n")[0].strip(): part for part in parts}
    # Behind all items, a line names those without any room.
    listed = set(re.findall(r"worker_\d+", next(iter(_LISTED.findall(text)), "")))
    whole = 0
    for i in range(number):
        name, produced = f"worker_{i}", finding(i, size)
        part = by_name.get(name, "")
        cut = _LEFT_OUT.search(part)
        if not part and name in listed:
            continue
        if not part:
            faults.append(f"{name} is not named")
        elif produced in part:
            whole += 1
        elif cut is None:
            faults.append(f"{name} is cut, and nothing says so")
        elif not _adds_up(produced, _SHOWN.findall(part), int(cut[1].replace(",", ""))):
            faults.append(f"{name}: what is shown and what is left out are not the whole")
    return faults, whole


def _adds_up(produced: str, shown: list[str], left_out: int) -> bool:
    """Return whether a head, and a tail if there is one, with what is left out make the whole text."""
    head, tail = shown[0], "".join(shown[1:])
    missing = len(produced) - len(head) - len(tail)
    # A fence begins and ends its text with a line end, which may be the text's own.
    return produced.startswith(head) and produced.endswith(tail) and 0 <= missing - left_out <= 2


def main(parser: ArgumentParser) -> None:
    """Print a row for each case; end with exit code 1 if anything is lost."""
    parser.parse_args()
    is_wrong = False
    for number, size in CASES:
        with TemporaryDirectory() as scratch:
            folder = write_track(Path(scratch) / "p", TRACK, tickets(number))
            reader = Reader(size)
            options = RunOptions(database=str(Path(scratch) / "runs.sqlite"))
            result = conduct(
                open_project(folder / "manual_slop.toml"), TRACK, reader, options=options
            )
            faults, whole = faults_of(reader.given[0], number, size)
            faults += [] if result.succeeded else ["the run has failed"]
            is_wrong |= bool(faults)
            print(
                f"{number:>4} x {size:>5,} bytes: {number - len(faults):>3} named, {whole:>3} whole, "
                f"{count(reader.given[0].text):>6,} tokens{'; ' * bool(faults)}{'; '.join(faults[:3])}",
                flush=True,
            )
    sys.exit(is_wrong)
