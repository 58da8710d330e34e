"""Compare names of files and definitions with the words of the task, by their stems."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, takewhile
from math import fsum, sqrt
from typing import Final

from aggregate.ranking.evidence import Evidence, best_keys, by_piece, lift, rarity, scaled
from aggregate.ranking.inquiry import Candidates, Inquiry
from aggregate.ranking.named_identifiers import CERTAIN, name_parts, named_identifiers
from aggregate.ranking.paths import PathKind
from aggregate.ranking.terms import STOP_WORDS, root_of, split_identifier

_WORD: Final = re.compile(r"[^\W\d_]\w*")
_PACKAGE_FILES: Final = frozenset({"__init__", "index", "init", "mod"})  # named by their folder
_SHORTEST_PREFIX: Final = 4
_PREFIX: Final = 0.8  # value if only one word's prefix matches the other
# Value of a file's name for a change; 1 for a question. Measured on commits.
_CHANGE: Final = 0.2
# Least value of a frequent word, and value of unmatched words relative to the rarest.
_ANY: Final = 0.3


def of_files(inquiry: Inquiry) -> tuple[Evidence, Evidence]:
    """Return evidence from the words of files' names, and from the names that the task writes."""
    return _file_names(inquiry), named_files(inquiry)


def _file_names(inquiry: Inquiry) -> Evidence:
    """Return as evidence how much of each file's name the words of the task cover."""
    stems = [name_of(facts.path) for facts in inquiry.files]
    coverage = _coverage(Counter(stems), inquiry.question.task.topic)
    values = scaled({file: coverage[stem] for file, stem in enumerate(stems) if stem in coverage})
    notebooks = _named_notebooks(inquiry, stems)
    values = notebooks or values
    matched = {file: stems[file] for file in best_keys(values)}
    if not (notebooks or inquiry.question.task.is_question):
        values = {file: _CHANGE * value for file, value in values.items()}
    return Evidence("words of the file's name", files=values, matched=matched)


def _named_notebooks(inquiry: Inquiry, stems: Sequence[str]) -> Mapping[int, float]:
    """Return the notebooks whose names contain the words before "notebook" in the task's first line."""
    line = inquiry.question.task.text.lstrip().partition("\n")[0].lower()
    phrase, mark, _ = line.partition(" notebook")
    words = _WORD.findall(phrase)[::-1] if mark else []
    roots = [*map(root_of, takewhile(lambda word: word not in STOP_WORDS, words))]
    parts: dict[int, set[str]] = {}
    for file, name in enumerate(stems if roots else ()):
        if inquiry.files[file].path.endswith(".ipynb"):
            parts[file] = {root_of(part.lower()) for part in split_identifier(name)}
    for most in range(len(roots), 0, -1):  # the words next to it may be all of the name
        files = [file for file in parts if parts[file].issuperset(roots[:most])]
        if files:
            return dict.fromkeys(files, 1 / sqrt(len(files)))
    return {}


def name_of(path: str) -> str:
    """Return a file's name without suffixes, or for ``__init__`` and the like the folder's name."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in _PACKAGE_FILES and folder else stem


MODULE: Final = 0.7  # value of a module whose name is written
_FEW_NAMESAKES: Final = 3  # sources of a name in the first line; a more common name is no evidence
_LONGEST_LINE: Final = 300
_WRITTEN_PATH: Final = re.compile(r"[\w.@+\-/\\]{2,300}")


def named_files(inquiry: Inquiry) -> Evidence:
    """Return as evidence the files that the task's first line names, also as ``pkg.module``."""
    values: dict[int, float] = {}
    subject = inquiry.question.task.text.lstrip().partition("\n")[0][:_LONGEST_LINE]
    for match in _WRITTEN_PATH.finditer(subject):
        word = match[0].replace("\\", "/").strip("./-@+") or match[0]
        name = word.rpartition("/")[2]
        if name == word and name.islower() and name.isalpha():
            continue  # a plain word; some script may have the same name
        files = inquiry.paths.by_name.get(name, ())
        value = 1.0
        if not files and "." in name:
            files, value = _modules(inquiry, name), MODULE
        lift(values, files, value / sqrt(max(1, len(files))))
    for text, certainty in named_identifiers(subject).items():
        if certainty < CERTAIN:
            continue
        name = name_parts(text)[-1]
        called = {*inquiry.paths.by_stem.get(name, ()), *inquiry.corpus.files_defining(name)}
        files = sorted(file for file in called if inquiry.kinds[file] is PathKind.SOURCE)
        if len(files) <= _FEW_NAMESAKES:
            lift(values, files, 1 / sqrt(max(1, len(files))))
    # Not scaled: a doubtful name is not better for being the only one.
    matched = {file: inquiry.files[file].path.rpartition("/")[2] for file in values}
    return Evidence("file named in the first line", files=values, matched=matched)


