"""What a name that a file uses means: definitions of the same file, of what it imports, or next to it."""

import re
from collections.abc import Mapping, Sequence

from aggregate.ranking.corpus import Corpus
from aggregate.ranking.file_analysis import FileAnalysis, Reference
from aggregate.ranking.module_paths import files_of_module
from aggregate.ranking.path_table import PathTable

MOST_NAMESAKES = 3
"""Definitions of a name in the project that a use may mean where nothing says which: more would be guessing."""
_MOST_DEFINITIONS = 200
"""Definitions of a name that are looked at: a project with more ``__init__`` or ``get`` says nothing by it."""
_MOST_LOOKED_UP = 200
"""Names that one resolver looks up: each costs a search in every group of files, and the likeliest uses come first."""
_ITSELF = frozenset({"", "self", "cls", "this", "super", "Self", "base", "@"})
"""Scopes that mean the object a method belongs to."""
_FIRST_PART = re.compile(r"[^.:>\\/-]*")


class Resolver:
    """Resolve references of a project's files; what was looked up is kept.

    Args:
        corpus: The project.
        paths: Its paths, where they were looked up before.
        known: Analyses that were loaded before, by the files' numbers.
    """

    def __init__(
        self,
        corpus: Corpus,
        paths: PathTable | None = None,
        *,
        known: Mapping[int, FileAnalysis] | None = None,
    ) -> None:
        self._corpus = corpus
        self._paths = paths or PathTable(corpus.files)
        self._analyses: dict[int, FileAnalysis] = dict(known or {})
        self._named: dict[str, Sequence[tuple[int, int]]] = {}
        self._modules: dict[tuple[int, str], frozenset[int]] = {}
        self._imports: dict[int, dict[str, str]] = {}

    def analysis(self, file: int) -> FileAnalysis:
        """Return a file's analysis."""
        if file not in self._analyses:
            self.load([file])
        return self._analyses[file]

    def knows(self, file: int) -> bool:
        """Tell whether a file's analysis was loaded."""
        return file in self._analyses

    def load(self, files: Sequence[int]) -> None:
        """Load some files' analyses at once."""
        self._analyses.update(zip(files, self._corpus.analyses(files), strict=True))

    def module(self, file: int, module: str) -> frozenset[int]:
        """Return the files that a module means which ``file`` imports."""
        key = (file, module)
        if key not in self._modules:
            path = self._corpus.files[file].path
            self._modules[key] = frozenset(files_of_module(self._paths, path, module))
        return self._modules[key]

    def resolve(self, file: int, reference: Reference) -> Sequence[tuple[int, int]]:
        """Return ``(file, definition)`` for what ``reference`` of ``file`` may mean; nothing where it is unclear.

        The nearest wins: the file itself, what it imports, its folder, then the project where few share the name.
        """
        named = self._definitions(reference.name)
        if not named or len(named) > _MOST_DEFINITIONS:
            return ()
        if reference.kind == "import":
            return self._within(named, self.module(file, reference.scope))
        own = self._in_file(named, file, reference)
        if own:
            return own
        module = self._imported_from(file, reference)
        if module:
            imported = self._within(named, self.module(file, module))
            if imported:
                return imported
        return self._nearby(named, file)

    def _definitions(self, name: str) -> Sequence[tuple[int, int]]:
        if name not in self._named:
            if len(self._named) >= _MOST_LOOKED_UP:
                return ()
            self._named[name] = self._corpus.files_defining(name)
        return self._named[name]

    def _in_file(
        self, named: Sequence[tuple[int, int]], file: int, reference: Reference
    ) -> Sequence[tuple[int, int]]:
        """Return the definitions in the file itself: those of the same class where the scope is ``self``."""
        own = [(number, place) for number, place in named if number == file]
        if len(own) < 2:
            return own
        definitions = self.analysis(file).definitions
        around = definitions[reference.definition].path[:-1] if reference.definition >= 0 else ()
        scope = around[-1:] if reference.scope in _ITSELF else (reference.scope,)
        same = [(number, place) for number, place in own if definitions[place].path[-2:-1] == scope]
        return same or own

    def _imported_from(self, file: int, reference: Reference) -> str:
        """Return the module that the reference's name, or the first part of its scope, was imported from."""
        imports = self._imports.get(file)
        if imports is None:
            imports = self._imports[file] = {
                other.name: other.scope
                for other in reversed(self.analysis(file).references)
                if other.kind == "import"
            }
        by_name = imports.get(reference.name, "")
        match = _FIRST_PART.match(reference.scope)
        return by_name or (imports.get(match[0], "") if match and match[0] else "")

    def _nearby(self, named: Sequence[tuple[int, int]], file: int) -> Sequence[tuple[int, int]]:
        """Return the definitions in the same folder, else all where they are few."""
        folder = self._corpus.files[file].path.rpartition("/")[0]
        beside = [
            (number, place)
            for number, place in named
            if self._corpus.files[number].path.rpartition("/")[0] == folder
        ]
        meant = beside or named
        return meant if len(meant) <= MOST_NAMESAKES else ()

    @staticmethod
    def _within(
        named: Sequence[tuple[int, int]], files: frozenset[int]
    ) -> Sequence[tuple[int, int]]:
        meant = [(number, place) for number, place in named if number in files]
        return meant if len(meant) <= MOST_NAMESAKES else ()


def resolve(corpus: Corpus, file: int, reference: Reference) -> Sequence[tuple[int, int]]:
    """Return ``(file, definition)`` for what a reference may mean; for many references, keep a ``Resolver``.

    Args:
        corpus: The project.
        file: The file that uses the name.
        reference: The use.
    """
    return Resolver(corpus).resolve(file, reference)
