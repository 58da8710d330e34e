"""The list of hidden files at the end of a budgeted Files section (rule B-7)."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from aggregate.base.text import common_prefix, heading_text
from aggregate.prompt.document import Section, Segment, Stability

HEADING = "### Not shown"
_ASK = "Ask for the files you need by their paths."
_MOST_FOLDERS = 12  # listed folders; smaller ones are counted together
# Tokens of names before folders get any; the folders' largest part, and most tokens. Names do not get their rest, so
# that more room never lists fewer names.
_NAMES_FIRST, _PART_OF_FOLDERS, _MOST_OF_FOLDERS = 40, 0.4, 400
_FRAME = 64  # upper bound of the tokens of heading and sentences
_PART_OF_CALLED = 0.35  # of the tokens after folders, for definitions called in visible code
Called = tuple[str, Sequence[str]]  # a path, and names of definitions in it
Hidden = tuple[str, int, str]  # path and estimated tokens of a hidden file, and its original's path


def not_shown(
    files: Sequence[Hidden],
    *,
    limit: int,
    count: Callable[[str], int],
    called: Sequence[Called] = (),
    note: str = "",
) -> tuple[int, tuple[Segment, ...]]:
    """Return the number of listed files, and their list.

    They are hidden files; the list has at most ``limit`` tokens. ``files`` begin with the most relevant, ``called`` are
    hidden definitions called by visible code; ``note`` is a sentence about the last visible file.
    """
    if not files:
        return 0, ()
    tokens = sum(size for _, size, _ in files)
    plural = "files are" if len(files) > 1 else "file is"
    text = f"{HEADING}\n\n{len(files):,} {plural} not shown, about {tokens:,} tokens. {note}{_ASK}"
    rest = limit - count(f"{text}\n\n")
    if rest < 0:
        return 0, ()
    if len(files) > 1:
        part = min(max(rest - _NAMES_FIRST, 0), int(rest * _PART_OF_FOLDERS), _MOST_OF_FOLDERS)
        if folders := _as_many(_folder_lines(files), part, count):
            text += "\n\n" + "\n".join(folders)
        rest -= part
    lines = (
        f"- {heading_text(path)}: {', '.join(map(heading_text, names))}" for path, names in called
    )
    if calls := _as_many(lines, int(rest * _PART_OF_CALLED), count):
        calls = ["", "Shown code calls these, which are not shown:", "", *calls]
        text += "\n" + "\n".join(calls)
        rest -= count("\n".join(calls) + "\n\n")
    title = "The most relevant files, with their tokens:"
    number, names = _by_folder(files, rest - count(f"\n\n{title}\n\n"), count)
    if names:
        text += f"\n\n{title}\n\n" + "\n".join(names)
    return number, (Segment(Section.FILES, text, Stability.VOLATILE),)


def most_tokens(files: Iterable[Hidden], *, limit: int, count: Callable[[str], int]) -> int:
    """Return an upper bound of the section's tokens, at most ``limit``."""
    tokens = 0
    for path, size, copy_of in files:  # a line for each, and at most one for its folder
        line = f"{_line(path, size, 1)} {heading_text(copy_of)}\n"
        tokens = (tokens or _FRAME) + 2 * count(line) + 6
        if tokens >= limit:
            return limit
    return tokens


def _by_folder(
    files: Sequence[Hidden], limit: int, count: Callable[[str], int]
) -> tuple[int, list[str]]:
    """Return the number of listed files, and their lines.

    Each line has the names in one folder; the lines have at most ``limit`` tokens.
    """
    lines: dict[str, str] = {}
    number = 0
    for path, tokens, copy_of in files:
        folder, _, name = path.rpartition("/")
        same = f" (the same as {heading_text(copy_of)})" if copy_of else ""
        entry = f" {heading_text(name)} {tokens:,}{same}"
        existing = lines.get(folder)
        line = f"{existing},{entry}" if existing else f"- {heading_text(folder) or '.'}/:{entry}"
        limit -= count(f",{entry}" if existing else f"{line}\n") + 1
        if limit < 0:
            break
        lines[folder] = line
        number += 1
    return number, [*lines.values()]


def _line(name: str, tokens: int, files: int) -> str:
    plural = "s" if files > 1 else ""
    return f"- {heading_text(name)}: {files:,} file{plural}, about {tokens:,} tokens"


def _folder_lines(files: Sequence[Hidden]) -> Iterator[str]:
    """Yield a line with number and tokens of files for each folder, the largest first."""
    paths = [path for path, *_ in files]
    first, last = min(paths), max(paths)  # their common prefix is that of all
    shared = first[: first.rfind("/", 0, common_prefix(first, last)) + 1]
    sizes: dict[str, list[int]] = {}
    for path, size, _ in files:
        sizes.setdefault(path[: path.find("/", len(shared)) + 1], []).append(size)
    totals = [(sum(held), folder or shared or "./", len(held)) for folder, held in sizes.items()]
    totals.sort(key=lambda total: (-total[0], total[1]))
    for tokens, folder, number in totals[:_MOST_FOLDERS]:
        yield _line(folder, tokens, number)
    if others := totals[_MOST_FOLDERS:]:
        tokens, number = sum(total[0] for total in others), sum(total[2] for total in others)
        yield _line(f"{len(others):,} more folders", tokens, number)


def _as_many(lines: Iterable[str], limit: int, count: Callable[[str], int]) -> list[str]:
    fitting: list[str] = []
    for line in lines:
        limit -= count(f"{line}\n") + 1
        if limit < 0:
            break
        fitting.append(line)
    return fitting
