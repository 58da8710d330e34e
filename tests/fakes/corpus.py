"""A corpus of short texts in memory, looked at like files of a project."""

from collections.abc import Mapping, Sequence
from functools import cache
from textwrap import dedent

from aggregate.base.text import generated_reason
from aggregate.ranking.files import (
    Analysis,
    FileFacts,
    TermTable,
    analyse,
    look_roughly,
    pack_tables,
)


class FakeCorpus:
    """Texts by their paths, in the order in which they are given.

    Attributes:
        files: What is known of each.
        loaded: The files whose analyses were asked for, as often as they were.
        looked_up: The terms that were asked for together, and alone where they were not, in one pass each.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        plain = {path: dedent(text) for path, text in texts.items()}
        self._texts = [*plain.items()]
        self._analysed = cache(analyse)
        self._rough = [look_roughly(path, text) for path, text in plain.items()]
        self._words = [TermTable(pack_tables([rough])[1]) for rough in self._rough]
        self.files: Sequence[FileFacts] = [
            rough.facts._replace(is_generated=bool(generated_reason(path, text)))
            for rough, (path, text) in zip(self._rough, plain.items(), strict=True)
        ]
        self.loaded: list[int] = []
        self.looked_up: list[set[str]] = []

    def look_up(self, terms: Sequence[str]) -> None:
        """Note the terms: each look-up is quick."""
        self.looked_up.append(set(terms))

    def files_with(self, term: str) -> Mapping[int, int]:
        if not any(term in terms for terms in self.looked_up):
            self.look_up([term])
        counts = [words.texts_with(term).get(0, 0) for words in self._words]
        return {number: count for number, count in enumerate(counts) if count}

    def files_defining(self, name: str) -> Sequence[int]:
        return [number for number, rough in enumerate(self._rough) if name in rough.names]

    def analyses(self, files: Sequence[int], *, with_references: bool = False) -> list[Analysis]:
        self.loaded += files
        return [self._analysed(*self._texts[at], with_references=with_references) for at in files]

    def number(self, path: str) -> int:
        return [facts.path for facts in self.files].index(path)
