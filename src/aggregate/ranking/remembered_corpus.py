"""A corpus that remembers what names were looked up: several evidences ask for the same."""

from collections.abc import Mapping, Sequence

from aggregate.ranking.corpus import Corpus, FileFacts, TermInFile
from aggregate.ranking.file_analysis import FileAnalysis


class RememberedCorpus:
    """A ``Corpus`` for one question.

    Args:
        corpus: What is asked once for each name.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._defining: dict[str, Sequence[tuple[int, int]]] = {}
        self._referring: dict[str, Sequence[int]] = {}

    @property
    def files(self) -> Sequence[FileFacts]:
        """All candidates."""
        return self._corpus.files

    def look_up(self, terms: Sequence[str]) -> None:
        """Find the files that hold some terms at once."""
        self._corpus.look_up(terms)

    def files_with(self, term: str) -> Mapping[int, TermInFile]:
        """Return the files whose text holds ``term``."""
        return self._corpus.files_with(term)

    def files_defining(self, name: str) -> Sequence[tuple[int, int]]:
        """Return ``(file, place of the definition)`` for each definition whose own name is ``name``."""
        if name not in self._defining:
            self._defining[name] = self._corpus.files_defining(name)
        return self._defining[name]

    def files_referring(self, name: str) -> Sequence[int]:
        """Return the files that use ``name``."""
        if name not in self._referring:
            self._referring[name] = self._corpus.files_referring(name)
        return self._referring[name]

    def analyses(self, files: Sequence[int]) -> Sequence[FileAnalysis]:
        """Load the analyses of some files."""
        return self._corpus.analyses(files)
