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
_LINES = 4  # That git prints of three folders, with the end


class TooManyFoldersError(OSError):
    """A project has so many folders that looking at each takes longer than it saves."""


def steering_paths(seen: Seen, folders: Iterable[Path]) -> Iterator[str]:
    """Yield the absolute paths of what decides on other files too, or would if it were there.

    The ``folders`` are those of the project, its configuration and its output.
    """
    here = os.getcwd()  # noqa: PTH109 - text in, text out
    config = str(global_config_path())
    yield from (config, os.path.dirname(config))  # noqa: PTH120
    trees = [real_path(folder) for folder in [*seen.trees]]
    for folder in dict.fromkeys((here, *map(real_path, folders), *trees)):
        yield from _marks_above(folder)
    for tree in dict.fromkeys((*trees, *map(real_path, seen.repositories))):
        yield from _of_git(tree)


def paths_behind(seen: Seen, trees: Iterable[str]) -> Iterator[str]:
    """Yield the absolute paths of folders in ``trees`` in which something could appear, and of what was looked at."""
    here = os.getcwd()  # noqa: PTH109 - text in, text out
    for tree in trees:
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
    told = git(folder, "rev-parse", "--git-dir", "--git-common-dir", "--show-toplevel")
    if told is None:
        return
    lines = told.decode(errors="surrogateescape").split("\n")
    if len(lines) != _LINES:
        raise OSError("the name of a folder has a line break")
    own, common, top, _ = lines
    head = (git(folder, "symbolic-ref", "-q", "HEAD") or b"").decode(errors="surrogateescape")
    branch = [head.removesuffix("\n")] if head else []
    own, common = os.path.join(folder, own), os.path.join(folder, common)
    yield from (os.path.join(own, name) for name in _OF_WORK_TREE)
    yield from (os.path.join(common, name) for name in (*_OF_REPOSITORY, *branch))
    yield from map(os.path.expanduser, _SYSTEM)
    yield from filter(None, map(os.environ.get, ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")))
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
    yield from (os.path.join(home, "git", name) for name in ("config", "ignore", "attributes"))
    settings = git(folder, "config", "--list", "--show-origin", "-z") or b""
    texts = settings.decode(errors="surrogateescape").split("\0")
    for origin, setting in zip(texts[::2], texts[1::2], strict=False):
        kind, _, path = origin.partition(":")
        file = os.path.join(top, path)
        if kind == "file":
            yield file
        key, _, value = setting.partition("\n")
        named = os.path.expanduser(value)  # noqa: PTH111
        if key == "core.excludesfile":
            yield os.path.join(top, named)
        elif key.startswith("include") and key.endswith(".path"):  # it may not be there yet
            yield os.path.join(os.path.dirname(file), named)  # noqa: PTH120
