"""What a host's loop of tool calls costs: as ``to_anthropic`` leaves it, with ``plan_messages``, and at best.

Each request is accounted by a cache that sees its JSON alone and refuses what the provider would. On short loops every
placement of breakpoints is tried, request after request, for what could cost least.
"""

import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

from aggregate import Exchange, Usage, plan_for, plan_messages, to_anthropic
from aggregate.sending import cost
from aggregate.sending.known_models import known_model
from aggregate.sending.models import CachePolicy
from simulation.discussion import price_of_input
from simulation.replay import make_replay
from simulation.wire_cache import MODEL, WireCache, size_of

POLICY = known_model("anthropic", MODEL).cache
TOOLS = [
    {
        "name": "read",
        "description": "Read a file, or some of its lines.",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
    }
]
Body = Mapping[str, Any]
Way = Callable[[Sequence[Body]], Iterator[Body]]
"""How a host sends the requests of a loop, each of which begins with the one before."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of so many steps, each of so many calls at once, whose results are pieces of a text."""

    steps: int
    calls: int
    text: str
    length: int = 3_000
    """Characters of a result."""

    def bodies(self, first: Body) -> list[Body]:
        """Return the requests without further breakpoints than the first one has."""
        bodies: list[Body] = [{**first, "tools": TOOLS}]
        messages, at = list(first["messages"]), 0
        for step in range(self.steps):
            names = [f"call_{step}_{number}" for number in range(self.calls)]
            asked: list[Body] = [{"type": "text", "text": f"Step {step}: I read more of it."}]
            asked += [
                {"type": "tool_use", "id": name, "name": "read", "input": {"path": f"{name}.py"}}
                for name in names
            ]
            results = []
            for name in names:
                at = (at + self.length) % max(len(self.text) - self.length, 1)
                piece = self.text[at : at + self.length]
                results.append({"type": "tool_result", "tool_use_id": name, "content": piece})
            messages += [
                {"role": "assistant", "content": asked},
                {"role": "user", "content": results},
            ]
            bodies.append({**bodies[0], "messages": list(messages)})
        return bodies


def as_left(bodies: Sequence[Body]) -> Iterator[Body]:
    """Send what the first request had, breakpoints included, and what came behind it."""
    yield from bodies


def unmarked(bodies: Sequence[Body]) -> Iterator[Body]:
    """Send no breakpoints at all."""
    for body in bodies:
        messages = [
            {**message, "content": list(map(_bare, message["content"]))}
            for message in body["messages"]
        ]
        yield {**body, "messages": messages}


def followed(begun: Exchange | None, seconds: float = 20.0) -> Way:
    """Return the way that hands each plan to the next one."""

    def way(bodies: Sequence[Body]) -> Iterator[Body]:
        earlier: Any = begun
        start = begun.begun if begun else 0.0
        for number, body in enumerate(bodies):
            earlier = plan_messages(
                body["messages"],
                model=MODEL,
                tools=body["tools"],
                system=body.get("system"),
                earlier=earlier,
                at=start + number * seconds,
            )
            yield {**body, **earlier.arguments}

    return way


def alone(bodies: Sequence[Body]) -> Iterator[Body]:
    """Plan each request without the one before, as a hook does."""
    for body in unmarked(bodies):
        planned = plan_messages(
            body["messages"], model=MODEL, tools=body["tools"], system=body.get("system")
        )
        yield {**body, **planned.arguments}


def accounted(bodies: Sequence[Body], way: Way, seconds: float = 20.0) -> Usage:
    """Return what a server accounts for all requests of a loop."""
    server, total = WireCache(), Usage()
    for number, body in enumerate(way(bodies)):
        server.now = number * seconds
        total += server.account(body)
    return total


def _bare(block: Body) -> Body:
    return {key: value for key, value in block.items() if key != "cache_control"}


