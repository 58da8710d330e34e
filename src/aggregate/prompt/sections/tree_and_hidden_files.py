"""The tree of files, its likeliest folders described (rule T-12), and the list of hidden files (rule B-7)."""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

from aggregate.base.text import common_prefix, fence, heading_text
from aggregate.prompt.document import NOT_SHOWN, Section, Segment, Stability
from aggregate.prompt.sections.fitted import Count, FittedSection, tokens_of

_MOST_FOLDERS = 60  # open ones, about a page
_MOST_NAMES = 40  # listed names of a folder
_MOST_REPEATED = (
    2  # folders that may show the same first sentence; a more common one describes none of them
)
# Files describing their folder, the best first.
DESCRIBING: Final = (
    "__init__.py", "README.md", "readme.md", "README.rst", "mod.rs", "lib.rs", "doc.go", "package-info.java",
    "package.json", "index.ts", "index.js", "main.rs", "main.go", "__main__.py", "main.py",
)  # fmt: skip
_LONGEST: Final = 140  # characters of a sentence
_LOOKED_AT: Final = 4_000  # characters of a file
_DOCSTRING: Final = re.compile(
    r"\A(?:#[^\n]*\n|\s)*[rRuU]?(\"{3}|'{3})\s*(?P<text>.+?)\1", re.DOTALL
)
_COMMENT: Final = re.compile(
    r"\A(?:#![^\n]*\n|\s)*(?P<text>(?:[ \t]*(?://[/!]?|#)[^\n]*\n)+|/\*.*?\*/)", re.DOTALL
)
_MARKS: Final = re.compile(r"^[ \t]*(?:/\*+!?|//[/!]?|\*/|\*|#)[ \t]?|\*/", re.MULTILINE)
# Comments for lawyers and tools.
_NOT_DESCRIBING: Final = re.compile(
    r"\A#!\[|copyright|licen[cs]e|SPDX|go:build|"
    r"@ts-|@jsx|@flow|eslint|tslint|jshint|prettier|biome-ignore|(?:istanbul|c8|v8) ignore|"
    r"pylint|flake8|noqa|mypy:|ruff:|pyright:|coding[:=]",
    re.IGNORECASE,
)
_HTML: Final = re.compile(
    r"<!--.*?-->|</?(?:a|b|br|center|div|em|h\d|i|img|p|picture|source|span|strong|su[bp]|table|t[dr])\b[^>]*>",
    re.DOTALL | re.IGNORECASE,
)
_LINK: Final = re.compile(r"\[([^\]\[]+)\]\([^)\s]*\)")
_NOT_PROSE: Final = re.compile(r"^(?:[#=<\[!>|-]|\*\*\*|\d+[.)] |\W*\w*\W*$)")
_CODE: Final = re.compile(r"^[ \t]*```.*?^[ \t]*```", re.MULTILINE | re.DOTALL)
_END: Final = re.compile(r"(?<=[.!?])(?<!i\.e\.)(?<!e\.g\.)\s")
_ASK = "Ask for the files you need by their paths."
_MOST_COUNTED = 12  # listed folders of hidden files; smaller ones are counted together
# Tokens of names before folders get any; the folders' largest part, and most tokens. Names do not get their rest, so
# that more room never lists fewer names.
_NAMES_FIRST, _PART_OF_FOLDERS, _MOST_OF_FOLDERS = 40, 0.4, 400
_FRAME = 64  # upper bound of the tokens of heading and sentences
_PART_OF_CALLED = 0.35  # of the tokens after folders, for definitions called in visible code
Called = tuple[str, Sequence[str]]  # a path, and names of definitions in it
Hidden = tuple[str, int, str]  # path and estimated tokens of a hidden file, and its original's path


