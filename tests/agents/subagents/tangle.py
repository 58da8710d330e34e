"""Random tangles of runs and custom functions that wait for each other: a program that prints ``ended`` or hangs."""

import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aggregate.agents.subagents import SubagentSession
from tests.agents.subagents.endings import MuteError, QuittingError

GROUPS = ("$a", "$b", "$c", "$d")
ROUNDS = 40


def tangle(chance: random.Random) -> None:
    """Make sessions whose runs and functions wait for groups at random, and wait for all of them."""
    with ThreadPoolExecutor(24) as pool:
        sessions = [SubagentSession(f"s{n}", executor=pool, max_concurrency=3) for n in range(2)]

        def deed(kind: int, session: SubagentSession, name: str) -> Any:
            if kind == 0:
                raise chance.choice(
                    [
                        MuteError(),
                        QuittingError(),
                        SystemExit(1),
                        KeyboardInterrupt(),
                        ValueError("x"),
                    ]
                )
            if kind == 1:
                return session.wait(name).count
            if kind == 2:
                return session.subagent_results[name].count
            if kind == 3:
                return session.wait(name, timeout=0.01).count
            return kind

        def function(results: list[Any], chosen: tuple[int, SubagentSession, str]) -> Any:
            return [len(results), deed(*chosen)]

        for session in sessions:
            for name in GROUPS:
                if chance.random() < 0.5:
                    chosen = (
                        chance.randrange(1, 5),
                        chance.choice(sessions),
                        chance.choice(GROUPS),
                    )
                    session.spawn(
                        lambda: 1,
                        collect_into=name,
                        custom_function=lambda r, c=chosen: function(r, c),
                    )
        for _ in range(12):
            chosen = (chance.randrange(6), chance.choice(sessions), chance.choice(GROUPS))
            chance.choice(sessions).spawn(
                lambda c=chosen: deed(*c), collect_into=chance.choice(GROUPS)
            )
        waiters = [threading.Thread(target=session.wait) for session in sessions for _ in range(2)]
        for waiter in waiters:
            waiter.start()
        if chance.random() < 0.3:
            chance.choice(sessions).shut_down()
        for session in sessions:
            assert all(result.status.final for result in session.wait().values())
        for waiter in waiters:
            waiter.join()


if __name__ == "__main__":
    rolls = random.Random(int(sys.argv[1]))
    for _ in range(ROUNDS):
        tangle(rolls)
    print("ended")  # noqa: T201 - its output