@dataclass
class Search:
    """The least that a loop can cost whose breakpoints stand where they will, in prices of an input token.

    Attributes:
        sizes: The tokens of the pieces of the last request.
        requests: Of how many pieces each request is made.
    """

    sizes: Sequence[int]
    requests: Sequence[int]
    policy: CachePolicy = field(default=POLICY)

    def best(self) -> float:
        """Try all placements, for all that a cache may hold by then."""
        sums, policy = (0, *accumulate(self.sizes)), self.policy

        @cache
        def least(request: int, held: frozenset[int]) -> float:
            if request == len(self.requests):
                return 0.0
            end = self.requests[request]
            places = [place for place in range(1, end + 1) if sums[place] >= policy.minimum]
            costs: dict[tuple[int, frozenset[int]], float] = {}
            for number in range(min(policy.max_breakpoints, len(places)) + 1):
                for marks in combinations(places, number):
                    reached = (
                        old
                        for old in held
                        if any(0 <= mark - old < policy.look_back for mark in marks)
                    )
                    read = max(reached, default=0)
                    written = max((mark for mark in marks if mark > read), default=read)
                    now = policy.read * sums[read] + policy.write * (sums[written] - sums[read])
                    now += sums[end] - sums[written]
                    behind = held.union(mark for mark in marks if mark > read)
                    costs[written, behind] = min(now, costs.get((written, behind), now))
            return min(now + least(request + 1, behind) for (_, behind), now in costs.items())

        return least(0, frozenset())


def of_search(loop: Loop, first: Body) -> tuple[float, float]:
    """Return what ``plan_messages`` costs for a short loop, and the least, in prices of an input token."""
    bodies = list(unmarked(loop.bodies(first)))
    planned = price_of_input(accounted(bodies, followed(None)), POLICY)
    sizes = [size_of(tool) for tool in TOOLS]
    ends = []
    for body in bodies:
        blocks = [block for message in body["messages"] for block in message["content"]]
        ends.append(len(TOOLS) + len(blocks))
    sizes += [size_of(block) for block in blocks]
    return planned, Search(sizes, ends).best()


def main(parser: ArgumentParser) -> None:
    """Print what loops over a clone's prompt cost in each way, then short ones beside the best."""
    parser.add_argument("clone", type=Path)
    parser.add_argument("--bytes", type=int, default=400_000, help="of the files (400,000)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name) / "tree"
        replay = make_replay(options.clone, tree, commits=1, most_bytes=options.bytes)
        config = replay.configure(Path(name))
        begun = plan_for(config, MODEL, "Find out why it fails, and mend it.")
        first = to_anthropic(begun)
        text = begun.plan.text
    print(f"{begun.plan.total:,} tokens of {options.clone.name}; input of a loop in US dollars")
    print(
        f"{'steps':>5} {'calls':>5} {'no marks':>9} {'as left':>9} {'alone':>9} {'followed':>9}"
        f" {'/ as left':>9} {'read %':>7}"
    )
    for steps in (30, 100):
        for calls in (1, 12):
            bodies = Loop(steps, calls, text).bodies(first)
            ways: list[Way] = [unmarked, as_left, alone, followed(begun)]
            usages = [accounted(bodies, way) for way in ways]
            prices = [float(cost(usage, MODEL, provider="anthropic") or 0) for usage in usages]
            row = " ".join(f"{price:9.2f}" for price in prices)
            share = 100 * usages[-1].cache_share
            print(
                f"{steps:5} {calls:5} {row} {prices[-1] / prices[1]:9.3f} {share:7.1f}", flush=True
            )
    small = {
        "model": MODEL,
        "messages": [{"role": "user", "content": [{"type": "text", "text": text[:80_000]}]}],
    }
    print("short loops beside the best of all placements:")
    for steps, calls in ((2, 1), (3, 1), (4, 1), (2, 2), (2, 3)):
        planned, best = of_search(Loop(steps, calls, text), small)
        print(
            f"{steps:5} {calls:5} {planned:11,.0f} {best:11,.0f} {planned / best:7.3f}", flush=True
        )
