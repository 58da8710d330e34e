"""The contexts of tickets that have a budget: each is composed for its own task (rule B-11)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.agents.tracks.assignment import Assignment
from aggregate.agents.tracks.terms import GrantedBudget, raised
from aggregate.agents.tracks.ticket_parts import TrackSpec, plain_task
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.errors import BudgetError
from aggregate.base.values import (
    Entry,
    FileChoice,
    FileItem,
    Place,
    Prompt,
    Section,
    Segment,
    Stability,
    Task,
)
from aggregate.project.index import user_index
from aggregate.prompt import ALL_FILES, Composition, FocusIndex, Request, record_audit, select_files

if TYPE_CHECKING:
    from aggregate.prompt import ReadFiles

Compose = Callable[[Request], Composition]
"""Makes a prompt from what is asked for."""
_REMEMBERED = 4
"""Sets of files whose reading is remembered: that of the project, and those with focus files beside it."""


class FocusNames:
    """Finds the files that a ticket's focus names, among those of the project and beside them."""

    def __init__(self, request: Request, spec: TrackSpec) -> None:
        # Without any files a budget is about all that git would take (rule T-6).
        entries = request.entries or (Entry(FileItem(ALL_FILES)),)
        self.entries = (*entries, *spec.entry(str(request.base_dir)))
        self._asked = replace(request, entries=self.entries)

    @cached_property
    def known(self) -> frozenset[str]:
        """The paths of the project's files."""
        return frozenset(path for path, _ in self._files)

    def of(self, focus: str) -> Sequence[str]:
        """Return the paths of the files that ``focus`` names, itself where the project has none of them."""
        return [self._files[number][0] for number in self._index.find(focus)] or [focus]

    @cached_property
    def _files(self) -> tuple[tuple[str, str], ...]:
        selection = select_files(self._asked)
        return tuple((file.path, file.item.path) for file in selection.files if not file.is_remark)

    @cached_property
    def _index(self) -> FocusIndex:
        return FocusIndex(self._files)


class BudgetedContexts:
    """Composes contexts within budgets; all files are candidates, and the focus files are shown whatever they cost.

    Files are found and looked through once for all tickets.

    Args:
        compose: Makes a prompt; by default from the project's files, with the user's index.
        spec: What all tickets are for, which each context shows.

    Attributes:
        warnings: What was left out or is doubtful, one sentence each.
    """

    def __init__(self, compose: Compose | None, *, spec: TrackSpec) -> None:
        self.warnings: dict[str, None] = {}
        self._compose = compose or self._compose_from_files
        self._spec = spec
        # By what is read: the entries, as texts, since the items are no keys.
        self._read: dict[str, ReadFiles] = {}
        self._requests: dict[str, FocusNames] = {}
        # The last one only: its account is written before the next one is composed.
        self._last: tuple[str, Request, Composition] | None = None

    def compose(
        self, request: Request, ticket: Ticket, granted: GrantedBudget, *, around: int
    ) -> Composition:
        """Return the context of a ticket, chosen for its own task; with what is around it, it keeps to the budget.

        Args:
            request: What a ticket of this strategy is shown, without its focus files and its task.
            ticket: Whose task and focus files.
            granted: The budget of all that the worker is shown; one that nobody named is raised to what must be shown.
            around: Tokens of the task and the instructions.

        Raises:
            BudgetError: What must be shown exceeds the budget; the message names the ticket.
            ScopeError: A file may not be read.
        """
        budget = granted.budget
        tokens = max(budget.tokens - around, 1)
        asked = replace(self._request(request, ticket), budget=replace(budget, tokens=tokens))
        try:
            composition = self._compose(asked)
        except BudgetError as error:
            smallest = error.smallest + around
            if not granted.is_named and smallest > budget.tokens:
                self.warnings[
                    f'the ticket "{ticket.id}": {error.reason}; it is shown all the same, since nobody has set a budget'
                ] = None
                return self.compose(request, ticket, raised(granted, smallest), around=around)
            raise BudgetError(
                f'the ticket "{ticket.id}": {error.reason}; with its task and instructions ({around:,} tokens) '
                f"a budget of {smallest:,} would do",
                smallest=smallest,
            ) from None
        if budget.tokens < around:  # no file must be shown, so that the context alone would fit
            raise BudgetError(
                f'the ticket "{ticket.id}": its task and instructions have {around:,} tokens, more than the budget of '
                f"{budget.tokens:,}: allow {around:,}",
                smallest=around,
            )
        self.note(ticket.id, asked, composition)
        return composition

    def compose_shared(self, request: Request, task: str, granted: GrantedBudget) -> Composition:
        """Return the context that many tickets share, chosen for all of their tasks.

        Args:
            request: What a ticket of this strategy is shown.
            task: The words of all tickets.
            granted: The most tokens of the context; one that nobody named is raised to what must be shown.

        Raises:
            BudgetError: What must be shown exceeds the budget.
            ScopeError: A file may not be read.
        """
        entries = self._names(request).entries
        asked = replace(request, entries=entries, budget=granted.budget, task=Task(task))
        try:
            composition = self._compose(asked)
        except BudgetError as error:
            if granted.is_named or error.smallest <= granted.budget.tokens:
                raise
            return self.compose_shared(request, task, raised(granted, error.smallest))
        composition.check_scope()
        self.warnings |= dict.fromkeys(composition.warnings)
        return composition

    def note(self, ticket_id: str, request: Request, composition: Composition) -> None:
        """Keep what was decided for a ticket, until the next one.

        Raises:
            ScopeError: A file may not be read.
        """
        composition.check_scope()
        self.warnings |= dict.fromkeys(composition.warnings)
        self._last = ticket_id, request, composition

    def choices(self, ticket_id: str) -> tuple[FileChoice, ...]:
        """Return what was decided about each file for the last ticket, none where this is another one."""
        if self._last is None or self._last[0] != ticket_id:
            return ()
        return tuple(self._last[2].choices)

    def _compose_from_files(self, request: Request) -> Composition:
        # Ranking is another half of the program, which tickets without a budget do without.
        from aggregate.prompt import compose_within_budget, read_files

        index = user_index()
        key = repr(request.entries)
        if key not in self._read:
            if len(self._read) >= _REMEMBERED:
                del self._read[next(iter(self._read))]
            self._read[key] = read_files(request, index=index)
        return compose_within_budget(request, index=index, files=self._read[key])

    def write_account(self, path: Path, assignment: Assignment) -> None:
        """Write beside a worker's prompt at ``path`` what was decided about its files (rule A-1).

        Raises:
            OutputError: The file cannot be written.
        """
        last, self._last = self._last, None
        if last is None or last[0] != assignment.ticket:
            return
        _, request, composition = last
        task = Segment(Section.HISTORY, assignment.message, Stability.VOLATILE)
        shown = Prompt((*assignment.prompt.segments, task))
        record_audit(path, request, composition, shown)

    def _names(self, request: Request) -> FocusNames:
        key = f"{request.strategy} {request.tier}"
        return self._requests.setdefault(key, FocusNames(request, self._spec))

    def _request(self, request: Request, ticket: Ticket) -> Request:
        names = self._names(request)
        paths = tuple(
            dict.fromkeys(path for focus in ticket.focus_files for path in names.of(focus))
        )
        unnamed = tuple(Entry(FileItem(path)) for path in paths if path not in names.known)
        places = tuple(map(Place, paths))
        return replace(
            request,
            entries=(*names.entries, *unnamed),
            focus_files=paths if request.tier is not None else (),
            task=replace(request.task or Task(), text=plain_task(ticket), focus=places),
        )
