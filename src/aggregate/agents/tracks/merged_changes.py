"""A run's changes, as a line of commits from the project's files to the last merge.

The first commit has the project's current files, in a git repository with uncommitted changes and new files, except
ignored ones. It is created with an index and an object folder of our own, so the user's index, stash, references and
objects stay unchanged. Each ticket starts from the last merged commit, and its own changes are then merged. Only merged
commits have a name in the database, so any process can continue the run after a kill.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from typing import Final, NamedTuple

from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.work_trees import BASE, Depot, Packs, depot
from aggregate.base.errors import StateError
from aggregate.project.files import FolderListing, is_history
from aggregate.project.git import IDENTITY, OWN_LIMITS, git, without_filters
from aggregate.project.paths import is_secret

MERGED, APPLIED = "merged", "applied"  # names of commits of a run, beside its base
_BRANCHES = "branches"  # the name under which a run keeps the prefix of its branches
_USUAL_BRANCHES = "aggregate"
LARGE_BYTES: Final = 10_000_000  # of a file that is not committed
# Reading the files must neither fail on their line ends nor write into the repository.
_SETTINGS: Final = (
    "-c", "core.safecrlf=false", "-c", "core.splitIndex=false", "-c", "i18n.commitEncoding=UTF-8",
)  # fmt: skip

RunGit = Callable[..., bytes]


class ProjectTop(NamedTuple):
    """The folder that commits' paths are relative to: the repository's top, or the project's folder."""

    folder: Path
    inside: str  # the project's folder in it
    is_git: bool

    @property
    def head(self) -> str:
        """The user's checked-out commit, ``""`` for none."""
        if not self.is_git:
            return ""
        head = git(str(self.folder), "rev-parse", "--verify", "-q", "HEAD^{commit}")
        return (head or b"").decode().strip()


def locate_top(folder: Path) -> ProjectTop:
    real = folder.resolve()
    top = next(
        (folder for folder in (real, *real.parents) if os.path.lexists(folder / ".git")), real
    )
    inside = "" if top == real else real.relative_to(top).as_posix()
    top_level = git(str(real), "rev-parse", "--show-toplevel")
    # A repository's configuration may name another folder, whose files are not the project's.
    is_git = top_level is not None and Path(os.fsdecode(top_level).rstrip("\r\n")).resolve() == top
    if is_git and inside and not git(str(real), "ls-files", "-z", "--cached"):
        is_git = git(str(top), "check-ignore", "-q", inside) is None
    return ProjectTop(top, inside, is_git=True) if is_git else ProjectTop(real, "", is_git=False)


@dataclass(frozen=True, slots=True)
class Line:
    depot: Depot
    top: ProjectTop
    track: str

    @classmethod
    def begin(
        cls,
        top: ProjectTop,
        track: str,
        depot: Depot,
        *,
        is_own: Callable[[str], bool] = lambda _path: False,
        tell: Callable[[str], None] = lambda _sentence: None,
    ) -> "Line":
        """Open the line of a run.

        A new line begins with the project's files. ``is_own`` recognizes the program's own output by its path below the
        top of the project. ``tell`` is called with messages.
        """
        line, packs = cls(depot, top, track), depot.packs
        if not packs.ref(MERGED):
            commit = snapshot(top, packs, is_own=is_own, tell=tell)
            # If two processes begin a run at once, the first one decides.
            packs.move(_BRANCHES, "", _free_branches(top, track, tell))
            packs.move(BASE, "", commit)
            packs.move(MERGED, "", packs.ref(BASE))
        depot.take(line.head)
        return line

    @property
    def head(self) -> str:
        return self.depot.packs.ref(MERGED)

    def holds(self, commit: str) -> bool:
        """Return whether a commit is merged; ``""``, no changes, counts as merged."""
        if not commit:
            return True
        head = self.head
        self.depot.take(head, commit)
        return self.depot.contains(commit, head)

    def merge(self, ticket: Ticket, commit: str) -> tuple[str, ...]:
        """Merge a ticket's commit; return the paths in conflict."""
        while commit:
            head = self.head
            self.depot.take(head, commit)
            merged, conflicts = self.depot.merge(head, commit, f"Merge {ticket.id}\n")
            if conflicts:
                return conflicts
            if merged not in (head, commit):
                self.depot.store(merged, head, commit)
            if merged == head or self.depot.packs.move(MERGED, head, merged):
                self._publish(ticket.id, commit)
                break
        return ()

    def _publish(self, ticket_id: str, commit: str) -> None:
        """Create a branch for the ticket in the user's repository, if it has one."""
        folder = str(self.top.folder)
        packs = self.depot.packs
        base = packs.get(packs.ref(BASE)) if self.top.is_git else None
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
        branch = f"{branches_of(packs, self.track)}/{_ref_part(ticket_id)}"
        git(folder, "update-ref", f"refs/heads/{branch}", commit)


