"""The sections of a prompt beside its files: all of them, or each within its share of a budget (rule B-5)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aggregate.base.files import Narrowing
from aggregate.base.messages import shorten
from aggregate.base.task_budget import Budget, Finish
from aggregate.base.text import clean_issue, fence, first_line, heading_text
from aggregate.prompt.asking import Request
from aggregate.prompt.document import (
    SEPARATOR,
    Cut,
    Parts,
    Section,
    Segment,
    Stability,
    file_heading,
)
from aggregate.prompt.sections.discussion_section import fit_history, safe_discussion_segments
from aggregate.prompt.sections.fitted import (
    CHARACTERS,
    NO_ROOM,
    Count,
    FittedSection,
    attached_section,
    cut_middle,
    fit_given,
    instructions_section,
    largest_size,
    quoted,
    tokens_of,
)

_OF_GIVEN, _OF_CHANGES, _OF_TREE = 0.1, 0.25, 0.12  # largest parts of the room beside the pins
_LEAST_HUNK = 200  # characters of a useful hunk
TASK = "the task"
_LONGEST_NAME = 100  # characters of a project's name
_LONGEST_TASK = 200  # characters of the task's first line at the top
_DIGITS = 12  # of a commit's id
_MARKS = (
    "A line `...`, or a comment such as `# ...12` of 12 lines, stands for lines that are left out."
)
_OVERVIEW = (
    " This is an overview: the tree with what its folders hold, what the project says of itself, how it is built and "
    "where it starts, and the central definitions of each large folder."
)
_SELECTED = " It covers only the files that the configuration or the command line selects."

Fitted = Mapping[Section, FittedSection]


def whole_sections(request: Request) -> Parts:
    """Return the sections of a prompt without a budget: discussion, results and the user's texts."""
    parts: dict[Section, Sequence[Segment]] = {
        Section.HISTORY: safe_discussion_segments(request.history)
    }
    if finish := request.finish:
        parts[Section.INSTRUCTIONS] = instructions_section(finish.instructions)
        parts[Section.ATTACHED] = attached_section(finish.attached)
    if request.results:
        parts[Section.RESULTS] = _results_section(request, None, len).segments
    return parts


def _results_section(request: Request, limit: int | None, count: Count) -> FittedSection:
    # Few prompts have results.
    from aggregate.prompt.sections.subagent_results import fit_results, whole_results

    if limit is None:
        return whole_results(request.results)
    return fit_results(request.results, limit, count, is_readable=request.reads_results)


def frame_of(request: Request, *, commit: str, note: str = "") -> Parts:
    """Return the first and last sections of a budgeted prompt.

    See rules T-7 and T-12. ``commit`` is the last commit's id, ``note`` a sentence about the choice of files, for
    example if it is a guess.
    """
    task, finish = request.task, request.finish
    if finish is None or not finish.has_frame or not (task or request.is_structural):
        return {}
    overview = ""
    if request.is_structural:
        is_whole = request.is_overview and request.narrowing == Narrowing()
        overview = _OVERVIEW if is_whole else f"{_OVERVIEW}{_SELECTED}"
    title = heading_text(shorten(request.title, _LONGEST_NAME))
    project = f"the project {title}" if request.title else "a project"
    text = f"Parts of {project}.{overview} {_MARKS}"
    first = [Segment(Section.PROJECT, text, Stability.STABLE)]
    if task is None or request.is_review:
        return {Section.PROJECT: first}
    words = "" if request.history else heading_text(first_line(task.text, _LONGEST_TASK))
    if words:
        top = f"- Task, in full at the end: {words}"
        first.append(Segment(Section.PROJECT, top, Stability.VOLATILE))
    end = task_segment(clean_issue(task.text), commit=commit, since=finish.changes, note=note)
    return {Section.PROJECT: first, Section.TASK: (end,) if end else ()}


