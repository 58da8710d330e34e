"""What was decided about each file of a prompt with a task or a budget, as the audit tells it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aggregate.budget.lines import marked_runs
from aggregate.compose.candidates import Candidate, Candidates
from aggregate.compose.selection import ResolvedFile
from aggregate.models.choice import FileChoice, Level
from aggregate.models.view import ViewMode


class FitStates(NamedTuple):
    """Which lines a fit shows of each file, by the files' numbers.

    Attributes:
        shown: As the prompt is.
        later: With some more of the budget.
        pinned: The files that are shown whatever they cost.
        tokens: Of each file's segment, by its path.
    """

    shown: Mapping[int, bytes]
    later: Mapping[int, bytes]
    pinned: frozenset[int]
    tokens: Mapping[str, int]


def choices_of(
    files: Sequence[ResolvedFile],
    candidates: Candidates,
    states: FitStates,
    *,
    is_scored: bool,
) -> tuple[FileChoice, ...]:
    """Return what was decided about each of ``files``, in their order; remarks on globs are none.

    Args:
        files: The selection.
        candidates: Those that could enter.
        states: What the fit shows.
        is_scored: Whether there is a task, so that scores mean something.
    """
    ranked = {
        candidate.file.path: (rank, candidate)
        for rank, candidate in enumerate(candidates.in_rank_order, start=1)
    }
    choices: list[FileChoice] = []
    for file in files:
        if file.is_remark:
            continue
        placed = ranked.get(file.path)
        if placed is None:
            choices.append(_outsider(file, states.tokens.get(file.path, 0)))
        else:
            rank, candidate = placed
            choices.append(_choice(candidate, candidates, states, rank=rank if is_scored else None))
    return tuple(choices)


def _choice(
    candidate: Candidate, candidates: Candidates, states: FitStates, *, rank: int | None
) -> FileChoice:
    number, path = candidate.number, candidate.file.path
    if number not in states.later:  # as most are: nothing of them is shown
        return FileChoice(
            path,
            candidate.file.item.path,
            Level.NAME,
            candidate.most,
            score=None if rank is None else candidate.ranked.score,
            rank=rank,
            reasons=candidate.ranked.reasons,
            content_hash=candidates.content_hash(number),
            size=candidates.estimate(number),
        )
    marks = states.shown.get(number, b"")
    level = candidates.level(number, marks)
    later = candidates.level(number, states.later.get(number, b""))
    grows = sum(states.later.get(number, b"")) > sum(marks)
    return FileChoice(
        path=path,
        entry=candidate.file.item.path,
        level=level,
        most=candidate.most,
        pinned=number in states.pinned,
        tokens=states.tokens.get(path, 0),
        score=None if rank is None else candidate.ranked.score,
        rank=rank,
        reasons=candidate.ranked.reasons,
        definitions=candidates.definitions_in_full(number, marks),
        next=later if grows else None,
        content_hash=candidates.content_hash(number),
        size=candidates.estimate(number),
        lines=tuple(marked_runs(marks)),
    )


def _outsider(file: ResolvedFile, tokens: int) -> FileChoice:
    """Return the choice about a file that could not enter: excluded, unreadable, or binary."""
    is_excluded = file.view_mode is ViewMode.NONE
    level = Level.NONE if is_excluded else Level.LEFT_OUT
    most = Level(file.view_mode.value)
    return FileChoice(file.path, file.item.path, level, most, tokens=tokens)
