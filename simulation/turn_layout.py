"""What turns cost as messages of whoever said them, beside the whole discussion in one message of the user.

``python -m simulation turn_layout [CLONE] [--turns N]`` plans the same discussion once and writes each request in both
layouts. Tokens are those of the texts as they are sent, with four for the frame of each message; what a cache by
Anthropic's rules reads and writes follows from the texts and the marked parts alone.
"""

import hashlib
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from aggregate import Usage, count
from aggregate.sending.cache.request_plan import RequestPlan, messages_of
from simulation.replay import make_replay, run_sim

FRAME = 4
"""Tokens that chat formats put around each message."""
WRITE, READ, LOOK_BACK = 1.25, 0.1, 20
ANSWER = (
    "It does so because the caller holds the lock while it waits, which the other thread needs. "
    * 14
)


class Part(NamedTuple):
    """A text of a request: who says it, and whether a breakpoint stands behind it."""

    role: str
    text: str
    is_marked: bool


@dataclass(slots=True)
class Account:
    """What a cache has done in one layout."""

    entries: set[str] = field(default_factory=set)
    total: Usage = field(default_factory=Usage)

    def book(self, parts: Sequence[Part]) -> None:
        """Charge a request."""
        sizes, prefixes, running, role = [], [], hashlib.blake2b(), ""
        for part in parts:
            sizes.append(count(part.text) + FRAME * (part.role != role))
            role = part.role
            running.update(f"{part.role}\0{part.text}\0".encode())
            prefixes.append(running.hexdigest())
        marked = [place for place, part in enumerate(parts) if part.is_marked]
        near = {i for place in marked for i in range(place - LOOK_BACK + 1, place + 1)}
        read = max((i + 1 for i in near if i >= 0 and prefixes[i] in self.entries), default=0)
        written = max((place + 1 for place in marked), default=0)
        self.entries.update(prefixes[place] for place in marked)
        sums = [sum(sizes[:end]) for end in (read, max(read, written), len(sizes))]
        self.total += Usage(sums[2] - sums[1], sums[1] - sums[0], sums[0])

    @property
    def price(self) -> float:
        """What all input has cost, in prices of an input token."""
        return self.total.fresh + WRITE * self.total.cache_write + READ * self.total.cache_read


def as_one_message(plan: RequestPlan) -> list[Part]:
    """Return the request as the prompt has it: all in one message of the user."""
    return [Part("user", block.text, block.has_breakpoint) for block in plan.blocks if block.text]


def as_turns(plan: RequestPlan) -> list[Part]:
    """Return the request as it is sent."""
    return [
        Part("assistant" if message.is_assistant else "user", part.text, part.has_breakpoint)
        for message in messages_of(plan)
        for part in message.parts
    ]


def simulate(clone: Path, turns: int) -> dict[str, Account]:
    """Hold a discussion in which files change before every third turn."""
    accounts = {"one message": Account(), "turns": Account()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commits = turns // 3 + 1
        replay = make_replay(clone, folder / "tree", commits=commits, most_bytes=120_000)

        def before(turn: int) -> None:
            if turn % 3 == 1 and turn // 3 < len(replay.commits):
                replay.check_out(replay.commits[turn // 3].name)

        messages = [f"Why does step {turn} wait for the other?" for turn in range(turns)]
        for done in run_sim(
            replay.configure(folder), messages, answers=[ANSWER] * turns, before=before
        ):
            accounts["one message"].book(as_one_message(done.prepared.plan))
            accounts["turns"].book(as_turns(done.prepared.plan))
    return accounts


def main(parser: ArgumentParser) -> None:
    """Print both accounts."""
    parser.add_argument("clone", nargs="?", type=Path, default=Path())
    parser.add_argument("--turns", type=int, default=30)
    options = parser.parse_args()
    print(
        f"{'layout':12} {'input':>10} {'read':>10} {'written':>10} {'fresh':>8} {'read %':>7} {'price':>10}"
    )
    for name, account in simulate(options.clone.resolve(), options.turns).items():
        total = account.total
        print(
            f"{name:12} {total.input:>10,} {total.cache_read:>10,} {total.cache_write:>10,} {total.fresh:>8,} "
            f"{100 * total.cache_share:>7.2f} {account.price:>10,.0f}"
        )