def task_segment(
    words: str, *, commit: str = "", since: str = "", note: str = ""
) -> Segment | None:
    """Return the section of the task.

    It is at the end of a prompt. Without a task return ``None``. ``commit`` is the last commit's id, ``since`` the
    revision of shown changes. ``note`` is an additional sentence, for example if the choice of files is a guess.
    """
    changes = f", with the changes since {heading_text(since)}" if since else ""
    revision = f"Revision: {commit[:_DIGITS]}{changes}" if commit else ""
    parts = [part for part in (revision, note, quoted(words.strip())) if part]
    text = "\n\n".join(["## Task", *parts])
    return Segment(Section.TASK, text, Stability.VOLATILE, TASK) if parts else None


class ChangedFile(NamedTuple):
    path: str
    summary: str  # such as ``"+12 -3"``
    hunks: tuple[str, ...] = ()  # as from ``diff -u``


class RevisionChanges(NamedTuple):
    """The changes since a revision (rule T-8)."""

    since: str = ""  # the revision
    files: Sequence[ChangedFile] = ()  # listed files, the likeliest first
    others: int = 0  # number of other changed files


@dataclass(frozen=True, slots=True)
class Shares:
    """The sections of a budgeted prompt other than files, each with its share.

    Attributes:
        parts: The largest part of the tokens, without those of pinned files, that each section with a content may use.
        least: The sections in their smallest size.
    """

    request: Request
    budget: Budget
    count: Count
    changes: RevisionChanges = RevisionChanges()  # noqa: RUF009 - an immutable value
    # Fits the tree of an overview to a limit.
    fit_tree: Callable[[int, Count], FittedSection] | None = None
    parts: Mapping[Section, float] = field(init=False)
    least: Fitted = field(init=False)

    def __post_init__(self) -> None:
        request, finish = self.request, self.request.finish or Finish()
        contents = (
            (Section.TREE, _OF_TREE, self.fit_tree),
            (Section.HISTORY, self.budget.history, request.history),
            (Section.RESULTS, self.budget.results, request.results),
            (Section.INSTRUCTIONS, _OF_GIVEN, finish.instructions),
            (Section.ATTACHED, _OF_GIVEN, finish.attached),
            (Section.CHANGES, _OF_CHANGES, self.changes.files or self.changes.others),
        )
        parts = {section: part for section, part, content in contents if content}
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "least", self.within(0))

    def reserved(self, room: int) -> int:
        """Return the tokens reserved for the sections.

        They are a part of ``room``, in addition to the sections' smallest size. Unused parts count too, so that the
        room for files is the same in every turn.
        """
        pairs = [(part, self.least[section]) for section, part in self.parts.items()]
        return sum(min(int(room * part), least.needed - least.tokens) for part, least in pairs)

    def within(self, room: int) -> Fitted:
        return {
            section: self._fit(section, int(room * part)) for section, part in self.parts.items()
        }

    def with_more(self, sections: Fitted, room: int) -> Fitted:
        """Return the sections with ``room`` more tokens, given to the first sections first."""
        fitted = {}
        for name in self.parts:
            section = sections[name]
            more = self._fit(name, section.tokens - self.least[name].tokens + room)
            fitted[name] = max(section, more, key=lambda fitted: fitted.tokens)
            room -= fitted[name].tokens - section.tokens
        return fitted

    def _fit(self, section: Section, limit: int) -> FittedSection:
        """Return a section with ``limit`` tokens beyond its smallest size."""
        request, count = self.request, self.count
        finish = request.finish or Finish()
        if section is Section.TREE and self.fit_tree:
            return self.fit_tree(limit, count)
        if section is Section.HISTORY:
            return fit_history(request.history, limit, count)
        if section is Section.INSTRUCTIONS:
            return fit_given(instructions_section, finish.instructions, limit, count)
        if section is Section.ATTACHED:
            return fit_given(attached_section, finish.attached, limit, count)
        if section is Section.CHANGES:
            return _fit_changes(self.changes, limit, count)
        return _results_section(request, limit, count)


