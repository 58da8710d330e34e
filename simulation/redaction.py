"""What looking for secrets costs on a real tree, as ratios measured in one run, and what is found there.

``python -m simulation.redaction TREE`` takes any folder. The texts are read before, so that the figures are those of
the search alone; each is the best of the rounds in CPU time, which other programs on the machine disturb least.
"""

import re
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from aggregate.base.redaction import Redaction, redact
from aggregate.base.redaction.secret_rules import RULES
from aggregate.project.files import read_file


def main(parser: ArgumentParser) -> None:
    """Read the tree, search it in each way and print the table."""
    parser.add_argument("tree", type=Path, help="a folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--plain", action="store_true", help="search with Python's re as well, which takes minutes"
    )
    options = parser.parse_args()
    paths = [path for path in sorted(options.tree.rglob("*")) if path.is_file()]
    texts = [text for text in (read_file(path).text for path in paths) if text]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    reading = _seconds(lambda: [read_file(path) for path in paths], options.rounds)
    searching = _seconds(lambda: _redacted(texts), options.rounds)
    print(f"{len(texts):,} files, {size:.1f} MB")
    print(
        f"redacting   {size / searching:8.0f} MB/s, {searching / reading:.1f} times as long as reading the files"
    )
    if options.plain:
        plain = _seconds(lambda: _plain(texts), 1)
        print(
            f"plain re    {size / plain:8.1f} MB/s, {plain / searching:.0f} times as long as redacting"
        )
    found = Counter(
        finding.rule for text in texts for finding in redact(text, Redaction()).findings
    )
    print(
        f"findings    {found.total():8}",
        *(f"{rule} {count}" for rule, count in found.most_common()),
    )


def _redacted(texts: Sequence[str]) -> None:
    for text in texts:
        redact(text, Redaction())


def _plain(texts: Sequence[str]) -> None:
    """Search for each rule in turn."""
    patterns = [
        re.compile(rule.pattern.replace("(?m:^)", "^").replace("(?m:$)", "$")) for rule in RULES
    ]
    for text in texts:
        for pattern in patterns:
            for _ in pattern.finditer(text):
                pass


def _seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the least CPU time of some rounds."""
    times = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)
