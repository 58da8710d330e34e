"""A discussion replayed over git histories: what each provider's cache reads and writes, and what that costs.

The same discussion is charged in our order, in naive order (what changed longest ago first, the discussion on top)
and without a cache. Everything is in prices of one input token.
"""

import os
import re
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, cycle, islice, pairwise
from pathlib import Path

from aggregate import Prompt, Usage, compose_prompt
from aggregate.prompt import count_prompt
from aggregate.prompt.document import Section
from aggregate.sending.cache import HashedPrompt, SimulatedCache, charge, plan_request
from aggregate.sending.cache.breakpoints import REMEMBERED_PAUSES, EarlierRequest
from aggregate.sending.cache.hashed_prompt import BlockLayout
from aggregate.sending.cache.request_plan import RequestPlan
from aggregate.sending.known_models import known_model
from aggregate.sending.models import CacheLookup, CachePolicy
from simulation.replay import Commit, Replay, SimTurn, make_replay, run_sim

MODELS = (
    ("anthropic", "claude-sonnet-5"),
    ("openai", "gpt-5.6"),
    ("gemini", "gemini-3.5-flash"),
    ("deepseek", "deepseek-flash"),
    ("minimax", "MiniMax-M2.7"),
)


@dataclass(slots=True)
class Account:
    """What one provider's cache did, turn by turn, with one way of sending."""

    policy: CachePolicy
    cache: SimulatedCache = field(default_factory=SimulatedCache)
    layout: BlockLayout | None = None
    usages: list[Usage] = field(default_factory=list)

    def book(self, plan: RequestPlan, *, at: float, output: int) -> None:
        """Charge a request."""
        usage, self.cache = charge(plan, self.cache, at=at)
        self.layout = plan.layout
        self.usages.append(usage + Usage(output=output))

    @property
    def total(self) -> Usage:
        """All turns together."""
        return sum(self.usages, Usage())

    @property
    def input_price(self) -> float:
        """What the input costs, in prices of one input token."""
        return price_of_input(self.total, self.policy)


@dataclass(slots=True)
class Books:
    """The accounts of one provider: what is sent, the same content in naive order, and that without a cache."""

    provider: str
    ours: Account
    naive: Account
    afresh: int = 0


@dataclass(frozen=True, slots=True)
class Discussion:
    """How a discussion goes: files change before every so manieth turn, an answer has so many words.

    The pauses are the seconds from each answer to the next turn.
    """

    turns: int
    every: int
    words: int
    pauses: tuple[float, ...]

    def said(self, commits: Sequence[Commit]) -> list[Commit]:
        """Return the commit that each turn asks for: where files change the one that changes them."""
        changing = self.changes(commits)
        return [changing.get(turn, commits[turn % len(commits)]) for turn in range(self.turns)]

    def changes(self, commits: Sequence[Commit]) -> dict[int, Commit]:
        """Return the commits that change files, by the turn before which they do."""
        return dict(zip(range(1, self.turns, self.every), commits, strict=False))


def price_of_input(usage: Usage, policy: CachePolicy) -> float:
    """Return what input costs, in prices of one input token."""
    return (
        usage.fresh
        + (usage.cache_write - usage.cache_write_long) * policy.write
        + usage.cache_write_long * policy.long_write
        + usage.cache_read * policy.read
    )


def simulate(replay: Replay, folder: Path, discussion: Discussion) -> list[Books]:
    """Hold the discussion and return the accounts of all providers."""
    books = [
        Books(p, Account(known_model(p, m).cache), Account(known_model(p, m).cache))
        for p, m in MODELS
    ]
    changing = discussion.changes(replay.commits)
    times = dict.fromkeys(replay.paths, -1)
    starts = (0.0, *accumulate(discussion.pauses))

    def before(turn: int) -> None:
        if turn:
            let_time_pass(folder, discussion.pauses[turn - 1])
        if turn in changing:
            old = _stamps(replay)
            replay.check_out(changing[turn].name)
            new = _stamps(replay)
            times.update({path: turn for path, stamp in new.items() if stamp != old.get(path)})

    said = discussion.said(replay.commits)
    run = run_sim(
        replay.configure(folder),
        [f"Please do this: {commit.subject}" for commit in said],
        answers=list(answers(said, discussion.words)),
        before=before,
    )
    for turn, done in enumerate(run):
        _book(books, done, times, starts[: turn + 1])
        if done.delivered.reply.usage != books[0].ours.usages[-1]:
            raise AssertionError(f"turn {turn}: the scripted client and the account differ")
    return books


def answers(said: Sequence[Commit], words: int) -> Iterator[str]:
    """Yield answers of so many words, line breaks as they are: what a commit says and does, then what others do."""
    texts = [re.findall(r"\S+\s*", f"{commit.diff}\n") for commit in said]
    for number in range(len(said)):
        pieces = chain.from_iterable(islice(cycle(texts), number, number + len(texts)))
        yield "".join(islice(pieces, words)).strip()


