"""The files of a fitted prompt: the shown ones in their order, the hidden ones, and a row of the audit for each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from math import inf
from operator import gt
from typing import Final

from aggregate.base.files import View, ViewMode, marked_runs
from aggregate.base.task_budget import FileChoice, FileOrder, Level
from aggregate.code.views import EXCLUDED, is_the_text
from aggregate.prompt.asking import ALL_FILES, Request
from aggregate.prompt.files import File, RenderedFiles, omission_remark
from aggregate.prompt.fit.candidates import Candidate, Candidates
from aggregate.prompt.fit.fit import Fit

_MOST_CALLED: Final = 100  # names to look up
LEVELS: Final = {mode: Level(mode.value) for mode in ViewMode}


def left_out(candidates: Candidates, fit: Fit) -> Iterator[tuple[str, int, str]]:
    """Yield path, estimated tokens and original of the files hidden by a fit, most relevant first."""
    visible = {number for number, state in fit.shown.items() if not state.is_empty}
    for number, file, _, _ in candidates.in_rank_order:
        if number not in visible:
            first = candidates.copies.get(number)
            original = "" if first is None else candidates.by_number[first].file.path
            yield file.path, candidates.estimates[number], original


def called_definitions(candidates: Candidates, fit: Fit) -> list[tuple[str, Sequence[str]]]:
    """Return the definitions that visible code of the likeliest files calls, but that are not shown."""
    corpus = candidates.corpus
    # A view has other lines than its file.
    marks = {
        number: bytes(fit.shown[number].marks)
        for number in (candidates.leading if candidates.has_least else ())
        if number in fit.shown and fit.shown[number].opened.ends
    }
    called_names: dict[str, None] = {}
    analyses = corpus.analyses([*marks], with_references=True)
    for visible, analysis in zip(marks.values(), analyses, strict=True):
        for reference in analysis.references:
            if reference.kind == "call" and any(visible[reference.line - 1 : reference.line]):
                called_names.setdefault(reference.name)
    names_by_path: dict[str, list[str]] = {}
    for name in [*called_names][:_MOST_CALLED]:
        files = corpus.files_defining(name)
        if len(files) != 1 or files[0] not in candidates.by_number:
            continue
        analysis = corpus.analysis(files[0])
        lines = [analysis.definitions[index].signature for index in analysis.named.get(name, ())]
        visible = bytes(fit.shown[files[0]].marks) if files[0] in fit.shown else b""
        if not any(any(visible[line - 1 : line]) for line in lines):
            names_by_path.setdefault(corpus.shown[files[0]].path, []).append(name)
    return [*names_by_path.items()]


def shown_files(
    request: Request, candidates: Candidates, fit: Fit, *, with_notes: bool
) -> RenderedFiles:
    """Return the files shown by a fit, and notes about unreadable files.

    ``with_notes`` adds the notes of a prompt without a budget: on excluded files, and the remarks on files that globs
    left out.
    """
    corpus, doubts = candidates.corpus, request.doubts
    visible = {
        candidates.by_number[number].file.path: candidates.rendered(number, state)
        for number, state in fit.shown.items()
        if not state.is_empty or number in candidates.pinned
    }
    if not visible and candidates.in_rank_order:
        doubts = (*doubts, "no file fits into the budget: allow more")
    # Only files and globs that the user named have notes.
    notes = [file.unreadable() for file in corpus.others if file.item.path != ALL_FILES]
    for number, file in enumerate(corpus.shown if with_notes else ()):
        if number not in candidates.by_number and file.item.auto_aggregate:
            excluded = file._replace(source=corpus.reading(number).source, view=View(EXCLUDED))
            notes.append(excluded.unreadable() if excluded.source.error else excluded)
    remarks = corpus.remarks if with_notes else ()
    notes += [remark.file for remark in remarks if remark.path != ALL_FILES]
    visible.update((file.path, file) for file in notes)
    files = _in_order(candidates, visible.values(), request.file_order)
    warnings = (*doubts, *_warnings(candidates, files))
    return RenderedFiles(tuple(files), warnings, corpus.selection.refused)


def _in_order(candidates: Candidates, visible: Iterable[File], order: FileOrder) -> Sequence[File]:
    selected = candidates.corpus.selection.files
    positions = {file.path: position for position, file in enumerate(selected)}
    files = sorted(visible, key=lambda file: positions.get(file.path, inf))
    if order is FileOrder.CONFIGURED:
        return files
    if order is FileOrder.EDGES:
        # The most relevant file last, the next one first, and so on to the middle.
        ranked = sorted(files, key=lambda file: candidates.ranks.get(file.path, inf))
        return [*ranked[1::2], *ranked[::2][::-1]]
    if candidates.question.is_overview:  # from top to bottom, as a newcomer reads
        shown = candidates.corpus.shown
        first = [shown[number].path for number in candidates.ranking.companions]
        ranks = {path: rank for rank, path in enumerate(first)}
        return sorted(files, key=lambda file: ranks.get(file.path, inf))
    return _by_relevance(candidates, files)


def _by_relevance(candidates: Candidates, files: Sequence[File]) -> list[File]:
    """Return files in the order of their scores; tests and documents follow their source (rule B-8)."""
    ranks = candidates.ranks
    sources = {
        candidates.by_number[number].file.path: reason.matched
        for number, kind in candidates.ranking.companions.items()
        if number in candidates.by_number
        for reason in candidates.by_number[number].ranked.reasons
        if reason.kind == kind
    }
    paths = {file.path for file in files}
    keys: dict[str, tuple[int, int]] = {}
    for path in paths:
        rank = ranks.get(path, len(ranks))
        source = sources.get(path, "")
        # A source precedes its companions, even likelier ones.
        keys[path] = (ranks[source], rank) if source in paths else (rank, -1)
    return sorted(files, key=lambda file: keys[file.path])


def _warnings(candidates: Candidates, files: Sequence[File]) -> tuple[str, ...]:
    corpus = candidates.corpus
    remarks = [*corpus.remarks]
    unreadable = [
        file
        for file in corpus.others
        if file.item.path == ALL_FILES
        and file.path != ALL_FILES  # the glob itself: there is no file at all
    ]
    if unreadable:
        paths = [file.path for file in unreadable]
        remarks.append(omission_remark(unreadable[0].entry, "unreadable", paths))
    sentences = {remark.path: f"{remark.path}: {remark.problem}" for remark in remarks}
    errors = (file.error_sentence for file in files if file.is_error and file.path not in sentences)
    doubts = corpus.notes.warnings(errors, [file.path for file in files])
    beyond = (
        f"focus {place}: there is no such line: the file ends with line {len(opened.texts):,}"
        for number in candidates.pinned
        if (opened := candidates.open(number))
        for place in candidates.pins.files[candidates.by_number[number].file.path]
        if place.first > len(opened.texts)
    )
    return (*candidates.pins.doubts, *beyond, *doubts, *sentences.values())


def choices_of(
    candidates: Candidates,
    fit: Fit,
    *,
    marks: Mapping[int, bytes],
    tokens: Mapping[str, int],
    listed: Set[str],
) -> tuple[FileChoice, ...]:
    """Return the audit rows of all files.

    Args:
        candidates: The ranked files.
        fit: The fit for a larger budget.
        marks: Marks of the visible lines by file number.
        tokens: Tokens of the files' blocks by path.
        listed: Paths listed by name in the section of hidden files.
    """
    ranks = candidates.ranks
    choices: list[FileChoice] = []
    for file in candidates.corpus.selection.files:
        path, size = file.path, tokens.get(file.path, 0)
        if path not in ranks:
            if path == ALL_FILES:  # a glob without matches
                continue
            is_excluded = file.entry.view_mode is ViewMode.NONE or not file.item.auto_aggregate
            level = Level.NONE if is_excluded else Level.LEFT_OUT
            most = LEVELS[file.entry.view_mode]
            choice = FileChoice(path, file.item.path, level, most, tokens=size)
        else:
            candidate = candidates.in_rank_order[ranks[path]]
            choice = _hidden_choice(candidates, candidate, ranks[path] + 1)
            if candidate.number in fit.shown:
                later = bytes(fit.shown[candidate.number].marks)
                now = marks.get(candidate.number, b"")
                choice = shown_choice(candidates, choice, candidate, now, later)
                choice = choice._replace(tokens=size)
        choices.append(choice._replace(level=Level.NAME) if path in listed else choice)
    return tuple(choices)


def _hidden_choice(candidates: Candidates, candidate: Candidate, rank: int) -> FileChoice:
    number, file, mode, ranked = candidate
    is_scored = candidates.request.task is not None
    return FileChoice(
        file.path,
        file.entry.item.path,
        Level.LEFT_OUT,
        LEVELS[mode],
        score=ranked.score if is_scored else None,
        rank=rank if is_scored else None,
        reasons=ranked.reasons,
        size=candidates.estimates[number],
    )


def shown_choice(
    candidates: Candidates, choice: FileChoice, candidate: Candidate, marks: bytes, later: bytes
) -> FileChoice:
    """Return a candidate's audit row with its visible lines; ``later`` are those with a larger budget."""
    number = candidate.number
    return choice._replace(
        level=level_of(candidates, candidate, marks),
        pinned=number in candidates.pinned,
        definitions=_definitions_in_full(candidates, candidate, marks),
        next=level_of(candidates, candidate, later) if sum(later) > sum(marks) else None,
        content_hash=candidates.corpus.content_hash(number).hex() if any(marks) else "",
        lines=tuple(marked_runs(marks)),
    )


