"""A run's private git repository, with work trees and merges, and the tree of a ticket with one commit at the end.

The repository has no configuration, so settings of a project or user cannot start a program. A work tree has no
``.git`` for commands to change. Commits are exchanged as packs through the database.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from threading import Lock
from typing import Final, NamedTuple, Protocol

from aggregate.agents.tools import CHANGES, EDITS, ChangeTools, ToolRegistry
from aggregate.agents.tracks.assignment import Assignment, TicketStatus, WorkerReply, run_of
from aggregate.agents.tracks.worker_terms import WorkerTerms
from aggregate.base.errors import SandboxError, StateError, ToolError, WorkerError
from aggregate.project.git import own_git

BASE: Final = "base"  # the name of a run's first commit
MOST_BYTES: Final = 200_000_000  # of a pack, which the database holds in memory
CHECK_SECONDS: Final = 600.0  # of one run of a ticket's check
_NAMED: Final = 40  # files that others have changed
_CHANGED: Final = "Other tickets have changed these files since the context above was made, so read them anew: {}."


class Pack(NamedTuple):
    """A git pack with the new objects of a commit.

    Without parents the pack has all objects.
    """

    commit: str
    parents: tuple[str, ...]
    data: bytes


class Packs(Protocol):
    """Stores the packs and commit names of a run."""

    def get(self, commit: str) -> Pack | None: ...

    def put(self, pack: Pack) -> None: ...  # an existing one stays

    def ref(self, name: str) -> str: ...  # the commit of that name, "" for none

    def move(self, name: str, before: str, after: str) -> bool: ...  # if it stands where it did


class Change(NamedTuple):
    """A changed file: its modes and blob ids before and after, zeros if missing."""

    path: str
    mode_before: str
    mode: str
    before: str
    after: str

    @property
    def is_plain(self) -> bool:
        """Whether the file is regular or missing, before and after."""
        return {self.mode_before[:3], self.mode[:3]} <= {"000", "100"}


@contextmanager
def depot(packs: Packs) -> Iterator["Depot"]:
    """Yield a temporary repository, empty at first, for the commits in ``packs``."""
    with TemporaryDirectory(prefix="aggregate-trees-") as folder:
        repository = Depot(Path(folder), packs)
        bare = repository.folder / "git"
        repository.git("init", "-q", "--bare", "--template=", str(bare))
        with (bare / "config").open("ab") as config:
            config.write(b"[core]\n\tprotectHFS = true\n\tprotectNTFS = true\n[gc]\n\tauto = 0\n")
        yield repository


class Trees:
    """The git repositories of this process's runs; ``close`` deletes them."""

    def __init__(self, packs_of: Callable[[str], Packs]) -> None:
        self._packs_of = packs_of
        self._lock = Lock()
        self._open = ExitStack()
        self._depots: dict[str, Depot] = {}

    def of(self, run_id: str) -> "Depot":
        with self._lock:
            if run_id not in self._depots:
                opened = self._open.enter_context(depot(self._packs_of(run_id)))
                self._depots[run_id] = opened
            return self._depots[run_id]

    def close(self) -> None:
        self._open.close()


