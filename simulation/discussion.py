"""What 50 turns of a discussion cost over a real git history, by each provider's cache.

``python -m simulation discussion [CLONE] [--chart FILE.svg]`` replays commits of any local clone, by default this
project's own. A third of the turns change files. Each turn is composed, planned, sent to the scripted client and
written to the discussion through the public surface; what the caches read and write follows from their rules
(``aggregate.prompt_cache.policy``). Beside it stand the plain prompt (every file as it is now) in naive order: the
discussion first, then the files by the time of their last change, a breakpoint at the end where the provider wants
one; and the plain prompt as a fresh pack without a cache.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from aggregate.chat.turn import PreparedTurn
from aggregate.clients.pricing import cost
from aggregate.compose.api import compose_prompt
from aggregate.models.prompt import Prompt, Section
from aggregate.models.usage import Usage
from aggregate.prompt_cache.hashed_prompt import HashedPrompt
from aggregate.prompt_cache.policy import CacheLookup, CachePolicy, policy_for
from aggregate.prompt_cache.request_plan import BlockLayout, RequestPlan, plan_request
from aggregate.prompt_cache.simulator import SimulatedCache, charge
from aggregate.tokens.count import count_prompt
from simulation.chart import line_chart
from simulation.replay import Replay, make_replay
from simulation.sim_base import run_sim

TURNS = 50
PAUSE = 120.0
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

    def input_price(self, usages: list[Usage]) -> float:
        """Return what the input costs, in prices of one input token."""
        return sum(
            one.fresh + one.cache_write * self.policy.write + one.cache_read * self.policy.read
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


def simulate(replay: Replay, folder: Path, *, turns: int, pause: float) -> list[Books]:
    """Hold the discussion and return the accounts of all providers."""
    books = [Books(p, m, Account(policy_for(p, m)), Account(policy_for(p, m))) for p, m in MODELS]
    changing = dict(zip(changing_turns(turns), replay.commits, strict=False))
    times = dict.fromkeys(replay.paths, -1)

    def before(turn: int) -> None:
        if turn in changing:
            old = stamps(replay)
            replay.check_out(changing[turn].name)
            times.update(
                {path: turn for path, stamp in stamps(replay).items() if stamp != old.get(path)}
            )

    said = [changing.get(turn, replay.commits[turn % len(replay.commits)]) for turn in range(turns)]
    config = write_config(folder, replay)
    script = [
        commit.diff if turn in changing else commit.diff[:500] for turn, commit in enumerate(said)
    ]
    run = run_sim(
        config, [f"Please do this: {one.subject}" for one in said], answers=script, before=before
    )
    for turn, done in enumerate(run):
        _book(
            books, done.prepared, times, at=turn * pause, output=done.delivered.reply.usage.output
        )
        if done.delivered.reply.usage != books[0].ours.usages[-1]:
            raise AssertionError(f"turn {turn}: the scripted client and the account differ")
    return books


def changing_turns(turns: int) -> list[int]:
    """Return the turns before which files change: every third."""
    return list(range(1, turns, 3))


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
    books: list[Books], ready: PreparedTurn, times: dict[str, int], *, at: float, output: int
) -> None:
    plain = compose_prompt(ready.request).prompt
    tokens = count_prompt(plain).segments
    for one in books:
        one.afresh.append(Usage(fresh=sum(tokens), output=output))
        policy, earlier = one.ours.policy, one.ours.layout
        plan = plan_request(
            ready.ordered.prompt, policy, earlier=earlier, weights=ready.ordered.weights
        )
        one.ours.book(plan, at=at, output=output)
        one.naive.book(naive_plan(plain, tokens, times, policy), at=at, output=output)


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
    """Print the table for one clone."""
    parser = argparse.ArgumentParser(
        description="Replay a discussion over a git history, with each provider's cache."
    )
    parser.add_argument(
        "clone",
        type=Path,
        nargs="?",
        default=Path(__file__).parents[1],
        help="default: this project",
    )
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument(
        "--bytes",
        type=int,
        default=400_000,
        help="how large the files are together (default 400,000)",
    )
    parser.add_argument(
        "--hardest",
        action="store_true",
        help="take the files that changed most often, not a sample",
    )
    parser.add_argument(
        "--pause", type=float, default=PAUSE, help="seconds between two turns (default 120)"
    )
    parser.add_argument(
        "--chart", type=Path, metavar="FILE", help="write the cost under Anthropic's rules as SVG"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commits = len(changing_turns(options.turns))
        replay = make_replay(
            options.clone,
            folder / "tree",
            commits=commits,
            most_bytes=options.bytes,
            hardest=options.hardest,
        )
        print(
            f"{options.clone}: {len(replay.paths)} files, {options.turns} turns, {commits} of them after a commit"
        )
        books = simulate(replay, folder, turns=options.turns, pause=options.pause)
    print("\n".join(table(books)))
    if options.chart:
        options.chart.write_text(chart(books[0]), encoding="utf-8")


def _dollars(one: Books, usages: list[Usage]) -> str:
    prices = [cost(usage, one.model, provider=one.provider) for usage in usages]
    return "-" if None in prices else f"{sum(price for price in prices if price is not None):.2f}"


def _time(prompt: Prompt, number: int, times: dict[str, int]) -> tuple[int, int]:
    return times.get(prompt.segments[number].source, -1), number


if __name__ == "__main__":
    main()