def level_of(candidates: Candidates, candidate: Candidate, marks: bytes) -> Level:
    opened = candidates.opened.get(candidate.number)
    if opened is None or not any(marks):
        return Level.LEFT_OUT
    level = LEVELS[candidate.mode]
    if 0 not in opened.shown_or_blank(marks):
        return Level.FOCUSED if opened.is_shortened else level
    if level is not Level.FULL:
        return Level.OUTLINE
    definitions = candidates.corpus.analysis(candidate.number).definitions
    signatures = chain.from_iterable(
        opened.find(definition.signature_lines) for definition in definitions
    )
    has_body = any(map(gt, marks, opened.whole(signatures)))
    return Level.FOCUSED if has_body else Level.OUTLINE


def _definitions_in_full(
    candidates: Candidates, candidate: Candidate, marks: bytes
) -> tuple[str, ...]:
    opened = candidates.opened.get(candidate.number)
    if opened is None or not any(marks) or not is_the_text(candidate.file.path, candidate.mode):
        return ()
    visible = opened.shown_or_blank(marks)
    names = (
        ".".join(definition.path)
        for definition in candidates.corpus.analysis(candidate.number).definitions
        if visible.find(0, definition.signature - 1, definition.last) < 0
    )
    return tuple(dict.fromkeys(names))
