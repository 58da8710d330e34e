"""What 50 turns of a discussion cost over a real git history, by each provider's cache.

``python -m simulation discussion [CLONE...] [--words N] [--every N] [--pause SECONDS|human]
[--answer SECONDS]`` replays commits of any local clones, by default this project's own: whole source folders, answers
of so many words that take so long, files that change before every n-th turn, pauses of one length or as people make
them. Each turn is composed, planned, sent to the scripted
client and written to the discussion through the public surface; what the caches read and write follows from
their rules (``aggregate.sending.cache.policy``). Beside it stand the plain prompt (every file as it is now) in naive
order: the discussion first, then the files by the time of their last change, a breakpoint at the end where the provider
wants one; and the plain prompt as a fresh pack without a cache.

The constants of ``aggregate.sending.cache`` were set by six histories (``TUNING``); figures that are published name
which histories they are of, these or others (``HELD_OUT``).
"""

import argparse
import os
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, cycle, islice, pairwise
from math import log
from pathlib import Path

from aggregate.base.values import Prompt, Section, Usage
from aggregate.prompt import compose_prompt, count_prompt
from aggregate.sending.cache import HashedPrompt, SimulatedCache, charge, plan_request
from aggregate.sending.cache.breakpoints import BlockLayout
from aggregate.sending.cache.lifetimes import REMEMBERED_PAUSES, CacheLifetime, Pauses
from aggregate.sending.cache.policy import CacheLookup, CachePolicy, policy_for
from aggregate.sending.cache.request_plan import RequestPlan
from aggregate.sending.clients import cost
from simulation.chart import line_chart
from simulation.replay import Commit, Replay, make_replay
from simulation.sim_base import SimTurn, run_sim

TURNS = 50
PAUSE = 120.0
WORDS = 290
EVERY = 3
HUMAN = "human"
MEDIAN_PAUSE, PAUSE_SPREAD = 150.0, 1.028
"""People's pauses: 2.5 minutes in the median, more than five in a quarter of all turns (log-normal)."""
TUNING = ("click", "httpx", "flask", "cobra", "gin", "bat")
HELD_OUT = ("requests", "fzf", "express", "fd", "gson", "ripgrep")
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

    def book(
        self, plan: RequestPlan, *, at: float, output: int, renews_marked: bool = True
    ) -> None:
        """Charge a request."""
        usage, self.cache = charge(plan, self.cache, at=at, renews_marked=renews_marked)
        self.layout = plan.layout
        self.usages.append(usage + Usage(output=output))

    @property
    def total(self) -> Usage:
        """All turns together."""
        return sum(self.usages, Usage())

    def input_price(self, usages: list[Usage]) -> float:
        """Return what the input costs, in prices of one input token."""
        return sum(
            one.fresh
            + (one.cache_write - one.cache_write_long) * self.policy.write
            + one.cache_write_long * self.policy.long_write
            + one.cache_read * self.policy.read
            for one in usages
        )