def let_time_pass(folder: Path, seconds: float) -> None:
    """Let time pass: the records of all requests become older."""
    for record in folder.rglob(".*.chain.json"):
        info = record.stat()
        os.utime(record, (info.st_atime, info.st_mtime - seconds))


def _stamps(replay: Replay) -> dict[str, int]:
    """Return when each file was last written."""
    there = ((path, replay.folder / path) for path in replay.paths)
    return {path: file.stat().st_mtime_ns for path, file in there if file.is_file()}


def naive_plan(
    prompt: Prompt, tokens: Sequence[int], times: dict[str, int], policy: CachePolicy
) -> RequestPlan:
    """Plan what a program sends that has the discussion on top and the files that changed last at the end."""
    numbers = range(len(prompt.segments))
    history = [i for i in numbers if prompt.segments[i].section is Section.HISTORY]
    others = [i for i in numbers if prompt.segments[i].section is not Section.HISTORY]
    others.sort(key=lambda i: (times.get(prompt.segments[i].source, -1), i))
    order = (*history, *others)
    ordered = HashedPrompt.of(
        Prompt(tuple(prompt.segments[i] for i in order)), [tokens[i] for i in order]
    )
    sums = tuple(accumulate(segment.tokens for segment in ordered.segments))
    breakpoints = (len(sums),) if policy.lookup is CacheLookup.BREAKPOINTS else ()
    layout = BlockLayout(ordered.digests, tuple(range(1, len(sums) + 1)), breakpoints)
    return RequestPlan((), layout, sums, 0, policy)


def _book(
    books: list[Books], done: SimTurn, times: dict[str, int], starts: Sequence[float]
) -> None:
    """Charge one turn to all accounts; it is sent at the last of ``starts``."""
    ready, output = done.prepared, done.delivered.reply.usage.output
    plain = compose_prompt(ready.request).prompt
    tokens = count_prompt(plain).segments
    pauses = tuple(after - start for start, after in pairwise(starts))
    for one in books:
        one.afresh += sum(tokens)
        policy = one.ours.policy
        before = EarlierRequest(
            one.ours.layout,
            pauses[-1] if pauses else 0.0,
            True,
            pauses[-REMEMBERED_PAUSES:],
            replaced=ready.ordered.replaced,
        )
        plan = plan_request(ready.ordered.prompt, policy, before=before)
        one.ours.book(plan, at=starts[-1], output=output)
        one.naive.book(naive_plan(plain, tokens, times, policy), at=starts[-1], output=output)


def table(books: list[Books]) -> Iterator[str]:
    """Yield the table, line by line."""
    yield f"{'provider':10} {'order':6} {'fresh':>10} {'written':>10} {'read':>11} {'read %':>7} {'cost / afresh':>14}"
    for one in books:
        for name, account in (("ours", one.ours), ("naive", one.naive)):
            total = account.total
            yield (
                f"{one.provider:10} {name:6} {total.fresh:>10,} {total.cache_write:>10,} {total.cache_read:>11,} "
                f"{100 * total.cache_share:>7.1f} {account.input_price / one.afresh:>14.3f}"
            )


def replays(parser: ArgumentParser) -> Iterator[tuple[Path, Replay, Path, Discussion]]:
    """Yield each clone that is asked for, its replay, an empty folder to work in, and how the discussion goes."""
    parser.add_argument(
        "clones", type=Path, nargs="*", default=[Path(__file__).parents[1]], metavar="CLONE"
    )
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--words", type=int, default=290, help="of an answer (290)")
    parser.add_argument(
        "--every", type=int, default=3, help="files change before every n-th turn (3)"
    )
    parser.add_argument("--bytes", type=int, default=400_000, help="of all files (400,000)")
    parser.add_argument("--pause", type=float, default=120.0, help="seconds between turns (120)")
    options = parser.parse_args()
    pauses = (options.pause,) * (options.turns - 1)
    discussion = Discussion(options.turns, options.every, options.words, pauses)
    for clone in options.clones:
        with tempfile.TemporaryDirectory() as name:
            commits = len(range(1, options.turns, options.every))
            tree = Path(name) / "tree"
            replay = make_replay(clone, tree, commits=commits, most_bytes=options.bytes)
            yield clone, replay, Path(name), discussion


def main(parser: ArgumentParser) -> None:
    """Print the table of each clone."""
    for clone, replay, folder, discussion in replays(parser):
        books = simulate(replay, folder, discussion)
        changing = f"{len(replay.commits)} of {discussion.turns} turns change some"
        print(f"{clone}: {len(replay.paths)} files, {changing}")
        print("\n".join(table(books)), flush=True)
