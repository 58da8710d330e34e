"""Folders of an overview: their share of the code, and their descriptions (rule T-12)."""

import json
import re
from collections.abc import Mapping, Sequence, Set
from typing import Final

# Files describing their folder, the best first.
DESCRIBING: Final = (
    "__init__.py", "README.md", "readme.md", "README.rst", "mod.rs", "lib.rs", "doc.go", "package-info.java",
    "package.json", "index.ts", "index.js", "main.rs", "main.go", "__main__.py", "main.py",
)  # fmt: skip
_LARGE: Final = 0.15  # part of all code from which a folder is split into its subfolders
_LARGE_FILE: Final = 2_000  # tokens of a file with a share of its own
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


def large_folders(sizes: Mapping[str, float], most: int) -> list[list[str]]:
    """Group paths by folder, the largest first; large folders are split."""
    groups = {"": [*sizes]}
    total = sum(sizes.values()) or 1
    done: set[str] = set()
    while len(groups) < most:
        by_size = sorted(groups, key=lambda folder: -sum(sizes[path] for path in groups[folder]))
        folder = next((folder for folder in by_size if folder not in done), None)
        if folder is None or sum(sizes[path] for path in groups[folder]) < _LARGE * total:
            break
        done.add(folder)
        parts: dict[str, list[str]] = {}
        for path in groups.pop(folder):
            end = path.find("/", len(folder)) + 1
            is_large = sizes[path] >= max(_LARGE * total, _LARGE_FILE) or path.endswith(".ipynb")
            parts.setdefault(path if is_large and not end else path[:end] or folder, []).append(
                path
            )
        groups |= parts
    return sorted(groups.values(), key=lambda paths: -sum(sizes[path] for path in paths))


def first_sentence(path: str, text: str, *, repeated: Set[str] = frozenset()) -> str:
    """Return the first sentence of a file's description.

    Return an empty string if there is none. If pages begin with the same ``repeated`` sentence, the first heading or
    sentence that differs describes each.
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
