"""The sections of a budgeted prompt beside its files, each within its share (rule B-5)."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from aggregate.base.files import Narrowing
from aggregate.base.redaction import Redaction, redact
from aggregate.base.task_budget import Budget, Finish
from aggregate.base.text import clean_issue, fence, heading_text
from aggregate.project.git import FileChange, find_head, read_changes
from aggregate.prompt.asking import Request
from aggregate.prompt.document import SEPARATOR, Cut, Section, Segment, Stability
from aggregate.prompt.files import file_heading, own_output_filter
from aggregate.prompt.sections import (
    NO_ROOM,
    Count,
    FittedSection,
    Tree,
    attached_section,
    cut_middle,
    fit_given,
    fit_history,
    instructions_section,
    largest_size,
    project_segment,
    task_line,
    task_segment,
    tokens_of,
)

ALL = 1 << 62  # more tokens than any prompt
_OF_GIVEN, _OF_CHANGES, _OF_TREE = 0.1, 0.25, 0.12  # largest parts of the room beside the pins

_LEAST_HUNK = 200  # characters of a useful hunk
_CHARACTERS = 8  # upper bound of characters per token

Fitted = Mapping[Section, FittedSection]


def frame_of(request: Request, *, note: str = "") -> dict[Section, Sequence[Segment]]:
    """Return the first and last sections of a budgeted prompt.

    See rules T-7 and T-12. ``note`` is a sentence about the choice of files, for example if it is a guess.
    """
    task, finish = request.task, request.finish
    if request.budget is None or finish is None or not finish.has_frame:
        return {}
    is_overview = request.is_structural
    is_whole = request.is_overview and request.narrowing == Narrowing()
    first = (project_segment(request.title, is_overview=is_overview, is_whole=is_whole),)
    if task is None:
        return {Section.PROJECT: first} if is_overview else {}
    if request.is_review:
        return {Section.PROJECT: first}
    head = find_head(str(request.base_dir))
    commit = head.commit if head else ""
    end = task_segment(clean_issue(task.text), commit=commit, since=finish.changes, note=note)
    top = None if request.history else task_line(task.text)
    return {Section.PROJECT: (*first, top) if top else first, Section.TASK: (end,) if end else ()}


class ChangedFile(NamedTuple):
    path: str
    summary: str  # such as ``"+12 -3"``
    hunks: tuple[str, ...] = ()  # as from ``diff -u``


class RevisionChanges(NamedTuple):
    """The changes since a revision (rule T-8)."""

    since: str = ""  # the revision
    files: Sequence[ChangedFile] = ()  # listed files, the likeliest first
    others: int = 0  # number of other changed files


def changes_for(request: Request, ranks: Mapping[str, int], generated: Set[str]) -> RevisionChanges:
    """Return the changed candidates, likeliest first, deleted files, and the number of others.

    ``ranks`` are the candidates' positions by path, ``generated`` the paths of generated ones.
    """
    if not (request.finish and request.finish.changes):
        return RevisionChanges()
    base_dir = request.base_dir
    is_ours = own_output_filter(base_dir, request.output_dir, request.namespace, request.shown_from)
    changes = read_changes(str(base_dir), request.finish.changes)
    changes = [change for change in changes if not is_ours(change.path)]
    listed = [change for change in changes if change.path in ranks or change.kind == "deleted"]
    listed.sort(key=lambda change: ranks.get(change.path, len(ranks)))
    files = [
        _changed_file(change, request.redaction, is_generated=change.path in generated)
        for change in listed
    ]
    return RevisionChanges(request.finish.changes, files, len(changes) - len(listed))


def _changed_file(change: FileChange, redaction: Redaction, *, is_generated: bool) -> ChangedFile:
    """Return a changed file; generated, binary and deleted ones have no hunks."""
    lines = f"+{change.added} -{change.removed}" if change.hunks else ""
    kinds = (change.kind, "generated" if is_generated else "", lines)
    by_name = is_generated or change.kind == "deleted"
    hunks = () if by_name else tuple(_redacted(hunk, redaction) for hunk in change.hunks)
    return ChangedFile(change.path, ", ".join(filter(None, kinds)) or "changed", hunks)


def _redacted(hunk: str, redaction: Redaction) -> str:
    """Redact a hunk as a whole, without its ``+`` and ``-``, since a key may span lines."""
    if not redaction.replaces:
        return hunk
    head, *lines = hunk.split("\n")
    plain = "\n".join([head, *(line[1:] for line in lines)])
    head, *texts = redact(plain, redaction).text.split("\n")
    marked = [f"{line[:1]}{text}" for line, text in zip(lines, texts, strict=True)]
    return "\n".join([head, *marked])


@dataclass(frozen=True, slots=True)
class Shares:
    """The sections of a budgeted prompt other than files, each with its share.

    Attributes:
        changes: The changes to show.
        tree: The tree of an overview.
        parts: The largest part of the tokens, without those of pinned files, that each section may use.
        least: The sections in their smallest size.
    """

    request: Request
    budget: Budget
    count: Count
    changes: RevisionChanges
    tree: Tree | None
    parts: Mapping[Section, float] = field(init=False)
    least: Fitted = field(init=False)

    def __post_init__(self) -> None:
        parts = {
            Section.TREE: _OF_TREE,
            Section.HISTORY: self.budget.history,
            Section.RESULTS: self.budget.results,
            Section.INSTRUCTIONS: _OF_GIVEN,
            Section.ATTACHED: _OF_GIVEN,
            Section.CHANGES: _OF_CHANGES,
        }
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
        if section is Section.TREE:
            return _fit_tree(self.tree, limit, count) if self.tree else FittedSection()
        if section is Section.HISTORY:
            return fit_history(request.history, limit, count)
        if section is Section.INSTRUCTIONS:
            return fit_given(instructions_section, finish.instructions, limit, count)
        if section is Section.ATTACHED:
            return fit_given(attached_section, finish.attached, limit, count)
        if section is Section.CHANGES:
            return _fit_changes(self.changes, limit, count)
        if not request.results:
            return FittedSection()
        from aggregate.prompt.sections.subagent_results import fit_results  # few prompts have any

        return fit_results(request.results, limit, count, is_readable=request.reads_results)


def _fit_tree(tree: Tree, limit: int, count: Count) -> FittedSection:
    """Return the tree of files with as many open folders as ``limit`` tokens allow."""
    sizes = [tokens_of(tree.segments(number), count) for number in range(len(tree.folders) + 1)]
    number = bisect_right(sizes, limit) - 1
    return FittedSection(tree.segments(number), sizes[number], sizes[-1])


def _fit_changes(changes: RevisionChanges, limit: int, count: Count) -> FittedSection:
    """Return the section of changes in ``limit`` tokens: all files, and hunks of the likeliest ones."""
    if not (changes.files or changes.others):
        return FittedSection()
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
    size = largest_size(with_part, min(len(hunk), limit * _CHARACTERS) - 1, room, count)
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
