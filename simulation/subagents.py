"""Measure what collecting sub-agents' results costs: ``python -m simulation.subagents`` prints one table."""

import json
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from time import perf_counter

from aggregate import build_tier3_context
from aggregate.agents.results import merge_outputs
from aggregate.agents.subagents import SubagentSession
from aggregate.base.values import AggregatedResult, LabelledOutput, MergeStrategy

RESULTS = 10_000
THREADS = 64
BUILT_IN = tuple(strategy for strategy in MergeStrategy if strategy is not MergeStrategy.CUSTOM)
TEXT = "The quick brown fox jumps over the lazy dog, and the report goes on. " * 14


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    measured: str
    bound: str
    met: bool


def best(action: Callable[[], object], times: int = 5) -> float:
    """Return the least seconds that ``action`` took."""

    def once() -> float:
        start = perf_counter()
        action()
        return perf_counter() - start

    return min(once() for _ in range(times))


def outputs(strategy: MergeStrategy) -> list[str]:
    """Return results of about 1 KB: texts, or JSON objects for the strategies that read JSON."""
    if strategy in (MergeStrategy.JSON, MergeStrategy.MERGE):
        return [
            json.dumps({"path": f"src/{n}.py", f"finding {n}": TEXT[:950], "lines": n})
            for n in range(RESULTS)
        ]
    return [f"{n}: {TEXT}"[:1024] for n in range(RESULTS)]


def collect(results: list[str], strategy: MergeStrategy) -> SubagentSession:
    """Spawn, complete and read one variable."""
    session = SubagentSession()
    ids = [
        session.spawn("task", collect_into="$all", merge_strategy=strategy).run_id for _ in results
    ]
    for run_id, result in zip(ids, results, strict=True):
        session.complete(run_id, result)
    if session.subagent_results["$all"].count != len(results):
        raise AssertionError("results were lost")
    return session


def overhead() -> Row:
    """Ten sub-agents from spawn to value."""
    ten = [TEXT] * 10
    seconds = best(lambda: collect(ten, MergeStrategy.CONCAT))
    return Row(
        "10 sub-agents, own overhead in all",
        f"{seconds * 1000:.2f} ms",
        "<= 5 ms",
        seconds <= 0.005,
    )


def large(strategy: MergeStrategy) -> Row:
    """Ten thousand results into one variable: seconds, and the peak of what is allocated against the data's size."""
    data = outputs(strategy)
    size = sum(map(len, data))
    seconds = best(lambda: collect(data, strategy), times=3)
    tracemalloc.start()
    collect(data, strategy)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    times = peak / size
    met = seconds <= 0.35 and times <= 2.5
    return Row(
        f"{RESULTS:,} results of 1 KB, {strategy}",
        f"{seconds:.2f} s, {times:.2f}x",
        "<= 0.35 s, <= 2.5x",
        met,
    )


def many_threads() -> Row:
    """Completions from many threads at once: none may be lost."""
    session = SubagentSession()
    ids = [session.spawn("task", collect_into="$all").run_id for _ in range(RESULTS)]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda run_id: session.complete(run_id, run_id), ids))
    kept = sum(a == b for a, b in zip(session.subagent_results["$all"].value, ids, strict=True))
    return Row(
        f"completions from {THREADS} threads",
        f"{kept:,} of {RESULTS:,} kept",
        "all",
        kept == RESULTS,
    )


def javascript() -> Row:
    """A warm merge function in JavaScript."""
    ten = [LabelledOutput({"n": n}) for n in range(10)]

    def merge() -> object:
        return merge_outputs(ten, "custom", custom_function="(results) => results.length").value

    if merge() != 10:
        raise AssertionError("the JavaScript merge gave a wrong value")
    seconds = best(merge, times=50)
    return Row(
        "warm JavaScript merge, overhead", f"{seconds * 1000:.2f} ms", "<= 1 ms", seconds <= 0.001
    )


def folding() -> Row:
    """Ten thousand results in one variable, and as many variables of one result, folded into a prompt."""
    session = collect(outputs(MergeStrategy.CONCAT), MergeStrategy.CONCAT)
    single = {
        f"${n}": merge_outputs([LabelledOutput(TEXT[:1024])], "first") for n in range(RESULTS)
    }
    with TemporaryDirectory() as folder:

        def fold(results: Mapping[str, AggregatedResult]) -> float:
            return best(
                lambda: build_tier3_context(
                    [], folder, [], [], [], results=results, cache_dir=folder
                ),
                times=3,
            )

        one, many = fold(session.subagent_results), fold(single)
    met = max(one, many) <= 0.2
    return Row(
        f"folding {RESULTS:,}: one variable, many", f"{one:.2f} s, {many:.2f} s", "<= 0.2 s", met
    )


def rows() -> Iterator[Row]:
    """Measure everything, one line after the other."""
    yield overhead()
    for strategy in BUILT_IN:
        yield large(strategy)
    yield many_threads()
    yield javascript()
    yield folding()


def main() -> None:
    """Print the table."""
    print(f"{'what':44} {'measured':>22}   bound")
    for row in rows():
        print(
            f"{row.what:44} {row.measured:>22}   {row.bound} {'' if row.met else '(MISSED)'}".rstrip()
        )


if __name__ == "__main__":
    main()
