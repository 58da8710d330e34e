"""The line of a run's merged changes: each ticket starts from where it stands, and what it changed is merged into it.

Only what was merged is in the database under a name, so that a conductor that was killed, or another one, goes on from
there. The user's own files are not touched by any of this.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.trees import Depot, Packs, project_folder, snapshot
from aggregate.project.git import find_head, git, read_changes

BASE, MERGED, APPLIED = "base", "merged", "applied"  # names of commits of a run
BRANCHES = "refs/heads/aggregate"


@dataclass(frozen=True, slots=True)
class Line:
    depot: Depot
    packs: Packs
    project: Path
    track: str
    folder: str  # of the project in the trees

    @classmethod
    def begin(
        cls,
        project: Path,
        track: str,
        packs: Packs,
        depot: Depot,
        *,
        tell: Callable[[str], None] = lambda _sentence: None,
    ) -> "Line":
        """Return the line of a run, which begins at the project's present commit where there is none."""
        if not packs.ref(MERGED):
            pack = snapshot(project)
            packs.put(pack)
            # Of two processes that begin it, one says where.
            packs.move(BASE, "", pack.commit)
            packs.move(MERGED, "", packs.ref(BASE))
            changes = read_changes(str(project), "HEAD") if find_head(str(project)) else ()
            if number := sum(change.kind != "not tracked" for change in changes):
                tell(f"work trees lack what is not committed; changed files: {number:,}")
        line = cls(depot, packs, project, track, project_folder(project))
        depot.take(line.head, packs)
        return line

    @property
    def head(self) -> str:
        return self.packs.ref(MERGED)

    def holds(self, commit: str) -> bool:
        """Tell whether a commit is merged; ``""``, where nothing was changed, is."""
        if not commit:
            return True
        head = self.head
        for needed in (head, commit):
            self.depot.take(needed, self.packs)
        return self.depot.contains(commit, head)

    def merge(self, ticket: Ticket, commit: str) -> tuple[str, ...]:
        """Merge what a ticket changed; return the paths that others have changed otherwise, ``()`` once it is in."""
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
        """Let the user's repository, where there is one, have the ticket's branch."""
        base, project = self.packs.ref(BASE), str(self.project)
        if git(project, "cat-file", "-e", base) is not None:
            git(project, "unpack-objects", "-q", stdin=self.depot.pack(commit, (base,)).data)
            git(project, "update-ref", branch_of(self.track, ticket_id), commit)


def branch_of(track: str, ticket_id: str) -> str:
    """Return the branch of a ticket; of a child's id, and of names that git takes for no branch, the signs change."""
    names = (re.sub(r"\.(?=\.|lock$|$)|[^\w.-]", "_", name) for name in (track, ticket_id))
    return "/".join((BRANCHES, *names))