class Tree:
    """A tree of paths, the likeliest files first, with sentences that describe folders."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.sentences: dict[str, str] = {}
        self._sizes: Counter[str] = Counter()
        self._held: dict[str, dict[str, None]] = {}
        for path in paths:
            folder, end = "", path.find("/") + 1
            while end:
                self._sizes[path[:end]] += 1
                self._held.setdefault(folder, {})[path[:end]] = None
                folder, end = path[:end], path.find("/", end) + 1
            self._held.setdefault(folder, {})[path] = None
        self.folders = [*self._held][:_MOST_FOLDERS]

    def segments(self, number: int) -> tuple[Segment, ...]:
        """Return the section with the first ``number`` folders open, no segments without files."""
        if not number:
            return ()
        lines = "\n".join(self._lines("", frozenset(self.folders[:number]), ""))
        text = fence(lines, "text", before="## Tree\n\n")
        return (Segment(Section.TREE, text, Stability.SLOW),)

    def fitted(self, limit: int, count: Count) -> FittedSection:
        """Return the section with as many open folders as ``limit`` tokens allow."""
        sizes = [tokens_of(self.segments(number), count) for number in range(len(self.folders) + 1)]
        number = bisect_right(sizes, limit) - 1
        return FittedSection(self.segments(number), sizes[number], sizes[-1])

    def _lines(self, folder: str, opened: frozenset[str], indent: str) -> Iterator[str]:
        held = sorted(self._held[folder])
        folders = [path for path in held if path.endswith("/")]
        for path in map(self._shortened, folders[:_MOST_NAMES]):
            name, number = heading_text(path[len(folder) :]), self._sizes[path]
            sentence = self.sentences.get(path, "")
            about = f": {heading_text(sentence)}" if sentence else ""
            yield f"{indent}{name} ({number:,} file{'s' if number > 1 else ''}){about}"
            if path in opened:
                yield from self._lines(path, opened, f"{indent}  ")
        if (hidden := len(folders) - _MOST_NAMES) > 0:
            yield f"{indent}... {hidden:,} more folders"
        names = [heading_text(path[len(folder) :]) for path in held if not path.endswith("/")]
        more = f", ... {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        if names:
            yield f"{indent}{', '.join(names[:_MOST_NAMES])}{more}"

    def _shortened(self, path: str) -> str:
        held = self._held.get(path, {})
        only = next(iter(held), "")
        return self._shortened(only) if len(held) == 1 and only.endswith("/") else path


def described_tree(numbers: Mapping[str, int], read: Callable[[int], str]) -> Tree:
    """Return the tree of files, the likeliest first, with a sentence about each folder.

    ``numbers`` are the files' numbers by path; ``read`` returns the text of a number.
    """
    tree = Tree([*numbers])
    describing = describing_files([*numbers])
    texts: dict[str, list[tuple[str, str]]] = {}
    for folder in tree.folders:
        texts[folder] = [(path, read(numbers[path])) for path in describing.get(folder, ())]
    tree.sentences = {folder: _sentence(files) for folder, files in texts.items()}
    counts = Counter(filter(None, tree.sentences.values()))
    repeated = {sentence for sentence, count in counts.items() if count > _MOST_REPEATED}
    for folder, files in texts.items():
        if tree.sentences[folder] in repeated:
            tree.sentences[folder] = _sentence(files, repeated)
    return tree


def _sentence(files: Sequence[tuple[str, str]], repeated: Set[str] = frozenset()) -> str:
    sentences = (first_sentence(path, text, repeated=repeated) for path, text in files)
    return next(filter(None, sentences), "")


def first_sentence(path: str, text: str, *, repeated: Set[str] = frozenset()) -> str:
    """Return the first sentence of a file's description, ``""`` for none.

    If pages begin with the same ``repeated`` sentence, the first heading or sentence that differs describes each.
    """
    text = text[:_LOOKED_AT]
    if path.endswith(".json"):
        return _description(text)
    if path.endswith((".md", ".rst")):
        marks = "# " if repeated else " "
        lines = (line.strip(marks) for line in _CODE.sub("", _HTML.sub("", text)).split("\n"))
        prose = (_shortened(_LINK.sub(r"\1", line)) for line in lines if not _NOT_PROSE.match(line))
        return next((sentence for sentence in prose if sentence not in repeated), "")
    match = _DOCSTRING.match(text) or _COMMENT.match(text)
    if match is None or _NOT_DESCRIBING.search(match["text"]):
        return ""
    words = _MARKS.sub("", match["text"]).strip()
    return _shortened(words.partition("\n\n")[0])


def _description(text: str) -> str:
    try:
        table = json.loads(text)
    except ValueError:
        return ""
    words = table.get("description") if isinstance(table, dict) else None
    return _shortened(words) if isinstance(words, str) else ""


def _shortened(text: str) -> str:
    sentence = _END.split(" ".join(text.split()), maxsplit=1)[0]
    if not re.search(r"\w", sentence):
        return ""
    if len(sentence) <= _LONGEST:
        return sentence
    return f"{sentence[:_LONGEST].rpartition(' ')[0]} ..."


def describing_files(paths: Sequence[str]) -> dict[str, list[str]]:
    """Return files for describing each folder, best first."""
    ranks = {name: rank for rank, name in enumerate(DESCRIBING)}
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder and name in ranks:
            by_folder.setdefault(f"{folder}/", []).append(path)
    for described_by in by_folder.values():
        described_by.sort(key=lambda path: ranks[path.rpartition("/")[2]])
    return by_folder


def not_shown(
    files: Sequence[Hidden],
    *,
    limit: int,
    count: Count,
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
    text = (
        f"{NOT_SHOWN}\n\n{len(files):,} {plural} not shown, about {tokens:,} tokens. {note}{_ASK}"
    )
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


def most_tokens(files: Iterable[Hidden], *, limit: int, count: Count) -> int:
    """Return an upper bound of the section's tokens, at most ``limit``."""
    tokens = 0
    for path, size, copy_of in files:  # a line for each, and at most one for its folder
        line = f"{_line(path, size, 1)} {heading_text(copy_of)}\n"
        tokens = (tokens or _FRAME) + 2 * count(line) + 6
        if tokens >= limit:
            return limit
    return tokens


def _by_folder(files: Sequence[Hidden], limit: int, count: Count) -> tuple[int, list[str]]:
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
    for tokens, folder, number in totals[:_MOST_COUNTED]:
        yield _line(folder, tokens, number)
    if others := totals[_MOST_COUNTED:]:
        tokens, number = sum(total[0] for total in others), sum(total[2] for total in others)
        yield _line(f"{len(others):,} more folders", tokens, number)


def _as_many(lines: Iterable[str], limit: int, count: Count) -> list[str]:
    fitting: list[str] = []
    for line in lines:
        limit -= count(f"{line}\n") + 1
        if limit < 0:
            break
        fitting.append(line)
    return fitting
