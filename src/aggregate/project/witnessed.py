"""What a run depends on without opening it: what git reads for it, folders in which something could appear."""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from aggregate.base.disk.reading import real_path
from aggregate.base.disk.witnesses import Seen
from aggregate.project.configuration import CONFIG_NAME, global_config_path
from aggregate.project.files.path_resolution import visited_folders
from aggregate.project.git.git_process import git

# What changes what a run takes for the project, in each folder above its files.
_MARKS = (".git", ".gitignore", ".gitattributes", CONFIG_NAME, "HEAD")
# What says which files git knows, and which commits: below the folder of a work tree, and of all of them.
_OF_WORK_TREE = ("HEAD", "index", "config.worktree")
_OF_REPOSITORY = (
    "config", "packed-refs", "shallow", "info/exclude", "info/attributes", "info/grafts", "refs/replace", "reftable",
)  # fmt: skip
_SYSTEM = ("/etc/gitconfig", "~/.gitconfig")
_MOST_FOLDERS = 200_000


class TooManyFoldersError(OSError):
    """A project has so many folders that looking at each takes longer than it saves."""


def paths_behind(seen: Seen, folders: Iterable[Path]) -> Iterator[str]:
    """Yield absolute paths; ``folders`` are those of the project, its configuration and its output."""
    here = os.getcwd()  # noqa: PTH109 - text in, text out
    yield os.path.dirname(global_config_path())  # noqa: PTH120
    trees = [real_path(folder) for folder in [*seen.trees]]
    for folder in dict.fromkeys((here, *map(real_path, folders), *trees)):
        yield from _marks_above(folder)
    for tree in trees:
        yield from _of_git(tree)
        number = 0
        for number, folder in enumerate(visited_folders(tree), start=1):
            yield folder
            if number > _MOST_FOLDERS:
                raise TooManyFoldersError
    for path in [*seen.paths]:  # at last: the ignore files that the walk has read are among them
        absolute = os.path.join(here, path).replace(f"{os.sep}.{os.sep}", os.sep)
        yield absolute.removesuffix(f"{os.sep}.").rstrip(os.sep) or os.sep


def program_paths() -> Iterator[str]:
    """Yield the files of this program and of all that it has loaded, and the folders where others are installed."""
    package = Path(__file__).parent.parent
    for folder, folders, names in os.walk(package):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (os.path.join(folder, name) for name in names)
    modules = [getattr(module, "__file__", None) for module in [*sys.modules.values()]]
    yield from (os.path.abspath(file) for file in modules if file and os.path.lexists(file))
    yield from (path for path in sys.path if path and Path(path).is_dir())


def _marks_above(folder: str) -> Iterator[str]:
    while True:
        yield from (os.path.join(folder, name) for name in _MARKS)
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return
        folder = above


def _of_git(folder: str) -> Iterator[str]:
    """Yield the files that git reads to tell which files it knows, ignores and has committed."""
    told = git(folder, "rev-parse", "--git-dir", "--git-common-dir")
    if told is None:
        return
    own, common = told.decode(errors="surrogateescape").splitlines()
    branch = (git(folder, "symbolic-ref", "-q", "HEAD") or b"").decode().split()
    own, common = os.path.join(folder, own), os.path.join(folder, common)
    yield from (os.path.join(own, name) for name in _OF_WORK_TREE)
    yield from (os.path.join(common, name) for name in (*_OF_REPOSITORY, *branch))
    yield from map(os.path.expanduser, _SYSTEM)
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
    yield from (os.path.join(home, "git", name) for name in ("config", "ignore", "attributes"))
    settings = git(folder, "config", "--list", "--show-origin", "-z") or b""
    texts = settings.decode(errors="surrogateescape").split("\0")
    for origin, setting in zip(texts[::2], texts[1::2], strict=False):
        kind, _, path = origin.partition(":")
        if kind == "file":
            yield os.path.join(folder, path)
        key, _, value = setting.partition("\n")
        if key == "core.excludesfile":
            yield os.path.join(folder, os.path.expanduser(value))  # noqa: PTH111
