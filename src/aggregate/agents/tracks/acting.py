"""Work on a ticket with tools: work tree, tool loop, one commit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from aggregate.agents.limits import TicketLimits
from aggregate.agents.tools import CHANGES, EDITS, ChangeTools, ToolRegistry
from aggregate.agents.tracks.assignment import Assignment, TicketStatus, WorkerReply, run_of
from aggregate.agents.tracks.terms import WorkerTerms
from aggregate.agents.tracks.tool_loop import Changes, Steps, ToolLoop
from aggregate.agents.tracks.trees import Depot, Packs, WorkTree
from aggregate.base.errors import SandboxError, ToolError, WorkerError
from aggregate.sending.clients import Client

CHECK_SECONDS: Final = 600.0  # of one run of a ticket's check
_NAMED: Final = 40  # files that others have changed
_CHANGED: Final = "Other tickets have changed these files since the context above was made, so read them anew: {}."


def act(
    assignment: Assignment,
    client: Client,
    terms: WorkerTerms,
    limits: TicketLimits,
    *,
    steps: Steps,
    begun: Callable[[], None],
) -> WorkerReply:
    """Return the answer to a ticket with tools, and the commit of its changes."""
    try:
        if assignment.verify:
            terms.commands.words(assignment.verify)
        with _opened(assignment, terms, steps) as changes:
            if isinstance(changes, TreeChanges):
                assignment = changes.informed(assignment)
            reply = ToolLoop(assignment, client, limits, changes, steps, begun).run()
            if not isinstance(changes, TreeChanges):
                return reply
            commit = changes.finish()
            status = reply.status
            if not commit and any(name in EDITS for name in assignment.tools):
                status = TicketStatus.UNCHANGED
            return replace(reply, commit=commit, verified=bool(assignment.verify), status=status)
    except ToolError as error:
        raise WorkerError(f"{assignment.ticket}: {error}", again=False) from None


@contextmanager
def _opened(assignment: Assignment, terms: WorkerTerms, steps: Steps) -> Iterator[Changes]:
    if not assignment.base:
        if assignment.verify or any(name in CHANGES for name in assignment.tools):
            raise WorkerError(
                f"{assignment.ticket}: its changes and checks need a work tree, which only a run has",
                again=False,
            )
        yield FolderChanges(terms.tools.only(assignment.tools))
        return
    if steps.trees is None:
        raise WorkerError(f"{assignment.ticket}: this worker has no work trees", again=False)
    depot, packs = steps.trees.of(run_of(assignment.key))
    changes = TreeChanges(assignment, terms, depot, packs, assignment.base)
    try:
        yield changes
    finally:
        changes.close()


@dataclass(frozen=True, slots=True)
class FolderChanges:
    """Tool calls that only read the worker's folder."""

    registry: ToolRegistry

    def tools(self) -> ToolRegistry:
        return self.registry

    def save(self) -> str:
        return ""

    def go_to(self, commit: str) -> None:
        """Do nothing: there are no commits."""

    def check(self) -> str:
        return ""


@dataclass(slots=True)
class TreeChanges:
    """A ticket's work tree.

    It is checked out at the first call that is not yet recorded.
    """

    assignment: Assignment
    terms: WorkerTerms
    depot: Depot
    packs: Packs
    commit: str  # where the recorded calls stand
    _tree: WorkTree | None = None
    _registry: ToolRegistry | None = None

    def tools(self) -> ToolRegistry:
        """Return the ticket's tools on its tree, at the state after the recorded calls."""
        tree = self._checked_out()
        if self._registry is None:
            registry = self.terms.tools_in(self._changer(tree))
            self._registry = registry.only(self.assignment.tools)
        return self._registry

    def save(self) -> str:
        tree = self._checked_out(is_changed=True)
        before = tree.commit
        commit = tree.save()
        if commit != before:
            self.packs.put(self.depot.pack(commit, (before,)))
        self.commit = commit
        return commit

    def go_to(self, commit: str) -> None:
        if self._tree is not None and not commit:
            self._tree.commit = ""  # a call was given up: nobody knows what stands there
        self.commit = commit or self.commit

    def check(self) -> str:
        tree = self._checked_out()
        try:
            said = self._changer(tree).run(self.assignment.verify, seconds=CHECK_SECONDS)
        except (SandboxError, ToolError) as error:
            said = str(error)
        tree.commit = ""  # what the check left there is no change of the ticket's
        return "" if said.startswith("exit code 0\n") or said == "exit code 0" else said

    def informed(self, assignment: Assignment) -> Assignment:
        """Add to the assignment the files that other tickets have changed since its context was made."""
        start = self.packs.ref("base")
        if not start or start == assignment.base:
            return assignment
        self.depot.take(assignment.base, self.packs)
        paths = [change.path for change in self.depot.changes(start, assignment.base)]
        named = ", ".join(paths[:_NAMED]) + (", …" if len(paths) > _NAMED else "")
        if not paths:
            return assignment
        return replace(assignment, message=f"{assignment.message}\n\n{_CHANGED.format(named)}")

    def finish(self) -> str:
        """Return one commit of all changes on the ticket's base, ``""`` without changes."""
        base, ticket = self.assignment.base, self.assignment
        self.depot.take(self.commit, self.packs)
        self.depot.take(base, self.packs)
        tree = self.depot.tree_of(self.commit)
        if tree == self.depot.tree_of(base):
            return ""
        message = (
            f"{ticket.title or ticket.ticket}\n\nTicket {ticket.ticket} of {run_of(ticket.key)}\n"
        )
        commit = self.depot.commit(tree, (base,), message)
        self.packs.put(self.depot.pack(commit, (base,)))
        return commit

    def close(self) -> None:
        if self._tree is not None:
            self._tree.remove()

    def _changer(self, tree: WorkTree) -> ChangeTools:
        return ChangeTools(tree.folder, self.assignment.folder, self.terms.commands)

    def _checked_out(self, *, is_changed: bool = False) -> WorkTree:
        if self._tree is not None and (is_changed or self._tree.commit == self.commit):
            return self._tree
        self.depot.take(self.commit, self.packs)
        if self._tree is None:
            self._tree = self.depot.check_out(self.commit)
        self._tree.go_to(self.commit)
        return self._tree
