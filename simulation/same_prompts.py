"""Whether a change of the program left its prompts for tasks as they were, to the byte.

``python -m simulation.same_prompts TREE... --write FILE`` asks for prompts in each tree, with an empty index and again
with the full one, and writes their SHA-256; with ``--against FILE`` they are compared with those that another version
wrote. The trees must be the same ones, with their histories.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from simulation.git_history import git
from simulation.prompt_makers import Ask, Ours

BUDGETS = (2_000, 8_000, 27_000)
TASKS = 3
"""The messages of the newest commits that have one of three words or more."""
_LEAST_WORDS = 3
_MOST_LOOKED_AT = "50"
"""Commits of which the tasks are taken."""


def main() -> None:
    """Ask, write or compare, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m simulation.same_prompts", description=__doc__)
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREE", help="a work tree of git")
    parser.add_argument("--write", type=Path, metavar="FILE", help="where the hashes go")
    parser.add_argument("--against", type=Path, metavar="FILE", help="hashes of another version")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["AGGREGATE_CACHE_DIR"] = cache
        hashes = {name: digest for tree in options.trees for name, digest in prompt_hashes(tree)}
    if options.write:
        options.write.write_text(json.dumps(hashes, indent=1) + "\n", encoding="utf-8")
    differing = cold_and_warm_differ(hashes)
    if options.against:
        before = json.loads(options.against.read_text(encoding="utf-8"))
        differing += [name for name in hashes if hashes[name] != before.get(name)]
    print(f"{len(hashes)} prompts, {len(differing)} differ")
    for name in differing:
        print(f"  {name}")
    sys.exit(bool(differing))


def prompt_hashes(tree: Path) -> Iterator[tuple[str, str]]:
    """Yield a name and the SHA-256 of each prompt of a tree: first with an empty index, then with the full one."""
    from aggregate.index.shared import user_index

    tasks = _tasks(tree)
    for state in ("cold", "warm"):
        for task in tasks:
            for budget in BUDGETS:
                prompt = Ours().make(tree, Ask(task), budget)
                name = f"{tree.name}: {task.splitlines()[0][:60]} ({budget}, {state})"
                yield name, sha256(prompt.encode(errors="surrogatepass")).hexdigest()
        user_index().flush()


def cold_and_warm_differ(hashes: dict[str, str]) -> list[str]:
    """Return the names of prompts that are others once the index knows the files (rule I-1)."""
    return [
        name
        for name, digest in hashes.items()
        if name.endswith("warm)") and hashes.get(f"{name[: -len('warm)')]}cold)") != digest
    ]


def _tasks(tree: Path) -> Sequence[str]:
    told = git(tree, "log", "-n", _MOST_LOOKED_AT, "--no-merges", "--format=%B%x00")
    described = [message.strip() for message in told.decode(errors="replace").split("\0")]
    return [text for text in described if len(text.split()) >= _LEAST_WORDS][:TASKS]


if __name__ == "__main__":
    main()
