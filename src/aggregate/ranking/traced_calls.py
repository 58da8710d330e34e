"""What the functions of a traceback had called before it failed: the fault may lie in one that has returned."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from aggregate.ranking.evidence import Evidence, PieceKey
from aggregate.ranking.file_analysis import FileAnalysis, Reference
from aggregate.ranking.inquiry import Candidates, Inquiry, keys, pieces_of
from aggregate.ranking.mentions import traced_files
from aggregate.ranking.references import Resolver

_NEXT_FRAME: Final = 0.9
"""What the calls of the next frame count of those of the one before: what an outer function made is used within."""
_EARLIER_LINE: Final = 0.5
"""What a call above the frame's line in the same function counts of one on it."""
_MOST_CALLS: Final = 40
"""Calls that are followed, the innermost frame's first: those of a few dozen frames in the project."""


class TracedCall(NamedTuple):
    """A definition that a frame of a traceback had called.

    Attributes:
        file: Its file.
        definition: Its place.
        value: How much that says, 1 for a call on the line of the innermost frame.
        caller: The place of the call, in words for the audit.
    """

    file: int
    definition: int
    value: float
    caller: str


def traced_calls(inquiry: Inquiry, resolver: Resolver) -> tuple[TracedCall, ...]:
    """Return what the calls on and above the frames' lines mean, where it is clear.

    Args:
        inquiry: What is asked.
        resolver: Finds what references mean.
    """
    calls: list[TracedCall] = []
    value = 1.0
    for place, files, _ in traced_files(inquiry):
        if not place.line or len(files) > 1:
            continue
        file = files[0]
        for reference in _calls_until(resolver.analysis(file), place.line):
            if len(calls) >= _MOST_CALLS:
                return tuple(calls)
            targets = resolver.resolve(file, reference)
            share = 1.0 if reference.line == place.line else _EARLIER_LINE
            caller = f"called at {inquiry.files[file].path}:{reference.line}"
            calls += [
                TracedCall(*target, value * share / len(targets), caller) for target in targets
            ]
        value *= _NEXT_FRAME
    return tuple(calls)


def _calls_until(analysis: FileAnalysis, line: int) -> Iterator[Reference]:
    """Yield the calls on a line, then those above it in the same definition, the nearest first."""
    calls = [reference for reference in analysis.references if reference.kind == "call"]
    yield from (reference for reference in calls if reference.line == line)
    around = max(
        (
            place
            for place, definition in enumerate(analysis.definitions)
            if definition.first <= line <= definition.last
        ),
        default=-1,
    )
    if around >= 0:
        above = [each for each in calls if each.definition == around and each.line < line]
        yield from reversed(above)


def called_before(candidates: Candidates, calls: tuple[TracedCall, ...]) -> Evidence:
    """Return the pieces of what a traceback's frames had called."""
    pieces: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for call in calls:
        if call.file not in candidates:
            continue
        matched.setdefault(call.file, call.caller)
        for key in keys(call.file, pieces_of(candidates[call.file], call.definition)):
            pieces[key] = max(pieces.get(key, 0.0), call.value)
    return Evidence("called before", pieces=pieces, matched=matched)