@dataclass(frozen=True, slots=True)
class Depot:
    """A git repository of a run's commits, which are stored as packs."""

    folder: Path  # of the repository, and of the trees beside it
    packs: Packs
    lock: Lock = field(default_factory=Lock)
    known: set[str] = field(default_factory=set)  # commits in the repository

    def git(
        self,
        *arguments: str,
        stdin: bytes = b"",
        variables: Mapping[str, str] | None = None,
        may_say_no: bool = False,
    ) -> bytes:
        repository = str(self.folder / "git")
        try:
            answer = own_git(
                repository, *arguments, stdin=stdin, variables=variables, may_say_no=may_say_no
            )
        except OSError as error:
            raise StateError(f"a work tree cannot be created: {error}") from None
        return b"" if answer is None else answer

    def has(self, commit: str) -> bool:
        if commit not in self.known and self.git(
            "rev-parse", "--verify", "-q", f"{commit}^{{tree}}", may_say_no=True
        ):
            self.known.add(commit)
        return commit in self.known

    def take(self, *commits: str) -> None:
        """Load commits and their ancestors from the packs into the repository."""
        with self.lock:
            pending, waiting = [*commits], dict[str, Pack]()
            while pending:
                name = pending[-1]
                pack = waiting.pop(name, None)
                if pack is None and not self.has(name):
                    pack = self._stored(name)
                    if pack.parents:  # these first
                        waiting[name] = pack
                        pending += pack.parents
                        continue
                pending.pop()
                if pack is not None and not self.has(name):
                    self._unpack(pack)

    def _stored(self, commit: str) -> Pack:
        pack = self.packs.get(commit)
        if pack is None:
            raise StateError(
                f'the commit {commit[:12]} was dropped: end the run with "conduct cancel", and begin another'
            )
        return pack

    def _unpack(self, pack: Pack) -> None:
        if not pack.parents:
            self.cut_history(pack.commit)
        self.git("index-pack", "--stdin", "--fix-thin", stdin=pack.data)

    def cut_history(self, commit: str) -> None:
        """Read a commit as one without parents."""
        with (self.folder / "git" / "shallow").open("ab") as shallow:
            shallow.write(f"{commit}\n".encode())

    def pack(self, commit: str, parents: Sequence[str]) -> Pack:
        lines = [commit, *(f"^{parent}" for parent in parents)]
        wanted = "".join(f"{line}\n" for line in lines)
        data = self.git("pack-objects", "-q", "--revs", "--thin", "--stdout", stdin=wanted.encode())
        if len(data) > MOST_BYTES:
            raise StateError(
                f"the files of {commit[:12]} have {len(data):,} bytes, and work trees are limited to "
                f"{MOST_BYTES:,}: move tickets that change files to a smaller project"
            )
        return Pack(commit, tuple(parents), data)

    def store(self, commit: str, *parents: str) -> None:
        """Store a commit as a pack, without the objects of its parents."""
        self.packs.put(self.pack(commit, parents))

    def commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        options = [part for parent in parents for part in ("-p", parent)]
        return self.git("commit-tree", tree, *options, stdin=message.encode()).decode().strip()

    def tree_of(self, commit: str) -> str:
        return self.git("rev-parse", f"{commit}^{{tree}}").decode().strip()

    def contains(self, commit: str, descendant: str) -> bool:
        """Return whether ``commit`` is ``descendant`` or one of its ancestors."""
        bases = self.git("rev-list", "-n", "1", f"{commit}", f"^{descendant}")
        return not bases.strip()

    def merge(self, ours: str, theirs: str, message: str) -> tuple[str, tuple[str, ...]]:
        """Merge two commits; return the merge commit, or ``""`` and the conflicting paths."""
        if self.contains(theirs, ours):
            return ours, ()
        if self.contains(ours, theirs):
            return theirs, ()
        options = ("--write-tree", "-z", "--name-only", "--no-messages")
        try:
            output = own_git(str(self.folder / "git"), "merge-tree", *options, ours, theirs)
        except OSError:
            output = None
        if output:
            return self.commit(output.split(b"\0")[0].decode(), (ours, theirs), message), ()
        return "", self._both_changed(ours, theirs)

    def _both_changed(self, ours: str, theirs: str) -> tuple[str, ...]:
        base = self.git("merge-base", ours, theirs).decode().strip()
        our_paths = {change.path for change in self.changes(base, ours)}
        their_paths = {change.path for change in self.changes(base, theirs)}
        return tuple(sorted(our_paths & their_paths)) or ("its files",)

    def changes(self, before: str, after: str) -> list[Change]:
        output = self.git("diff-tree", "-r", "-z", "--no-renames", before, after)
        parts = output.decode("utf-8", "surrogateescape").split("\0")
        changes = []
        for about, path in zip(parts[::2], parts[1::2], strict=False):
            mode_before, mode, old, new, _ = about.removeprefix(":").split(" ")
            changes.append(Change(path, mode_before, mode, old, new))
        return changes

    def diff(self, before: str, after: str) -> str:
        output = self.git("diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", before, after)
        return output.decode("utf-8", "replace")

    def content(self, blob: str) -> bytes:
        return b"" if not blob.strip("0") else self.git("cat-file", "blob", blob)


def open_changes(assignment: Assignment, terms: WorkerTerms, trees: Trees | None) -> "Changes":
    if assignment.verify:
        terms.commands.words(assignment.verify)
    if not assignment.base:
        if assignment.verify or any(name in CHANGES for name in assignment.tools):
            raise WorkerError(
                f"{assignment.ticket}: its changes and checks need a work tree, which only a run has",
                again=False,
            )
        return Changes(assignment, terms)
    if trees is None:
        raise WorkerError(f"{assignment.ticket}: this worker has no work trees", again=False)
    return Changes(assignment, terms, trees.of(run_of(assignment.key)))


