"""What was decided about each file of a prompt with a task or a budget, as the audit tells it."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from aggregate.budget.lines import marked_runs
from aggregate.compose.asking import ALL_FILES
from aggregate.compose.candidate import LEVELS, Candidate
from aggregate.compose.candidates import Candidates
from aggregate.compose.selection import ResolvedFile
from aggregate.models.choice import FileChoice, Level
from aggregate.models.row_maker import row_maker
from aggregate.models.view import ViewMode

_CHOICE: Final = row_maker(FileChoice)


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
    in_order = candidates.in_rank_order
    ranks = candidates.ranks
    hidden = candidates.hidden_choices
    choices: list[FileChoice] = []
    for file in files:
        if file.is_remark or file.path == ALL_FILES:  # the glob itself, which matched nothing
            continue
        place = ranks.get(file.path)
        if place is None:
            choices.append(_outsider(file, states.tokens.get(file.path, 0)))
            continue
        candidate = in_order[place - 1]
        rank = place if is_scored else None
        if candidate.number in states.later:
            choices.append(_choice(candidate, candidates, states, rank=rank))
            continue
        # As most are: nothing of them is shown, whatever the budget.
        key = candidate.number, is_scored
        if key not in hidden:
            hidden[key] = _hidden(rank, candidate, candidates)
        choices.append(hidden[key])
    return tuple(choices)


def _hidden(rank: int | None, candidate: Candidate, candidates: Candidates) -> FileChoice:
    """Return the choice about a candidate of which nothing is shown; a large project has a hundred thousand."""
    number, file, mode, (_, score, _, reasons) = candidate
    path, entry = file.path, file.entry.item.path
    content_hash, size = candidates.content_hash(number), candidates.estimates[number]
    told = None if rank is None else score
    level, most = Level.NAME, LEVELS[mode]
    return _CHOICE(
        (path, entry, level, most, False, 0, told, rank, reasons, (), None, content_hash, size, ())
    )


def _choice(
    candidate: Candidate, candidates: Candidates, states: FitStates, *, rank: int | None
) -> FileChoice:
    number, path = candidate.number, candidate.file.path
    marks, later = states.shown.get(number, b""), states.later[number]
    return _hidden(rank, candidate, candidates)._replace(
        level=candidates.level(number, marks),
        pinned=number in states.pinned,
        tokens=states.tokens.get(path, 0),
        definitions=candidates.definitions_in_full(number, marks),
        next=candidates.level(number, later) if sum(later) > sum(marks) else None,
        lines=tuple(marked_runs(marks)),
    )


def _outsider(file: ResolvedFile, tokens: int) -> FileChoice:
    """Return the choice about a file that could not enter: excluded, unreadable, or binary."""
    is_excluded = file.view_mode is ViewMode.NONE or not file.item.auto_aggregate
    level = Level.NONE if is_excluded else Level.LEFT_OUT
    most = Level(file.view_mode.value)
    return FileChoice(file.path, file.item.path, level, most, tokens=tokens)
