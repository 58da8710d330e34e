"""Whether a question about a file of many short lines takes time that grows with its lines.

``python -m simulation long_files [--language NAME] [--kind NAME]`` writes files of 20,000 and of 40,000 equal lines in
each language, asks a question about each with an empty index, and prints the CPU seconds of the program with its
children, and their ratio. It fails where twice as many lines take more than 2.4 times as long. Ratios near that are
measured again, up to five times, and the least seconds of each file count.
"""

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from aggregate.code.syntax import LANGUAGES, Language

LINES = 20_000
"""Of the shorter file; the longer one has twice as many."""
MOST = 2.4
"""Times the shorter file's CPU that the longer one may take: 2 with a fifth for noise."""
NEAR = 2.2
"""Ratios above it may be noise and are measured again."""
RUNS = 5
KINDS = {
    "statements": "x;",
    "headings": "# x",
    "blank lines": "",
    "opened brackets": "[",
    "opened braces": "{",
    "pairs of brackets": "[]",
    "blocks": "{}",
    "strings": '"x"',
    "private keys": "-----BEGIN PRIVATE KEY-----",
}
"""Lines that files are made of, by their kind."""


def main(parser: ArgumentParser) -> None:
    """Measure the chosen languages and kinds; exit with 1 where a ratio is too high."""
    parser.add_argument("--language", default="", help="only this one (default all)")
    parser.add_argument("--kind", choices=KINDS, help="only this one (default all)")
    options = parser.parse_args()
    kinds = [options.kind] if options.kind else list(KINDS)
    languages = [each for each in LANGUAGES if each.is_installed]
    slow = 0
    for language in [each for each in languages if options.language in ("", each.name)]:
        for kind in kinds:
            short, long = least_seconds(language, KINDS[kind])
            slow += long / short > MOST
            mark = "SLOW" if long / short > MOST else ""
            row = f"{language.name:12} {kind:18} {short:6.1f} s {long:6.1f} s {long / short:5.2f}"
            print(f"{row} {mark}".rstrip(), flush=True)
    print(f"{slow} ratios above {MOST}")
    sys.exit(bool(slow))


def least_seconds(language: Language, line: str) -> tuple[float, float]:
    """Return the least CPU seconds of the shorter and the longer file."""
    short = long = float("inf")
    for _ in range(RUNS):
        short = min(short, cpu_seconds(language, line, LINES))
        long = min(long, cpu_seconds(language, line, 2 * LINES))
        if long / short <= NEAR:
            break
    return short, long


def cpu_seconds(language: Language, line: str, lines: int) -> float:
    """Return the CPU seconds of one question about a file of equal lines, those of child processes included."""
    name = f"long{language.suffixes[0]}" if language.suffixes else language.names[0]
    with tempfile.TemporaryDirectory(prefix="long-") as folder:
        project = Path(folder, "project")
        project.mkdir()
        (project / name).write_text(f"{line}\n" * lines, encoding="utf-8")
        question = ["change what the long file says", "--budget", "8000", "--stdout"]
        process = subprocess.Popen(
            [sys.executable, "-m", "aggregate", *question],
            cwd=project,
            env={**os.environ, "AGGREGATE_CACHE_DIR": f"{folder}/cache"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"aggregate failed about {lines:,} lines {line!r} of {language.name}")
    return usage.ru_utime + usage.ru_stime
