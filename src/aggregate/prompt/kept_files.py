"""What of the last prompt of a discussion stays in the next one, in terms of a fit (rule B-9)."""

from collections.abc import Iterator, Mapping, Sequence

from aggregate.base.values import Level, SentFile
from aggregate.prompt.candidates import Candidates
from aggregate.prompt.fit.fit import Fit
from aggregate.prompt.fit.kept_levels import WantedFile, keep_levels
from aggregate.prompt.fit.lines import ALL_LINES, Run, marked_runs


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