class Changes:
    """The folder of a ticket: a work tree with the files of a commit, checked out at first need.

    Without a depot it is the worker's own folder, which is only read.
    """

    def __init__(
        self, assignment: Assignment, terms: WorkerTerms, depot: Depot | None = None
    ) -> None:
        self.assignment = assignment
        self.terms = terms
        self.depot = depot
        self.commit = assignment.base  # the state after the recorded calls
        self._folder: Path | None = None  # of the work tree
        self._present = ""  # the commit in the folder, "" if unknown
        self._tools: ToolRegistry | None = None

    def tools(self) -> ToolRegistry:
        """Return the ticket's tools on its folder, restored to the last recorded call."""
        folder = self._checked_out()
        if self._tools is None:
            registry = self.terms.tools
            if folder is not None:
                registry = self.terms.tools_in(self._changer(folder))
            self._tools = registry.only(self.assignment.tools)
        return self._tools

    def save(self) -> str:
        """Commit the files after a call; return the commit, ``""`` without a work tree.

        Without changes it is the commit before.
        """
        if self.depot is None or self._folder is None:
            return ""
        for path in self._folder.rglob(".git"):  # nested repositories are left out
            _remove(path)
        self._git("add", "-A", ".")
        tree = self._git("write-tree").decode().strip()
        parent = self.commit = self._present
        if tree != self.depot.tree_of(parent):
            self.commit = self._present = self.depot.commit(tree, (parent,), "A call")
            self.depot.store(self.commit, parent)
        return self.commit

    def go_to(self, commit: str) -> None:
        """Restore the state of a recorded commit."""
        if not commit:
            self._present = ""  # a call was given up, and may have changed any file
        self.commit = commit or self.commit

    def check(self) -> str:
        """Run the ticket's check; return its output if it fails, else ``""``."""
        folder = self._checked_out()
        if folder is None:
            return ""
        try:
            output = self._changer(folder).run(self.assignment.verify, seconds=CHECK_SECONDS)
        except (SandboxError, ToolError) as error:
            output = str(error)
        self._present = ""  # files written by the check are not the ticket's changes
        return "" if output.partition("\n")[0] == "exit code 0" else output

    def informed(self) -> Assignment:
        """Return the assignment with a note on other tickets' changes."""
        assignment, depot = self.assignment, self.depot
        start = depot.packs.ref(BASE) if depot else ""
        if depot is None or not start or start == assignment.base:
            return assignment
        depot.take(assignment.base)
        paths = [change.path for change in depot.changes(start, assignment.base)]
        if not paths:
            return assignment
        path_list = ", ".join(paths[:_NAMED]) + (", …" if len(paths) > _NAMED else "")
        return replace(assignment, message=f"{assignment.message}\n\n{_CHANGED.format(path_list)}")

    def finish(self, reply: WorkerReply) -> WorkerReply:
        """Return the reply with one commit of the ticket's changes."""
        ticket, base, depot = self.assignment, self.assignment.base, self.depot
        if depot is None:
            return reply
        reply = replace(reply, verified=bool(ticket.verify))
        depot.take(self.commit, base)
        tree = depot.tree_of(self.commit)
        if tree == depot.tree_of(base):
            may_edit = any(name in EDITS for name in ticket.tools)
            return replace(reply, status=TicketStatus.UNCHANGED) if may_edit else reply
        title = ticket.title or ticket.ticket
        message = f"{title}\n\nTicket {ticket.ticket} of {run_of(ticket.key)}\n"
        commit = depot.commit(tree, (base,), message)
        depot.store(commit, base)
        return replace(reply, commit=commit)

    def close(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _changer(self, folder: Path) -> ChangeTools:
        return ChangeTools(folder, self.assignment.folder, self.terms.commands)

    def _checked_out(self) -> Path | None:
        """Return the work tree with the files of the last recorded call; others in it are lost."""
        if self.depot is None:
            return None
        if self._folder is None:
            self._folder = Path(mkdtemp(dir=self.depot.folder))
        if self._present != self.commit:
            self.depot.take(self.commit)
            for path in self._folder.iterdir():
                _remove(path)
            self._git("read-tree", self.commit)
            self._git("checkout-index", "-a", "-f", "-u")
            self._present = self.commit
        return self._folder

    def _git(self, *arguments: str) -> bytes:
        if self.depot is None or self._folder is None:
            return b""
        index = self.depot.folder / f"{self._folder.name}.index"
        variables = {"GIT_WORK_TREE": str(self._folder), "GIT_INDEX_FILE": str(index)}
        return self.depot.git("-C", str(self._folder), *arguments, variables=variables)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
