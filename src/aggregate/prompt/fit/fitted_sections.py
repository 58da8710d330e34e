"""How many tokens of a budget the sections other than files get (rule B-5)."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aggregate.base.files import Narrowing
from aggregate.base.task import Budget, Finish
from aggregate.base.text import clean_issue
from aggregate.project.git import find_head
from aggregate.prompt.asking.request import Request
from aggregate.prompt.document import Section, Segment
from aggregate.prompt.fit.revision_changes import RevisionChanges, fit_changes
from aggregate.prompt.sections.fitted import Count, FittedSection, tokens_of
from aggregate.prompt.sections.given import (
    attached_section,
    fit_given,
    instructions_section,
    project_segment,
    task_line,
    task_segment,
)
from aggregate.prompt.sections.tree import Tree
from aggregate.prompt.sections.turns import fit_history

ALL = 1 << 62  # more tokens than any prompt
_OF_GIVEN, _OF_CHANGES, _OF_TREE = 0.1, 0.25, 0.12  # largest parts of the room beside the pins

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
            return fit_changes(self.changes, limit, count)
        if not request.results:
            return FittedSection()
        from aggregate.prompt.sections.subagent_results import fit_results  # few prompts have any

        return fit_results(request.results, limit, count, is_readable=request.reads_results)


def _fit_tree(tree: Tree, limit: int, count: Count) -> FittedSection:
    """Return the tree of files with as many open folders as ``limit`` tokens allow."""
    sizes = [tokens_of(tree.segments(number), count) for number in range(len(tree.folders) + 1)]
    number = bisect_right(sizes, limit) - 1
    return FittedSection(tree.segments(number), sizes[number], sizes[-1])
