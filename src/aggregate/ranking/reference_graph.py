"""Resolve names to definitions, and find neighbours of files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p

from aggregate.ranking.evidence import Evidence, PieceKey, lift, scaled
from aggregate.ranking.files.analysis import Analysis, Corpus, Reference
from aggregate.ranking.inquiry import Candidates, Inquiry, keys, pieces_of
from aggregate.ranking.paths import PathKind, PathTable
from aggregate.ranking.terms import term_list

# Possible definitions of an ambiguous use; more would be guessing.
MOST_NAMESAKES = 3
_MOST_DEFINITIONS = 200  # of a name; uses of a more common name (``__init__``, ``get``) are ignored
_ITSELF = frozenset({"", "self", "cls", "this", "super", "Self", "base", "@"})
# Languages with imports of single names.
_NAMES_ARE_IMPORTED = frozenset(
    {"dart", "javascript", "python", "rust", "svelte", "tsx", "typescript", "vue"}
)
_FIRST_PART = re.compile(r"[^.:>\\/-]*")


class Resolver:
    """Finds the definitions that names in other files refer to, and caches the results."""

    def __init__(self, corpus: Corpus, paths: PathTable, analyses: Mapping[int, Analysis]) -> None:
        self._corpus = corpus
        self._paths = paths
        self.analyses = analyses
        self._by_name: dict[str, list[tuple[int, int]]] = {}
        for file in sorted(analyses):
            if corpus.files[file].is_code:
                for name, definitions in analyses[file].named.items():
                    keys = [(file, definition) for definition in definitions]
                    self._by_name.setdefault(name, []).extend(keys)
        self._modules: dict[tuple[int, str], frozenset[int]] = {}
        self._imports: dict[int, dict[str, str]] = {}
        self._imported: dict[int, frozenset[int]] = {}

    def module(self, file: int, module: str) -> frozenset[int]:
        key = (file, module)
        if key not in self._modules:
            path = self._corpus.files[file].path
            self._modules[key] = frozenset(files_of_module(self._paths, path, module))
        return self._modules[key]

    def resolve(self, file: int, reference: Reference) -> Sequence[tuple[int, int]]:
        """Return the definitions, as ``(file, index)``, that a reference probably means; empty if unclear."""
        namesakes = self._by_name.get(reference.name, ())
        if not namesakes or len(namesakes) > _MOST_DEFINITIONS:
            return ()
        if reference.kind == "import":
            return self._within(namesakes, self.module(file, reference.scope))
        local = [(number, definition) for number, definition in namesakes if number == file]
        if len(local) > 1:  # prefer the scope's; for ``self`` the same class's
            definitions = self.analyses[file].definitions
            owner = reference.definition
            scope: tuple[str, ...] = (reference.scope,)
            if reference.scope in _ITSELF:
                scope = definitions[owner].path[:-1][-1:] if owner >= 0 else ()
            in_scope = [key for key in local if definitions[key[1]].path[-2:-1] == scope]
            return in_scope or local
        if local:
            return local
        imports = self._imports_of(file)
        module = imports.get(reference.name) or imports.get(_first_part(reference.scope), "")
        if module:
            imported = self._within(namesakes, self.module(file, module))
            if imported:
                return imported
        folder = self._paths.folder(file)
        same_folder = [key for key in namesakes if self._paths.folder(key[0]) == folder]
        if same_folder or len(namesakes) > MOST_NAMESAKES:
            return same_folder if len(same_folder) <= MOST_NAMESAKES else ()
        candidates = set(self._corpus.files_defining(reference.name)) - self.analyses.keys()
        return namesakes if len(namesakes) + len(candidates) <= MOST_NAMESAKES else ()

    def sure_target(self, file: int, reference: Reference) -> tuple[int, int] | None:
        """Return the only possible definition of a reference.

        The result is ``None`` if there are several. The referring file must import the defining one, unless its
        language needs no import.
        """
        if reference.name not in self._by_name:
            return None
        targets = self.resolve(file, reference)
        if len(targets) != 1 or targets[0][0] == file:
            return None
        target = targets[0]
        if reference.kind == "import" or target[0] in self._imported_files(file, reference):
            return target
        is_plain = reference.scope in _ITSELF or reference.kind == "type"
        is_outer = self.analyses[target[0]].definitions[target[1]].outer < 0
        if is_plain and is_outer and self._corpus.files[file].language not in _NAMES_ARE_IMPORTED:
            return target
        return None

    def _imported_files(self, file: int, reference: Reference) -> frozenset[int]:
        imports = self._imports_of(file)
        if file not in self._imported:
            modules = (self.module(file, module) for module in sorted(set(imports.values())))
            self._imported[file] = frozenset().union(
                *(files for files in modules if len(files) <= MOST_NAMESAKES)
            )
        module = imports.get(reference.name) or imports.get(_first_part(reference.scope), "")
        return self._imported[file] | self.module(file, module) if module else self._imported[file]

    def _imports_of(self, file: int) -> dict[str, str]:
        if file not in self._imports:
            self._imports[file] = {
                reference.name: reference.scope
                for reference in reversed(self.analyses[file].references)
                if reference.kind == "import"
            }
        return self._imports[file]

    @staticmethod
    def _within(
        keys: Sequence[tuple[int, int]], files: frozenset[int]
    ) -> Sequence[tuple[int, int]]:
        targets = [key for key in keys if key[0] in files]
        return targets if len(targets) <= MOST_NAMESAKES else ()


def _first_part(scope: str) -> str:
    match = _FIRST_PART.match(scope)
    return match[0] if match else ""


_SHORTEST_NAME = 3  # letters of a name whose uses count; shorter names are ambiguous


def used_by_others(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    resolver = Resolver(inquiry.corpus, inquiry.paths, candidates)
    users_of_file: dict[int, set[int]] = {}
    users_of_definition: dict[tuple[int, int], set[int]] = {}
    for user, analysis in candidates.items():
        names: set[tuple[str, str, str]] = set()
        for reference in analysis.references:
            key = reference.name, reference.kind, reference.scope
            if key in names or len(reference.name) < _SHORTEST_NAME:
                continue
            names.add(key)
            target = resolver.sure_target(user, reference)
            if target and target[0] != user:
                users_of_file.setdefault(target[0], set()).add(user)
                users_of_definition.setdefault(target, set()).add(user)
    by_definition = {target: log1p(len(users)) for target, users in users_of_definition.items()}
    values = {file: log1p(len(users)) for file, users in users_of_file.items()}
    matched = {
        file: f"used by {len(users)} file{'s' if len(users) > 1 else ''}"
        for file, users in users_of_file.items()
    }
    pieces = {
        (file, index): by_definition[(file, piece.definition)]
        for file, analysis in candidates.items()
        for index, piece in enumerate(analysis.pieces)
        if (file, piece.definition) in by_definition
    }
    return Evidence("used by others", files=scaled(values), pieces=scaled(pieces), matched=matched)


MOST_SOURCES = 30  # pieces from which evidence spreads; less likely ones are noise
_SECOND_HOP = 0.5
_MOST_SECOND = 30
_MOST_REFERENCES = 200  # followed references of a definition; one with more is a table
_MOST_USERS = 20  # files using a name; a more common name does not identify a definition
_IMPORT = 0.3  # value of a file imported by a seed
_WORDS = {
    "call": ("calls", "called by"),
    "type": ("uses", "used by"),
    "inherit": ("inherits", "base of"),
    "import": ("imports", "imported by"),
    "attribute": ("uses", "used by"),
}


@dataclass(frozen=True, slots=True)
class _Spread:
    """Values of code that is connected with seeds, and the strongest connection of each file."""

    inquiry: Inquiry
    resolver: Resolver
    definitions: dict[tuple[int, int], float] = field(default_factory=dict)
    files: dict[int, float] = field(default_factory=dict)
    matched: dict[int, tuple[float, str]] = field(default_factory=dict)

    def follow(self, source: tuple[int, int], strength: float) -> None:
        """Reach what a definition uses."""
        file, definition = source
        name = self.inquiry.files[file].path.rpartition("/")[2]
        if definition >= 0:
            name = ".".join(self.resolver.analyses[file].definitions[definition].path)
        is_test = self.inquiry.kinds[file] is PathKind.TEST
        for reference in _references_of(self.resolver.analyses[file], definition):
            targets = self.resolver.resolve(file, reference)
            label = f"{'tested by' if is_test else _WORDS[reference.kind][1]} {name}"
            for target in targets:
                if target != source:
                    self._reach(target, strength / len(targets), label)
            if reference.kind == "import" and not targets:
                imported = sorted(self.resolver.module(file, reference.scope))
                for module in imported if len(imported) <= MOST_SOURCES else ():
                    self._reach_file(module, _IMPORT * strength / len(imported), label)

    def find_users(self, source: tuple[int, int], strength: float) -> None:
        """Reach what uses a definition."""
        path = self.resolver.analyses[source[0]].definitions[source[1]].path
        name = path[-1] if path else ""
        term = term_list(name)[:1]  # the whole name's
        analyses = self.resolver.analyses.items()
        users = [file for file, analysis in analyses if term and analysis.pieces_with(term[0])]
        for user in users if len(users) <= _MOST_USERS else ():
            is_test = self.inquiry.kinds[user] is PathKind.TEST
            for reference in self.resolver.analyses[user].references:
                targets = self.resolver.resolve(user, reference) if reference.name == name else ()
                if source not in targets or (user, reference.definition) == source:
                    continue
                label = f"{'tests' if is_test else _WORDS[reference.kind][0]} {'.'.join(path)}"
                self._reach((user, reference.definition), strength / len(targets), label)
                self._reach_file(user, _IMPORT * strength / len(targets), label)

    def _reach(self, target: tuple[int, int], value: float, how: str) -> None:
        self.definitions[target] = self.definitions.get(target, 0.0) + value
        self._note(target[0], value, how)

    def _reach_file(self, file: int, value: float, how: str) -> None:
        self.files[file] = max(self.files.get(file, 0.0), value)
        self._note(file, value, how)

    def _note(self, file: int, value: float, how: str) -> None:
        if file not in self.matched or (value, how) > self.matched[file]:
            self.matched[file] = (value, how)


def near_seeds(inquiry: Inquiry, candidates: Candidates, seeds: Sequence[Evidence]) -> Evidence:
    """Return as evidence the code that is connected with seeds by one or two references."""
    seed_pieces: dict[PieceKey, float] = {}
    for evidence in seeds:
        for key, value in evidence.pieces.items():
            lift(seed_pieces, [key], value)
        for file, value in evidence.files.items():
            if value == 1.0 and file in candidates:
                seed_pieces |= dict.fromkeys(keys(file, range(len(candidates[file].pieces))), 1.0)
    if not seed_pieces:
        return Evidence("near a seed")
    sources: dict[tuple[int, int], float] = {}  # strength by definition
    best_pieces = sorted(seed_pieces, key=lambda key: (-seed_pieces[key], key))[:MOST_SOURCES]
    for file, piece in best_pieces:
        definition = candidates[file].pieces[piece].definition
        strength = seed_pieces[file, piece] / seed_pieces[best_pieces[0]]
        sources.setdefault((file, definition), strength)
    spread = _Spread(inquiry, Resolver(inquiry.corpus, inquiry.paths, candidates))
    for source, strength in sources.items():
        spread.follow(source, strength)
    reached = {key: value for key, value in spread.definitions.items() if key not in sources}
    for target in sorted(reached, key=lambda target: (-reached[target], target))[:_MOST_SECOND]:
        spread.follow(target, _SECOND_HOP * min(1.0, reached[target]))
    for source, strength in sources.items():
        if source[1] >= 0:
            spread.find_users(source, strength)
    pieces: dict[PieceKey, float] = {}
    for (file, definition), value in spread.definitions.items():
        if file in candidates:
            found = keys(file, pieces_of(candidates[file], definition))
            lift(pieces, (key for key in found if key not in seed_pieces), value)
    matched = {file: how for file, (_, how) in spread.matched.items()}
    return Evidence("near a seed", files=spread.files, pieces=scaled(pieces), matched=matched)


def _references_of(analysis: Analysis, owner: int) -> Sequence[Reference]:
    """Return the names that a definition uses, including those of inner definitions without pieces."""
    with_pieces = {piece.definition for piece in analysis.pieces}
    references: list[Reference] = []
    for reference in analysis.references:
        definition = reference.definition
        while definition != owner and definition >= 0 and definition not in with_pieces:
            definition = analysis.definitions[definition].outer
        if definition == owner:
            references.append(reference)
            if len(references) == _MOST_REFERENCES:
                break
    return references


# First parts of modules without a folder.
_ROOTS = frozenset({"crate", "self", "super", "std", "@", "~", "src"})
_LONGEST = 400
_MOST_FILES = 200  # of a package; a use of a larger one is no evidence
# Leading parts outside the project, such as ``github.com/owner/name`` and a version.
_MOST_DROPPED = 4
_SEPARATORS = re.compile(r"::|[/\\]|\.(?=[A-Za-z_*])")
_RELATIVE = re.compile(r"\.{1,2}/|\.+(?=[A-Za-z_]|$)")


def files_of_module(paths: PathTable, importer: str, module: str) -> Sequence[int]:
    """Return the files of an imported module or package."""
    module = module[:_LONGEST].strip("\"'<>; ")
    if not module:
        return ()
    folder = importer.rpartition("/")[0]
    if _RELATIVE.match(module):
        if "/" not in module and module not in (".", ".."):
            name = module.lstrip(".")
            for _ in range(len(module) - len(name) - 1):
                folder = folder.rpartition("/")[0]
            module = name.replace(".", "/")
        return _at(paths, _joined(folder, module))
    if "/" in module or module.endswith(".h"):  # C looks beside the file first
        local = _at(paths, _joined(folder, module))
        if local:
            return local
    # First the whole module, then without its first parts.
    is_dotted = "/" not in module and "::" not in module and "\\" not in module
    parts = [part for part in _SEPARATORS.split(module) if part and part not in _ROOTS]
    most = 0 if is_dotted else min(_MOST_DROPPED, len(parts) - 1)
    for dropped in range(most + 1):
        files = _ending(paths, parts[dropped:])
        if files:
            return files
    return ()


def _joined(folder: str, relative: str) -> str:
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _at(paths: PathTable, path: str) -> Sequence[int]:
    """Return the file, or the files of the package, at a path without suffix."""
    number = paths.numbers.get(path)
    if number is not None:
        return (number,)
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    same = [file for file in paths.by_stem.get(stem, ()) if paths.folder(file) == folder]
    return same or _package(paths, path)


def _package(paths: PathTable, folder: str) -> Sequence[int]:
    files = paths.by_folder.get(folder, ())
    return files if len(files) <= _MOST_FILES else ()


def _ending(paths: PathTable, parts: Sequence[str]) -> Sequence[int]:
    """Return the files whose paths without suffix end with ``parts``."""
    if not parts:
        return ()
    *folders, last = parts
    tail = "/".join(folders)
    for namesakes in (paths.by_stem.get(last, ()), paths.by_name.get(last, ())):
        files = [file for file in namesakes if _ends(paths.folder(file), tail)]
        if files:
            return files if len(files) <= _MOST_FILES else ()
    path = "/".join(parts)
    for folder in paths.folders_by_name.get(last, ()):
        if _ends(folder, path):
            return _package(paths, folder)
    return ()


def _ends(folder: str, tail: str) -> bool:
    return not tail or folder == tail or folder.endswith(f"/{tail}")
