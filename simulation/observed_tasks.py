"""What a ranking observes of a clone's tasks, kept in a file from fit to fit. Needs numpy."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from simulation.softmax_fit import Example


class Observed(NamedTuple):
    """What is known of a clone's tasks.

    Attributes:
        kinds: Of evidence, one for each column.
        examples: The tasks.
        lost: Changed pieces that were not among the candidates, and all that were changed.
    """

    kinds: tuple[str, ...]
    examples: list[Example]
    lost: tuple[int, int]


def save_observed(path: Path, observed: Observed) -> None:
    """Write what was observed to a file of numpy's."""
    examples = observed.examples
    np.savez_compressed(
        path,
        kinds=np.array(observed.kinds),
        lost=np.array(observed.lost),
        sizes=np.array([len(example.rows) for example in examples]),
        rows=np.concatenate([example.rows for example in examples]),
        is_answer=np.concatenate([example.is_answer for example in examples]),
        offsets=np.concatenate([example.offsets for example in examples]),
    )


def load_observed(path: Path) -> Observed:
    """Read what ``save_observed`` has written."""
    with np.load(path, allow_pickle=False) as file:
        kinds = tuple(map(str, file["kinds"]))
        lost, total = map(int, file["lost"])
        ends = np.cumsum(file["sizes"])[:-1]
        parts = [np.split(file[name], ends) for name in ("rows", "is_answer", "offsets")]
    examples = [Example(*arrays) for arrays in zip(*parts, strict=True)]
    return Observed(kinds, examples, (lost, total))
