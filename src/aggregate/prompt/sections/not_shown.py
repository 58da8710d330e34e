"""The end of the Files section with a budget: what is not shown, by folders and by names (rule B-7)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from aggregate.base.text import common_prefix, heading_text
from aggregate.base.values import Section, Segment, Stability

HEADING = "### Not shown"
_ASK = "To see more, name a file (--focus PATH) or allow more tokens (--budget N)."
_MOST_FOLDERS = 12
"""Folders that are listed; smaller ones are counted together."""
_NAMES_FIRST, _PART_OF_FOLDERS, _MOST_OF_FOLDERS = 40, 0.4, 400
"""Tokens that names have before folders, which say less; the part of all that folders have at most, and the tokens.
Names do not get what these leave, so that more room names all that less does."""
_FRAME = 64
"""More tokens than the heading and the sentences have."""


class HiddenFile(NamedTuple):
    """A file of which nothing is shown.

    Attributes:
        path: As the prompt would show it.
        tokens: About how many it has.
    """

    path: str
    tokens: int


def not_shown(
    files: Sequence[HiddenFile], *, limit: int, count: Callable[[str], int]
) -> tuple[int, tuple[Segment, ...]]:
    """Return how many of the files the section names, the first ones, and the section; none where nothing fits.

    Args:
        files: The most relevant first.
        limit: The most tokens, what separates the section from the next included.
        count: Counts the tokens of a text.
    """
    if not files:
        return 0, ()
    tokens = sum(file.tokens for file in files)
    plural = "files are" if len(files) > 1 else "file is"
    text = f"{HEADING}\n\n{len(files):,} {plural} not shown, about {tokens:,} tokens. {_ASK}"
    left = limit - count(f"{text}\n\n")
    if left < 0:
        return 0, ()
    folders = list(_folder_lines(files)) if len(files) > 1 else []
    of_folders = min(max(left - _NAMES_FIRST, 0), int(left * _PART_OF_FOLDERS), _MOST_OF_FOLDERS)
    of_folders = of_folders if folders else 0
    folder_lines = _as_many(folders, of_folders, count)
    if folder_lines:
        text += "\n\n" + "\n".join(folder_lines)
    title = "The most relevant of them:"
    of_names = left - of_folders - count(f"\n\n{title}\n\n")
    name_lines = _as_many(map(_name_line, files), of_names, count)
    if name_lines:
        text += f"\n\n{title}\n\n" + "\n".join(name_lines)
    return len(name_lines), (Segment(Section.FILES, text, Stability.VOLATILE),)


def most_tokens(files: Iterable[HiddenFile], *, limit: int, count: Callable[[str], int]) -> int:
    """Return the most tokens that the section has, at most ``limit``; those of some of the files are never more."""
    tokens = 0
    for file in files:  # a line for each, and at most one for its folder
        tokens = (tokens or _FRAME) + 2 * count(f"{_name_line(file)}\n") + 2
        if tokens >= limit:
            return limit
    return tokens


def _name_line(file: HiddenFile) -> str:
    return f"- {heading_text(file.path)}: about {file.tokens:,} tokens"


def _folder_lines(files: Sequence[HiddenFile]) -> Iterator[str]:
    """Yield a line for each folder below the one that all share, the largest first, and one for all small ones."""
    sizes: dict[str, list[int]] = {}
    shared = _shared_folder(files)
    start = len(shared)
    for path, size in files:
        sizes.setdefault(path[: path.find("/", start) + 1], []).append(size)
    totals = [(folder or shared or "./", len(held), sum(held)) for folder, held in sizes.items()]
    ordered = sorted(totals, key=lambda total: (-total[2], total[0]))
    for folder, number, tokens in ordered[:_MOST_FOLDERS]:
        yield f"- {heading_text(folder)}: {_files(number)}, about {tokens:,} tokens"
    others = ordered[_MOST_FOLDERS:]
    if others:
        number = sum(number for _, number, _ in others)
        tokens = sum(tokens for _, _, tokens in others)
        yield f"- {len(others):,} more folders: {_files(number)}, about {tokens:,} tokens"


def _shared_folder(files: Sequence[HiddenFile]) -> str:
    """Return the folder that all files lie in, with a slash at its end; ``""`` for none but the base folder."""
    paths = [path for path, _ in files]
    least, most = min(paths), max(paths)  # what these two share all others share too
    return least[: least.rfind("/", 0, common_prefix(least, most)) + 1]


def _files(number: int) -> str:
    return f"{number:,} file{'s' if number > 1 else ''}"


def _as_many(lines: Iterable[str], limit: int, count: Callable[[str], int]) -> list[str]:
    """Return as many of the lines from the first on as have at most ``limit`` tokens."""
    fitting: list[str] = []
    for line in lines:
        limit -= count(f"{line}\n") + 1
        if limit < 0:
            break
        fitting.append(line)
    return fitting