@dataclass(slots=True)
class Books:
    """The accounts of one provider: what is sent, the same content in naive order, and that without a cache."""

    provider: str
    model: str
    ours: Account
    naive: Account
    afresh: list[Usage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Discussion:
    """How a discussion goes.

    Attributes:
        turns: How many turns.
        every: Files change before every so manieth turn.
        words: How many words an answer has.
        pauses: Seconds from each answer to the next turn.
        renews_marked: Whether a breakpoint renews the entry that it stands on.
        seconds: How long an answer takes.
    """

    turns: int
    every: int
    words: int
    pauses: tuple[float, ...]
    renews_marked: bool = True
    seconds: float = 0.0

    @property
    def starts(self) -> tuple[float, ...]:
        """When each turn is sent."""
        return (0.0, *accumulate(pause + self.seconds for pause in self.pauses))

    @property
    def changing_turns(self) -> list[int]:
        """The turns before which files change."""
        return list(range(1, self.turns, self.every))


def fixed_pauses(turns: int, seconds: float) -> tuple[float, ...]:
    """Return pauses of one length."""
    return (seconds,) * (turns - 1)


def human_pauses(turns: int, seed: int = 1) -> tuple[float, ...]:
    """Return pauses as people make them, the same ones for the same seed."""
    chance = random.Random(seed)
    drawn = (chance.lognormvariate(log(MEDIAN_PAUSE), PAUSE_SPREAD) for _ in range(turns - 1))
    return tuple(round(pause, 1) for pause in drawn)


def simulate(replay: Replay, folder: Path, discussion: Discussion) -> list[Books]:
    """Hold the discussion and return the accounts of all providers."""
    books = [Books(p, m, Account(policy_for(p, m)), Account(policy_for(p, m))) for p, m in MODELS]
    changing = dict(zip(discussion.changing_turns, replay.commits, strict=False))
    times = dict.fromkeys(replay.paths, -1)
    starts = discussion.starts

    def before(turn: int) -> None:
        if turn:
            let_time_pass(folder, discussion.pauses[turn - 1])
        if turn in changing:
            old = stamps(replay)
            replay.check_out(changing[turn].name)
            times.update(
                {path: turn for path, stamp in stamps(replay).items() if stamp != old.get(path)}
            )

    said = [
        changing.get(turn, replay.commits[turn % len(replay.commits)])
        for turn in range(discussion.turns)
    ]
    run = run_sim(
        write_config(folder, replay),
        [f"Please do this: {commit.subject}" for commit in said],
        answers=list(answers(said, discussion.words)),
        before=before,
        meanwhile=lambda: let_time_pass(folder, discussion.seconds),
    )
    for turn, done in enumerate(run):
        _book(books, done, times, starts, turn, discussion)
        if discussion.renews_marked and done.delivered.reply.usage != books[0].ours.usages[-1]:
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


def stamps(replay: Replay) -> dict[str, int]:
    """Return when each file was last written."""
    there = ((path, replay.folder / path) for path in replay.paths)
    return {path: file.stat().st_mtime_ns for path, file in there if file.is_file()}


def write_config(folder: Path, replay: Replay) -> Path:
    """Write the project's configuration outside its work tree, and return it."""
    config = folder / "manual_slop.toml"
    paths = ", ".join(f'"{path}"' for path in replay.paths)
    config.write_text(
        f'[project]\nname = "replay"\n[files]\nbase_dir = "{replay.folder}"\npaths = [{paths}]\n',
        encoding="utf-8",
    )
    return config


def naive_plan(
    prompt: Prompt, tokens: tuple[int, ...], times: dict[str, int], policy: CachePolicy
) -> RequestPlan:
    """Return a request that puts the discussion first and the files by the time of their last change."""
    numbered = list(enumerate(prompt.segments))
    history = [i for i, one in numbered if one.section is Section.HISTORY]
    others = sorted(
        (i for i, one in numbered if i not in set(history)), key=lambda i: _time(prompt, i, times)
    )
    order = (*history, *others)
    ordered = HashedPrompt.of(
        Prompt(tuple(prompt.segments[i] for i in order)), [tokens[i] for i in order]
    )
    fingerprint = ordered.fingerprint
    sums = tuple(accumulate(segment.tokens for segment in fingerprint.segments))
    breakpoints = (len(sums),) if policy.lookup is CacheLookup.BREAKPOINTS else ()
    layout = BlockLayout(fingerprint.digests, tuple(range(1, len(sums) + 1)), breakpoints)
    return RequestPlan((), layout, sums, 0, policy)


def _book(
    books: list[Books],
    done: SimTurn,
    times: dict[str, int],
    starts: Sequence[float],
    turn: int,
    discussion: Discussion,
) -> None:
    ready, output = done.prepared, done.delivered.reply.usage.output
    plain = compose_prompt(ready.request).prompt
    tokens = count_prompt(plain).segments
    between = tuple(after - start for start, after in pairwise(starts[: turn + 1]))
    pauses = Pauses(between[-REMEMBERED_PAUSES:])
    for one in books:
        one.afresh.append(Usage(fresh=sum(tokens), output=output))
        policy = one.ours.policy
        plan = plan_request(
            ready.ordered.prompt,
            policy,
            earlier=one.ours.layout,
            replaced=ready.ordered.replaced,
            age=starts[turn] - starts[turn - 1] if turn else 0.0,
            lifetime=CacheLifetime.AUTO,
            pauses=pauses,
        )
        renews = discussion.renews_marked
        one.ours.book(plan, at=starts[turn], output=output, renews_marked=renews)
        naive = naive_plan(plain, tokens, times, policy)
        one.naive.book(naive, at=starts[turn], output=output, renews_marked=renews)


def table(books: list[Books]) -> Iterator[str]:
    """Yield the table, line by line."""
    yield (
        f"{'provider':10} {'order':6} {'fresh':>10} {'written':>10} {'read':>11} {'read %':>7} "
        f"{'input cost / afresh':>19} {'dollars':>9}"
    )
    for one in books:
        afresh = sum(usage.input for usage in one.afresh)
        for name, account in (("ours", one.ours), ("naive", one.naive)):
            total = account.total
            share = account.input_price(account.usages) / afresh
            yield (
                f"{one.provider:10} {name:6} {total.fresh:>10,} {total.cache_write:>10,} {total.cache_read:>11,} "
                f"{100 * total.cache_share:>7.1f} {share:>19.3f} {_dollars(one, account.usages):>9}"
            )
        dollars = _dollars(one, one.afresh)
        yield f"{one.provider:10} afresh {afresh:>10,} {0:>10} {0:>11} {0:>7.1f} {1:>19.3f} {dollars:>9}"


def chart(one: Books) -> str:
    """Return the input's cost over the turns as SVG, in millions of input tokens."""
    ours, naive, afresh = [], [], []
    for end in range(1, len(one.ours.usages) + 1):
        ours.append(one.ours.input_price(one.ours.usages[:end]) / 1e6)
        naive.append(one.naive.input_price(one.naive.usages[:end]) / 1e6)
        afresh.append(sum(usage.input for usage in one.afresh[:end]) / 1e6)
    lines = {"naive order": naive, "fresh pack": afresh, "aggregate": ours}
    title = f"Input cost of {len(ours)} turns, by the rules of {one.provider}"
    return line_chart(title, lines, across="turn", up="millions of input tokens paid")


def main() -> None:
    """Print the table of each clone."""
    options = _options()
    pauses = (
        human_pauses(options.turns)
        if options.pause == HUMAN
        else fixed_pauses(options.turns, float(options.pause))
    )
    renews = not options.strict_renewal
    discussion = Discussion(
        options.turns, options.every, options.words, pauses, renews, options.answer
    )
    for clone in options.clones:
        with tempfile.TemporaryDirectory() as name:
            replay = make_replay(
                clone,
                Path(name) / "tree",
                commits=len(discussion.changing_turns),
                most_bytes=options.bytes,
                hardest=options.hardest,
            )
            if not options.brief:
                print(
                    f"{clone}: {len(replay.paths)} files, {options.turns} turns, "
                    f"{len(discussion.changing_turns)} of them after a commit"
                )
            books = simulate(replay, Path(name), discussion)
        print(brief_line(clone, books[0]) if options.brief else "\n".join(table(books)), flush=True)
        if options.chart:
            options.chart.write_text(chart(books[0]), encoding="utf-8")


def brief_line(clone: Path, one: Books) -> str:
    """Return what the first provider's cache did, in one line."""
    afresh = sum(usage.input for usage in one.afresh)
    total = one.ours.total
    cost = one.ours.input_price(one.ours.usages) / afresh
    more = total.input / afresh - 1
    return (
        f"{clone}: {100 * total.cache_share:.1f} % read, {cost:.3f} of afresh, {100 * more:.1f} % more tokens, "
        f"{afresh / len(one.afresh):,.0f} tokens a turn"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Replay a discussion over git histories, with each provider's cache."
    )
    parser.add_argument(
        "clones", type=Path, nargs="*", default=[Path(__file__).parents[1]], metavar="CLONE"
    )
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--words", type=int, default=WORDS, help="of an answer (default 290)")
    parser.add_argument(
        "--every", type=int, default=EVERY, help="files change before every n-th turn (default 3)"
    )
    parser.add_argument(
        "--bytes",
        type=int,
        default=400_000,
        help="how large the files are together (default 400,000)",
    )
    parser.add_argument(
        "--hardest",
        action="store_true",
        help="take the files that changed most often, not whole folders",
    )
    parser.add_argument(
        "--pause",
        default=str(PAUSE),
        metavar="SECONDS|human",
        help="between two turns (default 120)",
    )
    parser.add_argument(
        "--answer", type=float, default=0.0, metavar="SECONDS", help="how long an answer takes"
    )
    parser.add_argument(
        "--strict-renewal",
        action="store_true",
        help="count without the renewal of entries that a breakpoint stands on",
    )
    parser.add_argument("--brief", action="store_true", help="one line for each clone")
    parser.add_argument(
        "--chart", type=Path, metavar="FILE", help="write the cost under Anthropic's rules as SVG"
    )
    return parser.parse_args()


def _dollars(one: Books, usages: list[Usage]) -> str:
    prices = [cost(usage, one.model, provider=one.provider) for usage in usages]
    return "-" if None in prices else f"{sum(price for price in prices if price is not None):.2f}"


def _time(prompt: Prompt, number: int, times: dict[str, int]) -> tuple[int, int]:
    return times.get(prompt.segments[number].source, -1), number


if __name__ == "__main__":
    main()
