"""The contexts of tickets that have a budget: each is composed for its own task (rule B-11)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.budget.amounts import auto_budget
from aggregate.compose.asking import ALL_FILES
from aggregate.compose.assemble import Composition
from aggregate.compose.audit_file import record_audit
from aggregate.compose.file_rendering import select_files
from aggregate.compose.focus import FocusIndex
from aggregate.compose.redact_prompt import redact_text
from aggregate.compose.request import Request
from aggregate.conductor.assignment import Assignment
from aggregate.conductor.tickets import Ticket
from aggregate.errors import BudgetError
from aggregate.index.shared import user_index
from aggregate.models.amounts import AUTO, Amount
from aggregate.models.budget import Budget
from aggregate.models.entry import Entry
from aggregate.models.file_item import FileItem
from aggregate.models.prompt import Prompt, Section, Segment, Stability
from aggregate.models.task import Place, Task
from aggregate.tokens.count import count

if TYPE_CHECKING:
    from aggregate.compose.ranked_files import ReadFiles

Compose = Callable[[Request], Composition]
"""Makes a prompt from what is asked for."""
_REMEMBERED = 4
"""Sets of files whose reading is remembered: that of the project, and those with focus files beside it."""
_SEPARATOR_TOKENS = 1
"""Of the separator between the context and the task: it never takes more, and where it joins the last token none."""


class BudgetedContexts:
    """Composes contexts within budgets; all files are candidates, and the focus files are shown whatever they cost.

    Files are found and looked through once for all tickets.

    Args:
        compose: Makes a prompt; by default from the project's files, with the user's index.
    """

    def __init__(self, compose: Compose | None = None) -> None:
        self._compose = compose or self._compose_from_files
        # By what is read: the entries, as texts, since the items are no keys.
        self._read: dict[str, ReadFiles] = {}
        self._requests: dict[str, _FocusNames] = {}
        # The last one only: its account is written before the next one is composed.
        self._last: tuple[str, Request, Composition] | None = None

    def compose(
        self, request: Request, ticket: Ticket, budget: Budget, *, message: str, persona: str
    ) -> Composition:
        """Return the context of a ticket; with ``message`` behind it and ``persona`` before, it keeps to the budget.

        Args:
            request: What a ticket of this strategy is shown, without its focus files and its task.
            ticket: Whose task and focus files.
            budget: Of all that the worker is shown.
            message: The task, as it is put behind the context.
            persona: The instructions that go before everything.

        Raises:
            BudgetError: What must be shown exceeds the budget; the message names the ticket.
            ScopeError: A file may not be read.
        """
        around = count(message) + _SEPARATOR_TOKENS + (count(persona) if persona else 0)
        tokens = max(budget.tokens - around, 1)
        asked = replace(self._request(request, ticket), budget=replace(budget, tokens=tokens))
        try:
            composition = self._compose(asked)
        except BudgetError as error:
            smallest = error.smallest + around
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
        composition.check_scope()
        self._last = ticket.id, asked, composition
        return composition

    def _compose_from_files(self, request: Request) -> Composition:
        # Ranking is another half of the program, which tickets without a budget do without.
        from aggregate.compose.ranked_files import read_files
        from aggregate.compose.within_budget import compose_within_budget

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

    def _request(self, request: Request, ticket: Ticket) -> Request:
        """Return a request with the focus files as they are found, and the task."""
        names = self._requests.setdefault(
            f"{request.strategy} {request.tier}", _FocusNames(request)
        )
        paths = tuple(
            dict.fromkeys(path for focus in ticket.focus_files for path in names.of(focus))
        )
        unnamed = tuple(Entry(FileItem(path)) for path in paths if path not in names.known)
        text, _ = redact_text(_task_text(ticket), "task", request.redaction)
        places = tuple(map(Place, paths))
        return replace(
            request,
            entries=(*names.entries, *unnamed),
            focus_files=paths if request.tier is not None else (),
            task=replace(request.task or Task(), text=text, focus=places),
        )


class _FocusNames:
    """Finds the files that a ticket's focus names, among those of the project and beside them.

    Attributes:
        entries: The candidates.
    """

    def __init__(self, request: Request) -> None:
        # Without any files a budget is about all that git would take (rule T-6).
        self.entries = request.entries or (Entry(FileItem(ALL_FILES)),)
        self._asked = replace(request, entries=self.entries)

    @cached_property
    def known(self) -> frozenset[str]:
        """The paths of the project's files."""
        return frozenset(path for path, _ in self._files)

    def of(self, focus: str) -> Sequence[str]:
        """Return the paths of the files that ``focus`` names, itself where the project has none of them."""
        return [self._files[place][0] for place in self._index.places(focus)] or [focus]

    @cached_property
    def _files(self) -> tuple[tuple[str, str], ...]:
        selection = select_files(self._asked)
        return tuple((file.path, file.item.path) for file in selection.files if not file.is_remark)

    @cached_property
    def _index(self) -> FocusIndex:
        return FocusIndex(self._files)


def ticket_budget(usual: Budget | None, ticket: Ticket, persona: Amount | None) -> Budget | None:
    """Return the budget of a ticket: its own, else its persona's, else the usual one (rules B-1 and B-11).

    Args:
        usual: What the configuration says for all tickets, ``None`` for no limit.
        ticket: The ticket.
        persona: What its persona says.
    """
    named = persona if ticket.budget is None else ticket.budget
    if named is None:
        return usual
    tokens = auto_budget(None, 0) if named == AUTO else named
    return replace(usual, tokens=tokens) if usual else Budget(tokens)


def fits_surely(
    budget: Budget, ticket: Ticket, base_dir: Path, *, message: str, persona: str, others: int
) -> bool:
    """Tell whether a budget exceeds all that must be shown by far, so that nothing needs to be composed to know it.

    A token has at least one byte. What is not known, as the size of a file that is named by a part of its path, makes
    it not sure.

    Args:
        budget: Of all that the worker is shown.
        ticket: Whose focus files.
        base_dir: Where their paths begin.
        message: The task, as it is put behind the context.
        persona: The instructions.
        others: Bytes of the other sections.
    """
    size = (
        others
        + _AROUND_ALL
        + sum(len(text.encode(errors="replace")) for text in (message, persona))
    )
    for focus in ticket.focus_files:
        try:
            size += (base_dir / focus).stat().st_size
        except (OSError, ValueError):
            return False
        size += _AROUND_FILE + 2 * len(focus.encode(errors="replace"))
    return size < budget.tokens


_AROUND_FILE = 200
"""More than a file's heading and its fences have beside its path, which may be escaped."""
_AROUND_ALL = 1_000
"""More than the headings of all sections, the note on turns that are left out, and separators have."""


def _task_text(ticket: Ticket) -> str:
    return "\n\n".join(part for part in (ticket.title.strip(), ticket.prompt.strip()) if part)
