"""What becomes of a slice, shown whole: the old text, the new text and the answer."""

import pytest

from aggregate import AnchorState, FuzzyAnchor, Resolution

READ = "def read(path):\n    with open(path) as stream:\n        return stream.read()\n\n"
WRITE = (
    'def write(path, text):\n    with open(path, "w") as stream:\n        stream.write(text)\n\n'
)
HEAD, MAIN = "import os\nimport sys\n\n", "def main():\n    print(read(sys.argv[1]))\n"
OLD = HEAD + READ + WRITE + MAIN
INDENTED = "".join(
    f"    {line}" if line.strip() else line for line in READ.splitlines(keepends=True)
)


def resolve(old: str, start: int, end: int, new: str) -> Resolution:
    """Capture lines of a text and look for them in another."""
    return FuzzyAnchor.resolve(FuzzyAnchor.create_slice(old, start, end), new)


GONE = (0, 0, AnchorState.ORPHANED, "lines 4-6 no longer exist in this file")
SCENARIOS = {
    "lines put in above": (f"# Licence: MIT\n{OLD}", (5, 7, AnchorState.MOVED, "moved from lines 4-6")),
    "two functions swapped": (HEAD + WRITE + READ + MAIN, (8, 10, AnchorState.MOVED, "moved from lines 4-6")),
    "a parameter added": (
        OLD.replace("read(path)", 'read(path, encoding="utf-8")').replace("open(path)", "open(path, encoding=encoding)"),
        (4, 6, AnchorState.EDITED, "lines 4-6 were edited: 77 % alike"),
    ),
    "a line put in and a line above": (
        OLD.replace("import sys", "import re\nimport sys").replace("read(path):\n", "read(path):\n    print(path)\n"),
        (5, 8, AnchorState.EDITED, "lines 4-6 were edited: 91 % alike"),
    ),
    "indented into a class": (
        f"{HEAD}class Files:\n{INDENTED}{WRITE}",
        (5, 7, AnchorState.EDITED, "only white space changed in lines 4-6"),
    ),
    "taken out": (HEAD + WRITE + MAIN, GONE),
    "a copy put in right above": (
        HEAD + READ + READ + WRITE + MAIN,
        (0, 0, AnchorState.AMBIGUOUS, "2 places match equally well: lines 4, 8"),
    ),
    "another file altogether": ("The quick brown fox\njumps over the lazy dog\n", GONE),
    "nothing left": ("", GONE),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_becomes_of_a_function(name: str) -> None:
    """Each edit gives its own state, lines and sentence (M-17, M-41); without a sure place no lines (M-X9)."""
    new, expected = SCENARIOS[name]
    found = resolve(OLD, 4, 6, new)
    assert (found.start_line, found.end_line, found.state, found.reason) == expected


FIRST, SECOND, THIRD = (
    f'func {name}() {{\n    check(err)\n    log("{name}")\n    return nil\n}}\n\n'
    for name in ("first", "second", "third")
)


def test_a_copied_line_is_told_by_its_surroundings() -> None:
    """It moves with its function although a copy stands in its place (M-41); where it went no copy is shown (M-X9)."""
    found = resolve(FIRST + SECOND + THIRD, 8, 8, SECOND + FIRST + THIRD)
    assert (found.start_line, found.state) == (2, AnchorState.MOVED)
    found = resolve(
        FIRST + SECOND + THIRD, 8, 8, FIRST + SECOND.replace("    check(err)\n", "") + THIRD
    )
    assert (found.found, found.start_line, found.end_line) == (False, 0, 0)


@pytest.mark.parametrize(
    ("old", "lines", "new", "expected"),
    [
        # The line below is no sure one any more: it stands twice.
        ("a = f(1)\nx = 1\nb = g(2)\n", (2, 2), "a = f(1)\nx = 1\nb = g(2)\nx = 1\nb = g(2)\n", (0, 0)),
        # The line above is the one that it was; the one below was edited, and the copy above is gone.
        ("x = 1\na = f(1)\nx = 1\nb = g(2)\n", (3, 3), "a = f(1)\nx = 1\nb = g(z, 2)\n", (2, 2)),
        # An edited line is paired with its own, not with the next but one.
        ("a = f(1)\nb = call_81(6)\n", (1, 2), "a = f(1)\nnew\nb = call_81(z, 6)\n", (1, 3)),
    ],
)  # fmt: skip
def test_the_lines_around_decide(
    old: str, lines: tuple[int, int], new: str, expected: tuple[int, int]
) -> None:
    """Sure lines beside a slice tell where it is; where they are not sure any more, no lines are shown (M-41, M-X9)."""
    found = resolve(old, *lines, new)
    assert (found.start_line, found.end_line) == expected
