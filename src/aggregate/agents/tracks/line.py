"""A run's merged changes, as a line of commits.

Each ticket starts from the last merged commit, and its own changes are then merged. Only merged commits have a name in
the database, so any process can continue the run after a kill. The user's files stay unchanged.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.trees import Depot, Packs
from aggregate.agents.tracks.working_state import ProjectTop, snapshot
from aggregate.project.git import OWN_LIMITS, git

BASE, MERGED, APPLIED = "base", "merged", "applied"  # names of commits of a run
_BRANCHES = "branches"  # the name under which a run keeps the prefix of its branches
_USUAL_BRANCHES = "aggregate"


@dataclass(frozen=True, slots=True)
class Line:
    depot: Depot
    packs: Packs
    top: ProjectTop
    track: str

    @classmethod
    def begin(
        cls,
        top: ProjectTop,
        track: str,
        packs: Packs,
        depot: Depot,
        *,
        is_own: Callable[[str], bool] = lambda _path: False,
        tell: Callable[[str], None] = lambda _sentence: None,
    ) -> "Line":
        """Open the line of a run.

        A new line begins with the project's files. ``is_own`` recognizes the program's own output by its path below the
        top of the project. ``tell`` is called with messages.
        """
        if not packs.ref(MERGED):
            state = snapshot(top, is_own=is_own, tell=tell)
            for pack in state:
                packs.put(pack)
            # If two processes begin a run at once, the first one decides.
            packs.move(_BRANCHES, "", _free_branches(top, track, tell))
            packs.move(BASE, "", state[-1].commit)
            packs.move(MERGED, "", packs.ref(BASE))
        line = cls(depot, packs, top, track)
        depot.take(line.head, packs)
        return line

    @property
    def head(self) -> str:
        return self.packs.ref(MERGED)

    def holds(self, commit: str) -> bool:
        """Return whether a commit is merged; ``""``, no changes, counts as merged."""
        if not commit:
            return True
        head = self.head
        for needed in (head, commit):
            self.depot.take(needed, self.packs)
        return self.depot.contains(commit, head)

    def merge(self, ticket: Ticket, commit: str) -> tuple[str, ...]:
        """Merge a ticket's commit; return the paths in conflict."""
        while commit:
            head = self.head
            for needed in (head, commit):
                self.depot.take(needed, self.packs)
            merged, conflicts = self.depot.merge(head, commit, f"Merge {ticket.id}\n")
            if conflicts:
                return conflicts
            if merged not in (head, commit):
                self.packs.put(self.depot.pack(merged, (head, commit)))
            if merged == head or self.packs.move(MERGED, head, merged):
                self._publish(ticket.id, commit)
                break
        return ()

    def _publish(self, ticket_id: str, commit: str) -> None:
        """Create a branch for the ticket in the user's repository, if it has one."""
        folder = str(self.top.folder)
        base = self.packs.get(self.packs.ref(BASE)) if self.top.is_git else None
        if base is None:
            return
        if git(folder, "cat-file", "-e", base.commit) is None:
            # Without its parents a commit would break the history of another clone.
            is_whole = base.parents or not self.top.head
            if not is_whole or any(
                git(folder, "cat-file", "-e", parent) is None for parent in base.parents
            ):
                return
            git(folder, "unpack-objects", "-q", stdin=base.data, limits=OWN_LIMITS)
        changes = self.depot.pack(commit, (base.commit,)).data
        git(folder, "unpack-objects", "-q", stdin=changes, limits=OWN_LIMITS)
        branch = branch_of(branches_of(self.packs, self.track), ticket_id)
        git(folder, "update-ref", f"refs/heads/{branch}", commit)


def branches_of(packs: Packs, track: str) -> str:
    """Return the prefix of a run's branches, such as ``aggregate/<track>``."""
    return f"{packs.ref(_BRANCHES) or _USUAL_BRANCHES}/{_ref_part(track)}"


def branch_of(branches: str, ticket_id: str) -> str:
    return f"{branches}/{_ref_part(ticket_id)}"


def _ref_part(name: str) -> str:
    """Replace characters forbidden in branch names, such as brackets."""
    return re.sub(r"\.(?=\.|lock$|$)|[^\w.-]", "_", name)


def _free_branches(top: ProjectTop, track: str, tell: Callable[[str], None]) -> str:
    """Return a branch prefix free of conflicts with user branches."""
    listed = git(str(top.folder), "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
    branches_in_use = (listed or b"").decode("utf-8", "replace").split()
    usual, in_the_way = f"{_USUAL_BRANCHES}/{_ref_part(track)}", ""
    for number in count(1):
        prefix = _USUAL_BRANCHES if number == 1 else f"{_USUAL_BRANCHES}-{number}"
        branches = f"{prefix}/{_ref_part(track)}"
        ticket_branch = re.compile(f"{re.escape(branches)}/.+/")
        blocking = [
            name
            for name in branches_in_use
            if name in (prefix, branches) or ticket_branch.match(name)
        ]
        if not blocking:
            break
        in_the_way = in_the_way or blocking[0]
    if in_the_way:
        tell(
            f"your branch {in_the_way} blocks the names {usual}/...: this run uses {branches}/... instead"
        )
    return prefix