def _modules(inquiry: Inquiry, dotted: str) -> Sequence[int]:
    parts = [part for part in dotted.split(".") if part]
    for end in range(len(parts), 1, -1):
        folder, stem = parts[end - 2], parts[end - 1]
        files = [
            file
            for file in inquiry.paths.by_stem.get(stem, ())
            if inquiry.files[file].path.split("/")[-2:-1] == [folder]
        ]
        if files:
            return files
    return ()


def of_pieces(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return as evidence how much of each definition's name the words of the task cover."""
    names_by_file: dict[int, list[str]] = {}
    for file, analysis in candidates.items():
        names_by_file[file] = [d.path[-1] if d.path else "" for d in analysis.definitions]
    names = Counter(chain.from_iterable(names_by_file.values()))
    coverage = _coverage(names, inquiry.question.task.topic)
    rows: dict[int, list[float]] = {}
    matched: dict[int, str] = {}
    for file, names_in_file in names_by_file.items():
        values = [coverage.get(name, 0.0) for name in names_in_file]
        best = max(values, default=0.0)
        if best:
            matched[file] = ".".join(candidates[file].definitions[values.index(best)].path)
            values.append(0.0)  # for definition -1: outside
            rows[file] = [values[piece.definition] for piece in candidates[file].pieces]
    return Evidence("words of the name", pieces=scaled(by_piece(rows)), matched=matched)


# The task's word for a part of a name, such as ``read`` of ``read_file``, and its value; ``""`` for none.
_Part = tuple[str, float]


def _coverage(names: Mapping[str, int], words: Mapping[str, float]) -> Mapping[str, float]:
    """Return how much of each name the task's words cover.

    Rare words weigh more. ``names`` maps names to their number of occurrences. Names without a match are left out.
    """
    # Most names contain no word's prefix and need not be split.
    prefix = re.compile("|".join(re.escape(word[:_SHORTEST_PREFIX]) for word in words) or r"(?!)")
    cache: dict[str, _Part] = {}
    parts_by_name: dict[str, list[_Part]] = {}
    for name in names:
        if prefix.search(name.lower()):
            parts = [_match_part(part.lower(), words, cache) for part in split_identifier(name)]
            if any(word for word, _ in parts):
                parts_by_name[name] = parts
    total = sum(names.values())
    frequency = Counter[str]()
    for name, parts in parts_by_name.items():
        frequency.update(dict.fromkeys({word for word, _ in parts}, names[name]))
    worth = {word: rarity(total, frequency[word]) + _ANY for word in words}
    worth[""] = _ANY * rarity(total, 0)
    task_worth = fsum(worth[word] * value for word, value in words.items())
    values: dict[str, float] = {}
    for name, parts in parts_by_name.items():
        matched = fsum(worth[word] * value for word, value in parts)
        share = matched / fsum(worth[word] for word, _ in parts)
        values[name] = share * sqrt(min(1.0, matched / task_worth))
    return values


def _match_part(text: str, words: Mapping[str, float], cache: dict[str, _Part]) -> _Part:
    """Find the task's word for a part of a name.

    A word with the same stem is preferred to one with a common prefix.
    """
    if text in cache:
        return cache[text]
    root = root_of(text)
    if root in words:
        match = root, words[root]
    else:
        match = "", 0.0
        for word, value in words.items():
            short, long = sorted((root, word), key=len)
            is_prefix = len(short) >= _SHORTEST_PREFIX and long.startswith(short)
            if is_prefix and _PREFIX * value > match[1]:
                match = word, _PREFIX * value
    cache[text] = match
    return match
