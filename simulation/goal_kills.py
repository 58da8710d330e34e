"""Goals that are killed and resumed, in figures: ``python -m simulation goal_kills [ROUNDS]``."""

import random
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from simulation.killed_goals import killed_goal

ROUNDS = 20
MOST_KILLS = 12
"""In one round; then the goal may come to its end."""


def main() -> None:
    """Print what many killed goals have left."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS, help="how many goals")
    rounds = parser.parse_args().rounds
    chance = random.Random(7)
    with TemporaryDirectory() as folder:
        whole = killed_goal(_made(Path(folder) / "whole"), chance, most=0)
        made = [
            killed_goal(_made(Path(folder) / str(number)), chance, most=MOST_KILLS)
            for number in range(rounds)
        ]
    kills = sum(each.kills for each in made)
    once = sum(each.shipped_once for each in made)
    asked = sum(each.asked_users for each in made)
    repeated = sum(each.repeated for each in made)
    same = sum(
        each.answer[0] == whole.answer[0] and each.answer[2] == whole.answer[2] for each in made
    )
    calls = sum(whole.counts.values()) * rounds
    print(
        f"{rounds} goals, {kills} kills: each parcel shipped exactly once in {once}, success and tokens as of an"
        f" undisturbed goal in {same}; the user's word needed {asked} times; {repeated} of {calls} questions and calls"
        " made again"
    )
    sys.exit(once != rounds)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


if __name__ == "__main__":
    main()
