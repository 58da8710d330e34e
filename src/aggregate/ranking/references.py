"""What names that a file uses mean, and what likely pieces refer to and are used by."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aggregate.ranking.evidence import Evidence, PieceKey, lift, scaled
from aggregate.ranking.files.analysis import Analysis, Corpus, Reference
from aggregate.ranking.inquiry import Candidates, Inquiry, keys, pieces_of
from aggregate.ranking.paths import PathKind, PathTable
from aggregate.ranking.terms import term_list

# Definitions of a name in the project that a use may mean where nothing says which: more would be guessing.
MOST_NAMESAKES = 3
# Definitions of a name that are looked at: a project with more ``__init__`` or ``get`` says nothing by it.
_MOST_DEFINITIONS = 200
_ITSELF = frozenset({"", "self", "cls", "this", "super", "Self", "base", "@"})
# Languages in which a name of another file is imported, or reached through a module that is.
_NAMES_ARE_IMPORTED = frozenset(
    {"dart", "javascript", "python", "rust", "svelte", "tsx", "typescript", "vue"}
)
_FIRST_PART = re.compile(r"[^.:>\\/-]*")


class Resolver:
    """Resolve references among the files that are looked at closely; what was looked up is kept."""

    def __init__(self, corpus: Corpus, paths: PathTable, analyses: Mapping[int, Analysis]) -> None:
        self._corpus = corpus
        self._paths = paths
        self.analyses = analyses
        self._named: dict[str, list[tuple[int, int]]] = {}
        for file in sorted(analyses):
            for name, places in analyses[file].named.items() if corpus.files[file].is_code else ():
                self._named.setdefault(name, []).extend((file, place) for place in places)
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
        """Return ``(file, definition)`` for what ``reference`` of ``file`` may mean; nothing where it is unclear."""
        named = self._named.get(reference.name, ())
        if not named or len(named) > _MOST_DEFINITIONS:
            return ()
        if reference.kind == "import":
            return self._within(named, self.module(file, reference.scope))
        own = [(number, place) for number, place in named if number == file]
        if len(own) > 1:  # those of the same class where the scope is ``self``
            definitions = self.analyses[file].definitions
            owner = reference.definition
            around = definitions[owner].path[:-1] if owner >= 0 else ()
            scope = around[-1:] if reference.scope in _ITSELF else (reference.scope,)
            own = [each for each in own if definitions[each[1]].path[-2:-1] == scope] or own
        if own:
            return own
        imports = self._imports_of(file)
        module = imports.get(reference.name) or imports.get(_first_part(reference.scope), "")
        if module:
            imported = self._within(named, self.module(file, module))
            if imported:
                return imported
        folder = self._paths.folder(file)
        beside = [each for each in named if self._paths.folder(each[0]) == folder]
        if beside or len(named) > MOST_NAMESAKES:
            return beside if len(beside) <= MOST_NAMESAKES else ()
        others = set(self._corpus.files_defining(reference.name)) - self.analyses.keys()
        return named if len(named) + len(others) <= MOST_NAMESAKES else ()

    def sure_target(self, file: int, reference: Reference) -> tuple[int, int] | None:
        """Return the one definition in another file that a reference surely means.

        Either the file imports its file, or its language needs no import and nothing else is called so.
        """
        if reference.name not in self._named:
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
        """Return the files that a file imports by themselves, and those of the module that a reference names."""
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
                other.name: other.scope
                for other in reversed(self.analyses[file].references)
                if other.kind == "import"
            }
        return self._imports[file]

    @staticmethod
    def _within(
        named: Sequence[tuple[int, int]], files: frozenset[int]
    ) -> Sequence[tuple[int, int]]:
        meant = [(number, place) for number, place in named if number in files]
        return meant if len(meant) <= MOST_NAMESAKES else ()


def _first_part(scope: str) -> str:
    match = _FIRST_PART.match(scope)
    return match[0] if match else ""


MOST_SOURCES = 30  # pieces that evidence spreads from: the likeliest; behind them it is noise
_SECOND_HOP = 0.5
_MOST_SECOND = 30
_MOST_REFERENCES = 200  # references of a definition that are followed: a longer one is a table
# Files that use a name, above which it is too common to tell who uses this definition.
_MOST_USERS = 20
_IMPORTED = 0.3  # what it counts for a file that a likely one imports it
_WORDS = {
    "call": ("calls", "called by"),
    "type": ("uses", "used by"),
    "inherit": ("inherits", "base of"),
    "import": ("imports", "imported by"),
    "attribute": ("uses", "used by"),
}


class _Source(NamedTuple):
    file: int
    definition: int
    strength: float


class _Spread:
    """What is gathered while evidence spreads."""

    def __init__(self) -> None:
        self.definitions: dict[tuple[int, int], float] = {}
        self.files: dict[int, float] = {}
        self.matched: dict[int, tuple[float, str]] = {}

    def reach(self, target: tuple[int, int], value: float, how: str) -> None:
        self.definitions[target] = self.definitions.get(target, 0.0) + value
        self._note(target[0], value, how)

    def reach_file(self, file: int, value: float, how: str) -> None:
        self.files[file] = max(self.files.get(file, 0.0), value)
        self._note(file, value, how)

    def _note(self, file: int, value: float, how: str) -> None:
        known = self.matched.get(file)
        if known is None or (value, how) > known:
            self.matched[file] = (value, how)


def near_seeds(inquiry: Inquiry, candidates: Candidates, seeds: Sequence[Evidence]) -> Evidence:
    """Return what is connected by references, in one or two steps, with pieces that the user points at."""
    pointed: dict[PieceKey, float] = {}
    for evidence in seeds:
        for key, value in evidence.pieces.items():
            lift(pointed, [key], value)
        for file, value in evidence.files.items():
            if value == 1.0 and file in candidates:
                pointed |= dict.fromkeys(keys(file, range(len(candidates[file].pieces))), 1.0)
    if not pointed:
        return Evidence("near a seed")
    resolver = Resolver(inquiry.corpus, inquiry.paths, candidates)
    sources = _sources(candidates, pointed)
    spread = _Spread()
    for source in sources:
        _follow(inquiry, resolver, spread=spread, source=source)
    known = {(source.file, source.definition) for source in sources}
    reached = {target: value for target, value in spread.definitions.items() if target not in known}
    best = sorted(reached, key=lambda target: (-reached[target], target))[:_MOST_SECOND]
    for target in best:
        source = _Source(*target, _SECOND_HOP * min(1.0, reached[target]))
        _follow(inquiry, resolver, spread=spread, source=source)
    _find_users(inquiry, resolver, spread=spread, sources=sources)
    pieces: dict[PieceKey, float] = {}
    for (file, definition), value in spread.definitions.items():
        if file in candidates:
            own = keys(file, pieces_of(candidates[file], definition))
            lift(pieces, (key for key in own if key not in pointed), value)
    matched = {file: how for file, (_, how) in spread.matched.items()}
    return Evidence("near a seed", files=spread.files, pieces=scaled(pieces), matched=matched)


def _sources(candidates: Candidates, likely: Mapping[PieceKey, float]) -> Sequence[_Source]:
    best = sorted(likely, key=lambda key: (-likely[key], key))[:MOST_SOURCES]
    strengths: dict[tuple[int, int], float] = {}
    for file, place in best:
        definition = candidates[file].pieces[place].definition
        strengths.setdefault((file, definition), likely[(file, place)] / likely[best[0]])
    return [_Source(file, place, strength) for (file, place), strength in strengths.items()]


def _used_by(resolver: Resolver, source: _Source) -> Sequence[Reference]:
    # Short definitions in it have no pieces of their own.
    analysis = resolver.analyses[source.file]
    own = {piece.definition for piece in analysis.pieces}
    used: list[Reference] = []
    for reference in analysis.references:
        definition = reference.definition
        while definition != source.definition and definition >= 0 and definition not in own:
            definition = analysis.definitions[definition].outer
        if definition == source.definition:
            used.append(reference)
            if len(used) == _MOST_REFERENCES:
                break
    return used


def _follow(inquiry: Inquiry, resolver: Resolver, *, spread: _Spread, source: _Source) -> None:
    # A test that refers says ``tested by``.
    name = _name(inquiry, resolver, (source.file, source.definition))
    is_test = inquiry.kinds[source.file] is PathKind.TEST
    for reference in _used_by(resolver, source):
        targets = resolver.resolve(source.file, reference)
        how = "tested by" if is_test else _WORDS[reference.kind][1]
        for target in targets:
            if target[0] != source.file or target[1] != source.definition:
                spread.reach(target, source.strength / len(targets), f"{how} {name}")
        if reference.kind == "import" and not targets:
            imported = sorted(resolver.module(source.file, reference.scope))
            for file in imported if len(imported) <= MOST_SOURCES else ():
                share = _IMPORTED * source.strength / len(imported)
                spread.reach_file(file, share, f"{how} {name}")


def _find_users(
    inquiry: Inquiry, resolver: Resolver, *, spread: _Spread, sources: Sequence[_Source]
) -> None:
    for source in sources:
        if source.definition < 0:
            continue
        target = (source.file, source.definition)
        path = resolver.analyses[source.file].definitions[source.definition].path
        name = path[-1] if path else ""
        users = _users(resolver, name)
        if len(users) > _MOST_USERS:
            continue
        full_name = ".".join(path)
        for user in users:
            for reference in resolver.analyses[user].references:
                meant = resolver.resolve(user, reference) if reference.name == name else ()
                if target not in meant or (user, reference.definition) == target:
                    continue
                is_test = inquiry.kinds[user] is PathKind.TEST
                how = f"{'tests' if is_test else _WORDS[reference.kind][0]} {full_name}"
                spread.reach((user, reference.definition), source.strength / len(meant), how)
                spread.reach_file(user, _IMPORTED * source.strength / len(meant), how)


def _users(resolver: Resolver, name: str) -> list[int]:
    """Return the files that may use a name, among those that are looked at closely."""
    terms = term_list(name)  # the first one stands for all of an identifier
    return [
        file
        for file, analysis in resolver.analyses.items()
        if terms and analysis.pieces_with(terms[0])
    ]


def _name(inquiry: Inquiry, resolver: Resolver, target: tuple[int, int]) -> str:
    file, place = target
    if place < 0:
        return inquiry.files[file].path.rpartition("/")[2]
    return ".".join(resolver.analyses[file].definitions[place].path)


# First parts that name no folder of their own.
_ROOTS = frozenset({"crate", "self", "super", "std", "@", "~", "src"})
_LONGEST = 400
_MOST_FILES = 200  # files of a package: a use of one with more says nothing
# Leading parts that are no folders of the project, such as ``github.com/owner/name`` and a version.
_MOST_DROPPED = 4
_SEPARATORS = re.compile(r"::|[/\\]|\.(?=[A-Za-z_*])")
_RELATIVE = re.compile(r"\.{1,2}/|\.+(?=[A-Za-z_]|$)")


def files_of_module(paths: PathTable, importer: str, module: str) -> Sequence[int]:
    r"""Return the numbers of the files that ``module`` means in ``importer``; of a package, the files of its folder."""
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
        beside = _at(paths, _joined(folder, module))
        if beside:
            return beside
    # First as a whole, then without its first parts.
    is_dotted = "/" not in module and "::" not in module and "\\" not in module
    parts = [part for part in _SEPARATORS.split(module) if part and part not in _ROOTS]
    most = 0 if is_dotted else min(_MOST_DROPPED, len(parts) - 1)
    found = (_ending(paths, parts[dropped:]) for dropped in range(most + 1))
    return next(filter(None, found), ())


def _joined(folder: str, relative: str) -> str:
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _at(paths: PathTable, path: str) -> Sequence[int]:
    # With or without its suffix, else those that stand for the folder.
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
    # The file's suffix is free.
    if not parts:
        return ()
    *folders, last = parts
    tail = "/".join(folders)
    for number_list in (paths.by_stem.get(last, ()), paths.by_name.get(last, ())):
        files = [file for file in number_list if _ends(paths.folder(file), tail)]
        if files:
            return files if len(files) <= _MOST_FILES else ()
    whole = "/".join(parts)
    for folder in paths.folders_by_name.get(last, ()):
        if _ends(folder, whole):
            return _package(paths, folder)
    return ()


def _ends(folder: str, tail: str) -> bool:
    return not tail or folder == tail or folder.endswith(f"/{tail}")
