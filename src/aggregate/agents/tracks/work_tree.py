"""The folder that a ticket's tools work on: the worker's own, or a work tree with one commit at the end."""

from dataclasses import replace
from typing import Final

from aggregate.agents.tools import CHANGES, EDITS, ChangeTools, ToolRegistry
from aggregate.agents.tracks.assignment import Assignment, TicketStatus, WorkerReply, run_of
from aggregate.agents.tracks.attempt import Steps
from aggregate.agents.tracks.terms import WorkerTerms
from aggregate.agents.tracks.trees import Depot, WorkTree
from aggregate.base.errors import SandboxError, ToolError, WorkerError

CHECK_SECONDS: Final = 600.0  # of one run of a ticket's check
_NAMED: Final = 40  # files that others have changed
_CHANGED: Final = "Other tickets have changed these files since the context above was made, so read them anew: {}."


class Changes:
    """The folder of a ticket without a work tree, which is only read."""

    def __init__(self, assignment: Assignment, terms: WorkerTerms) -> None:
        self.assignment = assignment
        self.terms = terms

    def tools(self) -> ToolRegistry:
        return self.terms.tools.only(self.assignment.tools)

    def save(self) -> str:
        """Return the commit of the folder's present state, ``""`` if it has none."""
        return ""

    def go_to(self, commit: str) -> None:
        """Restore the state of a recorded commit."""

    def check(self) -> str:
        """Run the ticket's check; return its output if it fails, else ``""``."""
        return ""

    def informed(self) -> Assignment:
        """Return the assignment with a note on other tickets' changes."""
        return self.assignment

    def finish(self, reply: WorkerReply) -> WorkerReply:
        """Add the ticket's changes to the reply."""
        return reply

    def close(self) -> None:
        """Delete temporary files and folders."""


def open_changes(assignment: Assignment, terms: WorkerTerms, steps: Steps) -> Changes:
    if assignment.verify:
        terms.commands.words(assignment.verify)
    if not assignment.base:
        if assignment.verify or any(name in CHANGES for name in assignment.tools):
            raise WorkerError(
                f"{assignment.ticket}: its changes and checks need a work tree, which only a run has",
                again=False,
            )
        return Changes(assignment, terms)
    if steps.trees is None:
        raise WorkerError(f"{assignment.ticket}: this worker has no work trees", again=False)
    return TreeChanges(assignment, terms, steps.trees.of(run_of(assignment.key)))


class TreeChanges(Changes):
    """A ticket's work tree, checked out at first need."""

    def __init__(self, assignment: Assignment, terms: WorkerTerms, depot: Depot) -> None:
        super().__init__(assignment, terms)
        self.depot = depot
        self.commit = assignment.base  # the state after the recorded calls
        self._tree: WorkTree | None = None
        self._tools: ToolRegistry | None = None

    def tools(self) -> ToolRegistry:
        """Return the ticket's tools on its work tree, restored to the last recorded call."""
        tree = self._checked_out()
        if self._tools is None:
            registry = self.terms.tools_in(self._changer(tree))
            self._tools = registry.only(self.assignment.tools)
        return self._tools

    def save(self) -> str:
        tree = self._checked_out(is_changed=True)
        parent = tree.commit
        commit = tree.save()
        if commit != parent:
            self.depot.store(commit, parent)
        self.commit = commit
        return commit

    def go_to(self, commit: str) -> None:
        if self._tree is not None and not commit:
            self._tree.commit = ""  # a call was given up, and may have changed any file
        self.commit = commit or self.commit

    def check(self) -> str:
        tree = self._checked_out()
        try:
            output = self._changer(tree).run(self.assignment.verify, seconds=CHECK_SECONDS)
        except (SandboxError, ToolError) as error:
            output = str(error)
        tree.commit = ""  # files written by the check are not the ticket's changes
        return "" if output.partition("\n")[0] == "exit code 0" else output

    def informed(self) -> Assignment:
        assignment, start = self.assignment, self.depot.packs.ref("base")
        if not start or start == assignment.base:
            return assignment
        self.depot.take(assignment.base)
        paths = [change.path for change in self.depot.changes(start, assignment.base)]
        if not paths:
            return assignment
        path_list = ", ".join(paths[:_NAMED]) + (", …" if len(paths) > _NAMED else "")
        return replace(assignment, message=f"{assignment.message}\n\n{_CHANGED.format(path_list)}")

    def finish(self, reply: WorkerReply) -> WorkerReply:
        """Return the reply with one commit of the ticket's changes."""
        ticket, base = self.assignment, self.assignment.base
        reply = replace(reply, verified=bool(ticket.verify))
        self.depot.take(self.commit, base)
        tree = self.depot.tree_of(self.commit)
        if tree == self.depot.tree_of(base):
            may_edit = any(name in EDITS for name in ticket.tools)
            return replace(reply, status=TicketStatus.UNCHANGED) if may_edit else reply
        title = ticket.title or ticket.ticket
        message = f"{title}\n\nTicket {ticket.ticket} of {run_of(ticket.key)}\n"
        commit = self.depot.commit(tree, (base,), message)
        self.depot.store(commit, base)
        return replace(reply, commit=commit)

    def close(self) -> None:
        if self._tree is not None:
            self._tree.remove()

    def _changer(self, tree: WorkTree) -> ChangeTools:
        return ChangeTools(tree.folder, self.assignment.folder, self.terms.commands)

    def _checked_out(self, *, is_changed: bool = False) -> WorkTree:
        if self._tree is not None and (is_changed or self._tree.commit == self.commit):
            return self._tree
        self.depot.take(self.commit)
        if self._tree is None:
            self._tree = self.depot.check_out(self.commit)
        self._tree.go_to(self.commit)
        return self._tree
