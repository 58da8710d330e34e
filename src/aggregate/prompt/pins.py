"""What a prompt with a budget shows whatever it costs (rule B-4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from aggregate.base.values import Level, Place, SentFile
from aggregate.prompt.candidates import Candidates
from aggregate.prompt.fit.fit import Fit
from aggregate.prompt.fit.kept_levels import WantedFile, keep_levels
from aggregate.prompt.fit.lines import ALL_LINES, Run, marked_runs
from aggregate.prompt.fit.steps import signature_run
from aggregate.prompt.focus import FOCUS_TIER, FocusIndex, unknown_focus
from aggregate.prompt.request import Request
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking import DefinedName

_LONGEST = 60
"""Lines of a definition with others in it that is pinned as a whole; a place between the methods of a class of a
thousand lines does not mean them all."""
_CONTEXT = 12
"""Lines on each side of a place in a longer one."""


@dataclass(frozen=True, slots=True)
class Pins:
    """Files and places that are shown whatever they cost.

    Attributes:
        whole: Paths of files that are shown in full.
        places: The places that the user points at, by the paths of their files.
        doubts: A sentence for each place that is none of the prompt's files.
    """

    whole: frozenset[str]
    places: dict[str, tuple[Place, ...]]
    doubts: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: Request, files: Sequence[ResolvedFile]) -> Self:
        """Return the pins of a request among its files."""
        forced = (
            file.path
            for file in files
            if (file.item.force_full or file.entry.tier == FOCUS_TIER) and file.item.auto_aggregate
        )
        whole = set(forced)
        places: dict[str, tuple[Place, ...]] = {}
        doubts: list[str] = []
        focus = request.task.focus if request.task else ()
        named = {place.path for place in focus}
        wanted = (*focus, *(Place(path) for path in request.focus_files if path not in named))
        index = FocusIndex((file.path, file.item.path) for file in files if wanted)
        for place in wanted:
            paths = [files[number].path for number in index.places(place.path)]
            # Of a Tier 3 prompt's focus files the prompt itself tells.
            if not paths and place.path not in request.focus_files:
                doubts.append(unknown_focus(place.path, [file.path for file in files]))
            for path in paths:
                if place.first:
                    places[path] = (*places.get(path, ()), place)
                else:
                    whole.add(path)
        return cls(frozenset(whole), places, tuple(doubts))

    def runs(self, candidates: Candidates) -> dict[int, tuple[Run, ...]]:
        """Return the lines that are shown whatever they cost, by the numbers of their files."""
        runs: dict[int, tuple[Run, ...]] = {}
        if not self.whole and not self.places:
            return runs
        for number, candidate in sorted(candidates.by_number.items()):
            path = candidate.file.path
            if path in self.whole:
                runs[number] = (ALL_LINES,)
            elif places := self.places.get(path):
                definitions = candidates.analysis(number).definitions
                runs[number] = tuple(runs_around(places, definitions))
        return runs


def runs_around(places: Sequence[Place], definitions: Sequence[DefinedName]) -> Iterator[Run]:
    """Yield the lines of places and the innermost definitions around them, with the signatures they stand in."""
    for place in places:
        yield place.first, place.last
        touching = [
            number
            for number, definition in enumerate(definitions)
            if definition.first <= place.last and definition.last >= place.first
        ]
        outer = {definitions[number].outer for number in touching}
        for number in touching:
            definition = definitions[number]
            yield signature_run(definition)
            if number not in outer:
                yield _lines_around(place, number, definitions)


def _lines_around(place: Place, number: int, definitions: Sequence[DefinedName]) -> Run:
    """Return the lines of a definition around a place in it, all unless it is long and holds others."""
    definition = definitions[number]
    inner = [other for other in definitions if other.outer == number]
    if not inner or definition.last - definition.first < _LONGEST:
        return definition.first, definition.last
    before = (other.last + 1 for other in inner if other.last < place.first)
    behind = (other.first - 1 for other in inner if other.first > place.last)
    first = max(definition.first, place.first - _CONTEXT, *before)
    return first, min(definition.last, place.last + _CONTEXT, *behind)


def kept_lines(
    sent: Sequence[SentFile],
    candidates: Candidates,
    fit: Fit,
    *,
    tokens: Mapping[str, int],
    pinned: frozenset[int],
    room: int,
) -> dict[int, tuple[Run, ...]]:
    """Return the lines that stay as they were sent, by the numbers of their files, as ``Fit.keep`` takes them.

    Args:
        sent: The files of the last prompt, in the order in which they stood.
        candidates: All candidates.
        fit: What would be shown for the new question alone.
        tokens: Of each file's block in that, by its path.
        pinned: The files that are shown whatever they cost.
        room: The most tokens of all files' blocks.
    """
    numbers = {each.file.path: each.number for each in candidates.in_rank_order}
    wanted = list(_wanted(candidates, fit, tokens, pinned, {file.path for file in sent}))
    keeping = keep_levels(sent, wanted, room=room)
    kept: dict[int, tuple[Run, ...]] = {}
    for file in keeping.files:
        number = numbers[file.path]
        if runs := _runs(file, candidates.content_hash(number)):
            kept[number] = runs
    return kept


def _wanted(
    candidates: Candidates,
    fit: Fit,
    tokens: Mapping[str, int],
    pinned: frozenset[int],
    sent: set[str],
) -> Iterator[WantedFile]:
    for each in candidates.in_rank_order:
        state = fit.shown.get(each.number)
        path, score, is_pinned = each.file.path, each.ranked.score, each.number in pinned
        if state is None or state.is_empty:
            content_hash = candidates.content_hash(each.number) if path in sent else ""
            yield WantedFile(
                path, Level.LEFT_OUT, score=score, content_hash=content_hash, pinned=is_pinned
            )
            continue
        marks = bytes(state.marks)
        yield WantedFile(
            path,
            candidates.level(each.number, marks),
            tokens.get(path, 0),
            score,
            tuple(marked_runs(marks)),
            candidates.content_hash(each.number),
            is_pinned,
        )


def _runs(file: SentFile, content_hash: str) -> tuple[Run, ...]:
    """Return the lines of a file that stays; none of one that was changed, unless all of it was shown."""
    if file.content_hash == content_hash:
        return file.lines
    return (ALL_LINES,) if file.level is Level.FULL else ()
