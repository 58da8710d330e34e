"""The tree of a project's files, with its likeliest folders open and described (rule T-12)."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Final

from aggregate.base.text import fence, heading_text
from aggregate.prompt.document import Section, Segment, Stability

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
    texts = {
        folder: [(path, read(numbers[path])) for path in describing.get(folder, ())]
        for folder in tree.folders
    }
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
