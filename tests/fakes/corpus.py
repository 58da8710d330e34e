"""A corpus of short texts in memory, analysed like files of a project."""

from collections.abc import Mapping, Sequence
from textwrap import dedent

from aggregate.ranking import term_hash
from aggregate.ranking.files import Analysis, FileFacts, TermInFile, analyse


class FakeCorpus:
    """Texts by their paths, in the order in which they are given.

    Attributes:
        files: What is known of each.
        loaded: The files whose analyses were asked for, as often as they were.
        looked_up: The terms that were asked for together, and alone where they were not, in one pass each.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._analyses = [analyse(path, dedent(text)) for path, text in texts.items()]
        self.files: Sequence[FileFacts] = [
            FileFacts(path, *analysis.traits)
            for path, analysis in zip(texts, self._analyses, strict=True)
        ]
        self.loaded: list[int] = []
        self.looked_up: list[set[str]] = []

    def look_up(self, terms: Sequence[str]) -> None:
        """Note the terms: each look-up is quick."""
        self.looked_up.append(set(terms))

    def files_with(self, term: str) -> Mapping[int, TermInFile]:
        if not any(term in terms for terms in self.looked_up):
            self.look_up([term])
        key = term_hash(term)
        return {
            number: TermInFile(occurrences[key], pieces[key])
            for number, (occurrences, pieces) in enumerate(a.term_totals for a in self._analyses)
            if occurrences[key]
        }

    def files_defining(self, name: str) -> Sequence[tuple[int, int]]:
        return [
            (number, place)
            for number, analysis in enumerate(self._analyses)
            for place, definition in enumerate(analysis.definitions)
            if definition.path[-1:] == (name,)
        ]

    def files_referring(self, name: str) -> Sequence[int]:
        names = [{reference.name for reference in one.references} for one in self._analyses]
        return [number for number, used in enumerate(names) if name in used]

    def analyses(self, files: Sequence[int]) -> Sequence[Analysis]:
        self.loaded += files
        return [self._analyses[number] for number in files]

    def number(self, path: str) -> int:
        return [facts.path for facts in self.files].index(path)