def branches_of(packs: Packs, track: str) -> str:
    """Return the prefix of a run's branches, such as ``aggregate/<track>``."""
    return f"{packs.ref(_BRANCHES) or _USUAL_BRANCHES}/{_ref_part(track)}"


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


def snapshot(
    top: ProjectTop,
    packs: Packs,
    *,
    is_own: Callable[[str], bool] = lambda _path: False,
    tell: Callable[[str], None] = lambda _sentence: None,
) -> str:
    """Store a run's first commit; return its name.

    Uncommitted secrets, discussions, large files and the program's output (``is_own``) are left out.
    """
    with depot(packs) as repository:
        run = _git_of(top, repository)
        if head := top.head:
            run("read-tree", "--reset", head)
            repository.cut_history(head)
            repository.store(head)
        _update_index(run, top, is_own, tell)
        tree = run("write-tree").decode().strip()
        if head and tree == run("rev-parse", f"{head}^{{tree}}").decode().strip():
            return head
        parents = ("-p", head) if head else ()
        message = b"Changes that are not committed\n" if head else b"The project's files\n"
        commit = run("commit-tree", tree, *parents, stdin=message).decode().strip()
        repository.store(commit, *filter(None, [head]))
        return commit


def _git_of(top: ProjectTop, repository: Depot) -> RunGit:
    """Return a function that runs git on the user's files and writes only to ``repository``."""
    index = repository.folder / "project.index"
    variables = {"GIT_INDEX_FILE": str(index)}
    if not top.is_git:
        variables["GIT_WORK_TREE"] = str(top.folder)
        return partial(repository.git, "-C", str(top.folder), variables=variables)
    folder = str(top.folder)
    paths = git(folder, "rev-parse", "--git-path", "index", "--git-path", "objects")
    filters = without_filters(folder)
    if paths is None or filters is None:
        raise StateError(f"{folder}: its git repository cannot be used: check its configuration")
    user_index, user_objects = (
        top.folder / os.fsdecode(path) for path in paths.removesuffix(b"\n").split(b"\n")
    )
    # With the times of unchanged files, which then need not be read.
    with suppress(FileNotFoundError):
        shutil.copy2(user_index, index)
    objects = repository.folder / "git" / "objects"
    (objects / "info" / "alternates").write_bytes(os.fsencode(f"{user_objects}\n"))
    variables |= {**IDENTITY, "GIT_OBJECT_DIRECTORY": str(objects)}

    def run(*arguments: str, stdin: bytes = b"") -> bytes:
        command = (*_SETTINGS, *filters, *arguments)
        answer = git(folder, *command, stdin=stdin, variables=variables, limits=OWN_LIMITS)
        if answer is None:
            raise StateError(f"{folder}: git {arguments[0]} failed: run git fsck")
        return answer

    return run


def _update_index(
    run: RunGit, top: ProjectTop, is_own: Callable[[str], bool], tell: Callable[[str], None]
) -> None:
    """Add uncommitted changes and new files to the index."""
    changed = _names(run("diff-files", "-z", "--name-only", "--ignore-submodules=all"))
    new = {*FolderListing().files(str(top.folder))} - _names(run("ls-files", "-z", "--cached"))
    deleted, added, large = [], [], []
    for name in sorted(changed | new):
        path = top.folder / name
        try:
            stat = path.lstat()
            is_file = S_ISREG(stat.st_mode) or S_ISLNK(stat.st_mode)
        except OSError:
            is_file = False
        if not is_file or path.parent.resolve() != path.parent:  # no file, or behind a link
            deleted.append(name)
        elif is_secret(name) or is_history(name) or is_own(name):
            continue
        elif stat.st_size > LARGE_BYTES:
            large.append(name)
        else:
            added.append(name)
    run("update-index", "-z", "--force-remove", "--stdin", stdin=_listed(deleted))
    run("update-index", "-z", "--add", "--replace", "--stdin", stdin=_listed(added))
    if large:
        size = f"{LARGE_BYTES // 1_000_000:,} MB"
        tell(f"work trees do not contain changes of files larger than {size}: {', '.join(large)}")


def _names(listed: bytes) -> set[str]:
    return {*filter(None, os.fsdecode(listed).split("\0"))}


def _listed(names: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(name) + b"\0" for name in names)
