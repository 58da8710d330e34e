"""Programs that choose what a model sees of a project for a task: what they are asked, ours, and a plain baseline."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from simulation.recall_metrics import Blocks, read_blocks
from simulation.task_commits import Kind, kind_of
from simulation.trees import git

if TYPE_CHECKING:
    from tiktoken import Encoding


K1, B = 1.2, 0.75
"""The constants of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009."""
_MOST_BYTES = 400_000
"""Larger files are data or were written by programs."""

_IDENTIFIER = re.compile(r"[^\W\d_][\w]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked for in a tree."""

    text: str
    symbols: tuple[str, ...] = ()
    since: str = ""
    commit: str = ""
    """Whose answer it is, to find what was picked for it."""


class NoAnswerError(Exception):
    """A program made no prompt."""


class PromptMaker(Protocol):
    """A program that makes a prompt for a task."""

    @property
    def name(self) -> str:
        """What stands in the table."""
        ...

    def make(self, tree: Path, ask: Ask, budget: int) -> str:
        """Return a prompt of at most ``budget`` tokens."""
        ...

    def read(self, prompt: str) -> Blocks:
        """Return the lines that a prompt shows of each file."""
        ...


@cache
def encoding() -> "Encoding":
    """Return tiktoken's public o200k tokenizer with the rule as it was published: another one than ours."""
    from tests.base.tokens.plain_count import encoding as plain_encoding

    return plain_encoding()


def recount(text: str) -> int:
    """Return the number of o200k tokens of a text."""
    return len(encoding().encode_ordinary(text))


@dataclass(slots=True)
class Ours:
    """This program, in this process, on all files of the tree."""

    name: str = "aggregate"
    left_out: str = ""
    answers: Mapping[str, str] | None = None
    """What was picked of the sheet for each commit, by the beginning of its name (``simulation.picks``)."""

    def make(self, tree: Path, ask: Ask, budget: int) -> str:
        """Compose a prompt."""
        from aggregate.base.errors import AggregateError
        from aggregate.base.task_budget import Budget, Task
        from aggregate.project.index import user_index
        from aggregate.prompt import compose_within_budget, request_for
        from aggregate.prompt.asking import open_project
        from aggregate.prompt.corpus import read_answer, with_answer
        from aggregate.ranking import WEIGHTS
        from simulation.picks import SHORT, sheet_of

        left_out = self.left_out.split(",") if self.left_out else []
        if unknown := [kind for kind in left_out if kind not in WEIGHTS]:
            raise SystemExit(f"there is no evidence {unknown[0]!r}, only {', '.join(WEIGHTS)}")
        weights = {kind: weight for kind, weight in WEIGHTS.items() if kind not in left_out}
        files = {"base_dir": str(tree), "paths": ["**/*"]}
        task = Task(ask.text, symbols=ask.symbols, since=ask.since)
        try:
            request = request_for(open_project({"files": files}), task=task, budget=Budget(budget))
            if self.answers is not None:
                answer = self.answers.get(ask.commit[:SHORT], "")
                sheet, ranked = sheet_of(request)
                task = with_answer(task, read_answer(sheet, answer), ranked)
                request = replace(request, task=task)
            composition = compose_within_budget(request, index=user_index(), weights=weights)
        except AggregateError as error:
            raise NoAnswerError(str(error)) from error
        return composition.prompt.markdown

    def read(self, prompt: str) -> Blocks:
        """Read the blocks below ``### File``."""
        return read_blocks(prompt)


@dataclass(slots=True)
class WholeFiles:
    """BM25 on whole files; the last one is cut where the budget ends.

    Only sources that are no tests are ranked: with change logs and tests among them nothing else is shown.
    """

    name: str = "BM25 on whole files"

    def make(self, tree: Path, ask: Ask, budget: int) -> str:
        """Fill the budget with files."""
        sources = [
            path for path in tracked_files(tree) if kind_of(path) == Kind(True, False, False)
        ]
        texts = read_texts(tree, sources)
        order = ranked(ask.text, [f"{path}\n{text}" for path, text in texts.items()])
        paths = list(texts)
        parts: list[str] = []
        left = budget
        for place in order:
            path = paths[place]
            head, tail = f"### File {path}\n\n````````text\n", "\n````````\n\n"
            left -= len(encoding().encode_ordinary(head + tail)) + 2
            if left <= 0:
                break
            tokens = encoding().encode_ordinary(texts[path])
            shown = texts[path] if len(tokens) <= left else encoding().decode(tokens[:left])
            left -= len(tokens)
            parts.append(f"{head}{shown}{tail}")
        return "".join(parts)

    def read(self, prompt: str) -> Blocks:
        """Read the blocks below ``### File``."""
        return read_blocks(prompt)


def tracked_files(tree: Path) -> list[str]:
    """Return the files of a work tree that git tracks."""
    return git(tree, "ls-files", "-z").decode("utf-8", "replace").rstrip("\0").split("\0")


def words_of(text: str) -> Iterator[str]:
    """Yield the identifiers of a text, in lower case, and the parts of those that have several."""
    for identifier in _IDENTIFIER.findall(text):
        yield identifier.lower()
        parts = _PART.findall(identifier)
        if len(parts) > 1:
            yield from map(str.lower, parts)


def ranked(query: str, texts: Sequence[str]) -> list[int]:
    """Return the places of the texts, the best for ``query`` first, equal ones in their order."""
    counted = [Counter(words_of(text)) for text in texts]
    lengths = [counts.total() for counts in counted]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    scores = [0.0] * len(texts)
    for word in sorted(set(words_of(query))):
        having = [place for place, counts in enumerate(counted) if word in counts]
        rarity = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for place in having:
            often = counted[place][word]
            length = 1 - B + B * lengths[place] / mean
            scores[place] += rarity * often * (K1 + 1) / (often + K1 * length)
    return sorted(range(len(texts)), key=lambda place: -scores[place])


def read_texts(tree: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return the texts of those files that are no links, not binary and not huge."""
    texts: dict[str, str] = {}
    for path in paths:
        file = tree / path
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_BYTES:
            continue
        data = file.read_bytes()
        if b"\0" not in data:
            texts[path] = data.decode("utf-8", "replace")
    return texts
