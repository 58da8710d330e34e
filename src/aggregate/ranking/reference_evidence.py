"""What the likeliest pieces refer to, and what refers to them: calls, types, bases, imports, tests."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aggregate.ranking.evidence import Evidence, PieceKey
from aggregate.ranking.file_analysis import Reference
from aggregate.ranking.inquiry import Candidates, Inquiry, keys, pieces_of
from aggregate.ranking.path_kinds import PathKind
from aggregate.ranking.references import Resolver
from aggregate.ranking.scaling import scaled_evidence

MOST_SOURCES = 30
"""Pieces that evidence spreads from: the likeliest; behind them it is noise."""
_SECOND_HOP = 0.5
"""What a second step counts of a first one."""
_MOST_SECOND = 30
"""Definitions that a second step is taken from."""
_MOST_REFERENCES = 200
"""References of a definition that are followed: a longer one is a table."""
_MOST_USERS = 20
"""Files that use a name, above which it is too common to tell who uses this definition."""
_MOST_LOADED = 100
"""Files beyond the candidates that are loaded to see who uses a definition."""
_IMPORTED = 0.3
"""What it counts for a file that a likely one imports it."""
_WORDS = {
    "call": ("calls", "called by"),
    "type": ("uses", "used by"),
    "inherit": ("inherits", "base of"),
    "import": ("imports", "imported by"),
    "attribute": ("uses", "used by"),
}
"""How a reference reads from its user's side, and from the side of what it uses."""


class _Source(NamedTuple):
    """A definition that evidence spreads from.

    Attributes:
        file: Its file.
        definition: Its place, -1 for what stands outside of all definitions.
        strength: How likely it is, 1 for the likeliest.
    """

    file: int
    definition: int
    strength: float


class _Spread:
    """What is gathered while evidence spreads.

    Attributes:
        definitions: What reaches each ``(file, definition)``.
        files: What reaches whole files.
        matched: By file: how it is connected, with what that adds.
    """

    def __init__(self) -> None:
        self.definitions: dict[tuple[int, int], float] = {}
        self.files: dict[int, float] = {}
        self._matched: dict[int, tuple[float, str]] = {}

    def reach(self, target: tuple[int, int], value: float, how: str) -> None:
        """Add to a definition."""
        self.definitions[target] = self.definitions.get(target, 0.0) + value
        self._note(target[0], value, how)

    def reach_file(self, file: int, value: float, how: str) -> None:
        """Note what reaches a file as a whole."""
        self.files[file] = max(self.files.get(file, 0.0), value)
        self._note(file, value, how)

    def _note(self, file: int, value: float, how: str) -> None:
        known = self._matched.get(file)
        if known is None or (value, how) > known:
            self._matched[file] = (value, how)

    @property
    def matched(self) -> Mapping[int, str]:
        """How each file is connected most."""
        return {file: how for file, (_, how) in self._matched.items()}


def references(
    inquiry: Inquiry,
    candidates: Candidates,
    *,
    resolver: Resolver,
    likely: Mapping[PieceKey, float],
    kind: str,
) -> Evidence:
    """Return what is connected with likely pieces by references, in one or two steps.

    Args:
        inquiry: What is asked.
        candidates: The files whose pieces are scored.
        resolver: Finds what references mean.
        likely: Pieces to start from, with how likely each is; the greatest counts 1.
        kind: The evidence's name.
    """
    sources = _sources(candidates, likely)
    spread = _Spread()
    for source in sources:
        _follow(inquiry, resolver, spread=spread, source=source)
    for source in _second_sources(spread, sources):
        _follow(inquiry, resolver, spread=spread, source=source)
    _find_users(inquiry, resolver, spread=spread, sources=sources)
    pieces: dict[PieceKey, float] = {}
    for (file, definition), value in spread.definitions.items():
        if file in candidates:
            for key in keys(file, pieces_of(candidates[file], definition)):
                if key not in likely:
                    pieces[key] = max(pieces.get(key, 0.0), value)
    evidence = scaled_evidence(kind, pieces=pieces, matched=spread.matched)
    return Evidence(kind, files=spread.files, pieces=evidence.pieces, matched=evidence.matched)


def _sources(candidates: Candidates, likely: Mapping[PieceKey, float]) -> Sequence[_Source]:
    """Return the definitions of the likeliest pieces, the likeliest first."""
    best = sorted(likely, key=lambda key: (-likely[key], key))[:MOST_SOURCES]
    strengths: dict[tuple[int, int], float] = {}
    for file, place in best:
        definition = candidates[file].pieces[place].definition
        strengths.setdefault((file, definition), likely[(file, place)] / likely[best[0]])
    return [_Source(file, place, strength) for (file, place), strength in strengths.items()]


def _second_sources(spread: _Spread, sources: Sequence[_Source]) -> Sequence[_Source]:
    """Return the definitions that the first step reached most, to take a second from."""
    known = {(source.file, source.definition) for source in sources}
    reached = {target: value for target, value in spread.definitions.items() if target not in known}
    best = sorted(reached, key=lambda target: (-reached[target], target))[:_MOST_SECOND]
    return [
        _Source(file, place, _SECOND_HOP * min(1.0, reached[(file, place)])) for file, place in best
    ]


def _used_by(resolver: Resolver, source: _Source) -> Sequence[Reference]:
    """Return the references of a definition, and of short ones in it, which have no pieces of their own."""
    analysis = resolver.analysis(source.file)
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
    """Reach what a definition refers to; a test that refers says ``tested by``."""
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
    """Reach what refers to the sources, where their names are not common."""
    loaded = 0
    for source in sources:
        if source.definition < 0:
            continue
        target = (source.file, source.definition)
        path = resolver.analysis(source.file).definitions[source.definition].path
        name = path[-1] if path else ""
        users = inquiry.corpus.files_referring(name) if name else ()
        if len(users) > _MOST_USERS:
            continue
        unknown = [user for user in users if not resolver.knows(user)]
        loaded += len(unknown)
        if loaded > _MOST_LOADED:
            return
        resolver.load(unknown)
        for user in users:
            _reach_user(inquiry, resolver, spread=spread, user=user, used=(target, source.strength))


def _reach_user(
    inquiry: Inquiry,
    resolver: Resolver,
    *,
    spread: _Spread,
    user: int,
    used: tuple[tuple[int, int], float],
) -> None:
    """Reach the definitions of a file that refer to a definition."""
    target, strength = used
    name = _name(inquiry, resolver, target)
    last = name.rpartition(".")[2]
    for reference in resolver.analysis(user).references:
        if reference.name != last:
            continue
        meant = resolver.resolve(user, reference)
        if target not in meant or (user, reference.definition) == target:
            continue
        is_test = inquiry.kinds[user] is PathKind.TEST
        how = "tests" if is_test else _WORDS[reference.kind][0]
        spread.reach((user, reference.definition), strength / len(meant), f"{how} {name}")
        spread.reach_file(user, _IMPORTED * strength / len(meant), f"{how} {name}")


def _name(inquiry: Inquiry, resolver: Resolver, target: tuple[int, int]) -> str:
    """Return a definition's name; for what stands outside of all, the name of the file."""
    file, place = target
    if place < 0:
        return inquiry.files[file].path.rpartition("/")[2]
    return ".".join(resolver.analysis(file).definitions[place].path)
