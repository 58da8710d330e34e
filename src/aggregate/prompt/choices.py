"""What was decided about each file of a prompt with a task or a budget, as the audit tells it."""

from collections.abc import Mapping, Sequence, Set
from itertools import count, repeat
from typing import Final, NamedTuple

from aggregate.base.values import FileChoice, Level, ViewMode, row_maker
from aggregate.prompt.candidates import LEVELS, Candidate, Candidates
from aggregate.prompt.fit.lines import marked_runs
from aggregate.prompt.focus import ALL_FILES
from aggregate.prompt.selection import ResolvedFile

_CHOICE: Final = row_maker(FileChoice)


class FitStates(NamedTuple):
    """Which lines a fit shows of each file, by the files' numbers.

    Attributes:
        shown: As the prompt is.
        later: With some more of the budget.
        pinned: The files that are shown whatever they cost.
        named: The paths of those of which the prompt has the name and nothing else.
        tokens: Of each file's segment, by its path.
    """

    shown: Mapping[int, bytes]
    later: Mapping[int, bytes]
    pinned: frozenset[int]
    named: Set[str]
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
    hidden = _hidden_choices(candidates, is_scored=is_scored)
    shown = {
        candidate.file.path: candidate
        for candidate in map(candidates.by_number.__getitem__, states.later)
    }
    choices: list[FileChoice] = []
    for file in files:
        if file.is_remark or file.path == ALL_FILES:  # the glob itself, which matched nothing
            continue
        path = file.path
        if path in shown:
            choice = _choice(shown[path], hidden[path], candidates, states)
        elif path in hidden:  # as most are: nothing of them is shown, whatever the budget
            choice = hidden[path]
        else:
            choice = _outsider(file, states.tokens.get(path, 0))
        choices.append(choice._replace(level=Level.NAME) if path in states.named else choice)
    return tuple(choices)


def _hidden_choices(candidates: Candidates, *, is_scored: bool) -> Mapping[str, FileChoice]:
    """Return by path the choices about candidates of which nothing is shown; they are kept for later budgets."""
    known = candidates.hidden_choices.get(is_scored)
    if known is None:
        known = candidates.hidden_choices[is_scored] = _hidden(candidates, is_scored=is_scored)
    return known


def _hidden(candidates: Candidates, *, is_scored: bool) -> Mapping[str, FileChoice]:
    """Make these choices column by column, since a large project has a hundred thousand."""
    in_order = candidates.in_rank_order
    files = [candidate.file for candidate in in_order]
    ranked = [candidate.ranked for candidate in in_order]
    numbers = [candidate.number for candidate in in_order]
    paths = [file.path for file in files]
    columns = (
        paths,
        [file.entry.item.path for file in files],
        repeat(Level.LEFT_OUT),
        [LEVELS[candidate.mode] for candidate in in_order],
        repeat(False),
        repeat(0),
        [entry.score for entry in ranked] if is_scored else repeat(None),
        count(1) if is_scored else repeat(None),
        [entry.reasons for entry in ranked],
        repeat(()),
        repeat(None),
        map(candidates.content_hash, numbers),
        map(candidates.estimates.__getitem__, numbers),
        repeat(()),
    )
    return dict(zip(paths, map(_CHOICE, zip(*columns, strict=False)), strict=True))


def _choice(
    candidate: Candidate, hidden: FileChoice, candidates: Candidates, states: FitStates
) -> FileChoice:
    number, path = candidate.number, candidate.file.path
    marks, later = states.shown.get(number, b""), states.later[number]
    return hidden._replace(
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
    most = LEVELS[file.view_mode]
    return FileChoice(file.path, file.item.path, level, most, tokens=tokens)
