"""Whole folders in a long discussion, with a commit before every turn: what a cache reads by the bytes of the requests.

Files are named by globs, so they come, go and are renamed as the commits do. An answer takes from 20 to 120 seconds to
write, and people pause before they go on. ``--sensitivity`` repeats it with one assumption wrong at a time.
"""

import os
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

from aggregate import Usage
from aggregate.sending.known_models import known_model
from simulation.discussion import Discussion, price_of_input
from simulation.replay import Replay, make_replay
from simulation.wire_cache import MODEL, WireCache, compare

_MEDIAN_PAUSE, _SPREAD = 60.0, 1.2
"""Of what people read and write before the next question, in seconds, and of its logarithm."""


def pauses(turns: int, *, seed: int, median: float = _MEDIAN_PAUSE) -> tuple[float, ...]:
    """Return the seconds from each request to the next one: the answer's own time, and the user's."""
    chance = Random(seed)
    return tuple(
        chance.uniform(20, 120) + median * chance.lognormvariate(0, _SPREAD)
        for _ in range(turns - 1)
    )


def scenarios(discussion: Discussion, *, seed: int) -> Iterator[tuple[str, Discussion, WireCache]]:
    """Yield what is assumed, with one thing wrong at a time."""
    turns = discussion.turns
    yield "as assumed", discussion, WireCache(misses=0.05, seed=seed)
    yield "no misses", discussion, WireCache(seed=seed)
    yield "15 % misses", discussion, WireCache(misses=0.15, seed=seed)
    yield "an hour ignored", discussion, WireCache(misses=0.05, keeps_hours=False, seed=seed)
    slow = replace(discussion, pauses=pauses(turns, seed=seed, median=240.0))
    yield "slow users", slow, WireCache(misses=0.05, seed=seed)
    yield "700 words", replace(discussion, words=700), WireCache(misses=0.05, seed=seed)
    yield "every 3rd turn", replace(discussion, every=3), WireCache(misses=0.05, seed=seed)


def held(
    replay: Replay, folder: Path, discussion: Discussion, server: WireCache
) -> tuple[Usage, int]:
    """Return what the server has accounted, and the tokens of the same prompts in one piece."""
    variables = {
        "AGGREGATE_CACHE_DIR": str(folder / "cache"),
        "AGGREGATE_STATE_DIR": str(folder / "state"),
    }
    os.environ.update(variables)
    turns = list(compare(replay, folder, discussion, server))
    return sum((turn.accounted for turn in turns), Usage()), sum(turn.plain for turn in turns)


def row(name: str, usage: Usage, plain: int) -> str:
    """Return one line of the table."""
    price = price_of_input(usage, known_model("anthropic", MODEL).cache) / plain
    return f"{name:16} {usage.input:>11,} {100 * usage.cache_share:>7.1f} {price:>9.3f}"


def changes_of(replay: Replay) -> Mapping[str, int]:
    """Return how many commits add, delete or rename files."""
    marks = {"added": "new file mode", "deleted": "deleted file mode", "renamed": "rename from"}
    return {
        name: sum(mark in commit.diff for commit in replay.commits) for name, mark in marks.items()
    }


def main(parser: ArgumentParser) -> None:
    """Print a line for each clone, or for each assumption."""
    parser.add_argument("clones", type=Path, nargs="+", metavar="CLONE")
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--bytes", type=int, default=400_000, help="of all files (400,000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sensitivity", action="store_true")
    options = parser.parse_args()
    print(f"{'':16} {'input':>11} {'read %':>7} {'/ afresh':>9}")
    said = Discussion(options.turns, 1, 290, pauses(options.turns, seed=options.seed))
    for clone in options.clones:
        for name, discussion, server in scenarios(said, seed=options.seed):
            if name != "as assumed" and not options.sensitivity:
                break
            with tempfile.TemporaryDirectory() as folder:
                replay = make_replay(
                    clone,
                    Path(folder) / "tree",
                    commits=options.turns - 1,
                    most_bytes=options.bytes,
                    whole=True,
                )
                line = row(
                    clone.name if name == "as assumed" else f"  {name}",
                    *held(replay, Path(folder), discussion, server),
                )
                print(
                    line,
                    *(f"{number} {what}" for what, number in changes_of(replay).items()),
                    sep="  ",
                    flush=True,
                )
