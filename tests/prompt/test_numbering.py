"""Numbered output files: whole, distinct, and never another one's."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aggregate import AggregateError, find_next_increment
from aggregate.prompt.output import audit_path, prune_outputs, request_log_path, write_numbered

LINE = "a line of the prompt, with an é\n"
LINES = 40_000
WRITE = """
import os, sys, time
from pathlib import Path
from aggregate.prompt.output import write_numbered

folder, line, lines = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def write(mark):
    name = write_numbered(folder, "n", mark + line * lines + mark).name
    sys.stdout.write(name + "\\n")
    sys.stdout.flush()
"""
FOR_EVER = (
    WRITE
    + """
sys.stdout.write("ready\\n")
sys.stdout.flush()
while True:
    write(f"process {os.getpid()}\\n")
"""
)
# Forked: starting fifty interpreters would take longer than all else here.
FIFTY_AT_ONCE = (
    WRITE
    + """
start = time.monotonic() + 0.2
children = []
for child in range(50):
    process = os.fork()
    if not process:
        time.sleep(max(start - time.monotonic(), 0))
        write(f"process {child}\\n")
        os._exit(0)
    children.append(process)
for process in children:
    os.waitpid(process, 0)
"""
)


def program(text: str, folder: Path) -> list[str]:
    """Return the command that runs one of the programs above on ``folder``."""
    return [sys.executable, "-c", text, str(folder), LINE, str(LINES)]


def is_whole(path: Path) -> bool:
    """Tell whether a prompt holds everything that its writer wrote."""
    lines = path.read_bytes().split(b"\n")
    return len(lines) == LINES + 3 and lines[0] == lines[-2]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], 1),
        (["n_001.md"], 2),
        (["n_001.md", "n_007.md"], 8),
        (["n_7.md", "n_0010.md"], 11),
        (["n_999.md"], 1000),
        (["n_12345678901234567890.md"], 12345678901234567891),
        (["other_005.md", "n_x.md", "n_5.txt", "n_5.md.bak", "xn_5.md", "n_5.md\n"], 1),
        (["n_5.md/"], 1),
        (["n_\u0665.md"], 1),
    ],
)
def test_the_next_number_is_one_above_the_highest(
    tmp_path: Path, names: list[str], expected: int
) -> None:
    """Only files called ``<namespace>_<digits>.md`` count; folders and look-alikes do not (M-1)."""
    for name in names:
        if name.endswith("/"):
            (tmp_path / name).mkdir()
        else:
            (tmp_path / name).touch()
    assert find_next_increment(tmp_path, "n") == expected
    assert find_next_increment(tmp_path / "gone", "n") == 1


def test_a_new_prompt_has_no_records_of_an_earlier_one(tmp_path: Path) -> None:
    """An account that lies there already, left or planted, is none of the new prompt's (rules A-1 and A-2)."""
    records = [audit_path(tmp_path / "p_001.md"), request_log_path(tmp_path / "p_001.md")]
    for record in records:
        record.write_text("{}", encoding="utf-8")
    folder = audit_path(tmp_path / "p_002.md")
    folder.mkdir()
    assert write_numbered(tmp_path, "p", "one").name == "p_001.md"
    assert not any(record.exists() for record in records)
    assert write_numbered(tmp_path, "p", "two").name == "p_002.md"
    assert folder.is_dir()


@pytest.mark.parametrize("namespace", ["a.b", "a+b", "(x", "[n]", "a*", "^$", "ü n", "n_1"])
def test_a_namespace_means_itself(tmp_path: Path, namespace: str) -> None:
    """Characters of regular expressions and globs are plain text in a namespace, for numbers and for pruning (M-1)."""
    (tmp_path / "aXb_009.md").touch()
    first, second = (write_numbered(tmp_path, namespace, "x") for _ in range(2))
    assert [path.name for path in (first, second)] == [f"{namespace}_001.md", f"{namespace}_002.md"]
    assert prune_outputs(tmp_path, namespace, keep=1) == [first]


def test_what_is_in_the_way_is_stepped_over(tmp_path: Path) -> None:
    """A folder with the next name, or a dangling link, which is not written through (M-1, M-X21)."""
    (tmp_path / "out/n_001.md").mkdir(parents=True)
    (tmp_path / "out/n_002.md").symlink_to(tmp_path / "elsewhere.md")
    assert write_numbered(tmp_path / "out", "n", "x").name == "n_003.md"
    assert not (tmp_path / "elsewhere.md").exists()


@pytest.mark.parametrize("namespace", ["", "a/b", "../a", "a\\b", "a\0b"])
def test_a_namespace_that_is_no_name_is_refused(tmp_path: Path, namespace: str) -> None:
    """Nothing is written outside of the output folder (M-X21)."""
    with pytest.raises(AggregateError, match="namespace"):
        write_numbered(tmp_path / "out", namespace, "x")
    assert list(tmp_path.iterdir()) == []


def test_the_text_is_written_byte_for_byte(tmp_path: Path) -> None:
    """Line ends and characters of every width come back as they were, also across the pieces that are written."""
    text = "a\r\nb\rc\n\u2028é€😀" * 20_000
    assert write_numbered(tmp_path, "n", text).read_bytes() == text.encode()


def test_fifty_processes_at_once(tmp_path: Path) -> None:
    """Fifty runs that end together give fifty whole files with fifty numbers, without gaps (M-X21)."""
    done = subprocess.run(program(FIFTY_AT_ONCE, tmp_path), stdout=subprocess.PIPE, timeout=120)
    names = [f"n_{number:03d}.md" for number in range(1, 51)]
    assert sorted(done.stdout.decode().split()) == names
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert all(is_whole(tmp_path / name) for name in names)
    first_lines = {(tmp_path / name).read_bytes().split(b"\n")[0] for name in names}
    assert len(first_lines) == 50


def kill_at_random(folder: Path, *, rounds: int, seed: int) -> int:
    """Start writers and kill each at a random moment; return how many prompts they left, all of them whole."""
    moments = random.Random(seed)
    for _ in range(rounds):
        process = subprocess.Popen(program(FOR_EVER, folder), stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(moments.uniform(0, 0.08))
        process.kill()
        process.communicate()
    left = sorted(folder.glob("n_*.md")) if folder.exists() else []
    assert all(is_whole(path) for path in left)
    assert find_next_increment(folder, "n") == len(left) + 1
    return len(left)


def test_a_killed_writer_leaves_no_torn_file(tmp_path: Path) -> None:
    """Whatever the moment of the kill, files under a number are whole; leftovers have other names (M-X21)."""
    kill_at_random(tmp_path / "out", rounds=3, seed=1)


@pytest.mark.slow
def test_many_killed_writers_leave_no_torn_file(tmp_path: Path) -> None:
    """The same two hundred times over (M-X21)."""
    assert kill_at_random(tmp_path / "out", rounds=200, seed=2) > 20


def test_what_a_kill_left_goes_once_it_is_old(tmp_path: Path) -> None:
    """Pruning removes half-written files of this namespace after an hour, not those of a run that is at work."""
    old, new, other = (tmp_path / name for name in (".n-0.tmp", ".n-1.tmp", ".m-0.tmp"))
    for path in (old, new, other):
        path.touch()
    for path in (old, other):
        os.utime(path, (time.time() - 7200,) * 2)
    assert prune_outputs(tmp_path, "n", keep=5) == [old]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".m-0.tmp", ".n-1.tmp"]