def _fit_changes(changes: RevisionChanges, limit: int, count: Count) -> FittedSection:
    """Return the section of changes in ``limit`` tokens: all files, and hunks of the likeliest ones."""
    prices = {hunk: count(f"{hunk}\n") for file in changes.files for hunk in file.hunks}
    frames = [count(_hunks_block(file.path, ()) + SEPARATOR) for file in changes.files]
    spent = tokens_of(_changes_segments(changes), count)
    needed = spent + sum(prices.values()) + sum(frames)
    while changes.files and spent > limit:
        number = len(changes.files) // 2
        omitted = changes.others + len(changes.files) - number
        changes = changes._replace(files=changes.files[:number], others=omitted)
        spent = tokens_of(_changes_segments(changes), count)
    shown: list[list[str]] = [[] for _ in changes.files]
    waiting: list[tuple[int, int, str]] = []  # number of the file, position, and hunk
    for number, file in enumerate(changes.files):
        for hunk in file.hunks:
            price = prices[hunk] + (0 if shown[number] else frames[number])
            if spent + price <= limit:
                shown[number].append(hunk)
                spent += price
            else:
                waiting.append((number, len(shown[number]), hunk))
    if waiting:  # a part of the first waiting hunk takes the rest of the share
        number, index, hunk = waiting[0]
        shown[number][index:index] = _part_of(hunk, (number, index), changes, shown, limit, count)
    segments = _changes_segments(changes, shown)
    tokens = tokens_of(segments, count)
    if tokens > limit:  # a longer fence, or not even the first sentence fits
        segments, tokens = (), 0
    cut = Cut("changes", f"{len(waiting):,} hunks", needed - tokens, NO_ROOM)
    return FittedSection(segments, tokens, needed, (cut,) if waiting or not segments else ())


def _part_of(
    hunk: str,
    place: tuple[int, int],
    changes: RevisionChanges,
    shown: Sequence[Sequence[str]],
    limit: int,
    count: Count,
) -> list[str]:
    """Return a hunk's beginning and end within the section's ``limit``.

    ``place`` is the number of its file and its position there. The list is empty if too few lines fit.
    """
    number, index = place
    before, behind = shown[number][:index], shown[number][index:]

    def with_part(size: int) -> tuple[Segment, ...]:
        hunks = [*before, *([cut_middle(hunk, size)] if size else []), *behind]
        return _changes_segments(changes, [*shown[:number], hunks, *shown[number + 1 :]])

    room = limit - tokens_of(with_part(0), count)
    size = largest_size(with_part, min(len(hunk), limit * CHARACTERS) - 1, room, count)
    return [cut_middle(hunk, size)] if size >= _LEAST_HUNK else []


def _changes_segments(
    changes: RevisionChanges, shown: Sequence[Sequence[str]] = ()
) -> tuple[Segment, ...]:
    """Return the section of changes with the ``shown`` hunks of each file, by default none."""
    more = sum(len(file.hunks) for file in changes.files) - sum(map(len, shown))
    since = heading_text(changes.since)
    sentences = (
        f"What has changed since {since}, committed or not; the files above hold it already."
    )
    if more:
        sentences += f" {more:,} more {'hunk is' if more == 1 else 'hunks are'} left out."
    lines = [heading_text(f"- {file.path}: {file.summary}") for file in changes.files]
    if changes.others:
        lines.append(f"- {changes.others:,} more file{'s' if changes.others > 1 else ''}")
    parts = [(SEPARATOR.join(["## Changes", sentences, "\n".join(lines)]), "")]
    for file, hunks in zip(changes.files, shown, strict=False):
        if hunks:
            parts.append((_hunks_block(file.path, hunks), file.path))
    return tuple(Segment(Section.CHANGES, text, Stability.VOLATILE, path) for text, path in parts)


def _hunks_block(path: str, hunks: Sequence[str]) -> str:
    return fence("\n".join(hunks), "diff", before=f"{file_heading(path)} (diff)\n\n")
