"""Find files that influence a run without being read here.

Git reads some of them, for example.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from aggregate.base.disk.reading import real_path
from aggregate.base.disk.witnesses import Seen
from aggregate.project.configuration import CONFIG_NAME, global_config_path
from aggregate.project.files.file_listing import visited_folders
from aggregate.project.git.guarded_git import git

# Files in parent folders with an effect on the project's extent.
_MARKS = (".git", ".gitignore", ".gitattributes", CONFIG_NAME, "HEAD")
# State of a work tree, and of its repository.
_WORK_TREE_FILES = ("HEAD", "index", "config.worktree")
_REPOSITORY_FILES = (
    "config", "packed-refs", "shallow", "info/exclude", "info/attributes", "info/grafts", "refs/replace", "reftable",
)  # fmt: skip
_SYSTEM = ("/etc/gitconfig", "~/.gitconfig")
_MOST_FOLDERS = 200_000
_LINES = 4  # of git's output: three folders and the end


class TooManyFoldersError(OSError):
    """A project has so many folders that checking them would take longer than running again."""


def steering_paths(seen: Seen, folders: Iterable[Path]) -> Iterator[str]:
    """Yield paths of files that steer the choice of files.

    The paths are absolute; the files may be missing. The ``folders`` are those of the project, its configuration and
    its output.
    """
    current = os.getcwd()  # noqa: PTH109 - text in, text out
    config = str(global_config_path())
    yield from (config, os.path.dirname(config))  # noqa: PTH120
    trees = [real_path(folder) for folder in [*seen.trees]]
    for folder in dict.fromkeys((current, *map(real_path, folders), *trees)):
        for above in (folder, *map(str, Path(folder).parents)):
            yield from (os.path.join(above, name) for name in _MARKS)
    for tree in dict.fromkeys((*trees, *map(real_path, seen.repositories))):
        yield from _git_files(tree)


def paths_behind(seen: Seen, trees: Iterable[str]) -> Iterator[str]:
    """Yield all paths that the run has read, and all folders below ``trees``."""
    current = os.getcwd()  # noqa: PTH109 - text in, text out
    for tree in trees:
        number = 0
        for number, folder in enumerate(visited_folders(tree), start=1):
            yield folder
            if number > _MOST_FOLDERS:
                raise TooManyFoldersError
    for path in [*seen.paths]:  # last, since the walk above adds ignore files
        absolute = os.path.join(current, path).replace(f"{os.sep}.{os.sep}", os.sep)
        yield absolute.removesuffix(f"{os.sep}.").rstrip(os.sep) or os.sep


def program_paths() -> Iterator[str]:
    """Yield this program's files, loaded modules and package folders."""
    package = Path(__file__).parent.parent
    for folder, folders, names in os.walk(package):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (os.path.join(folder, name) for name in names)
    modules = [getattr(module, "__file__", None) for module in [*sys.modules.values()]]
    yield from (os.path.abspath(file) for file in modules if file and os.path.lexists(file))
    yield from (path for path in sys.path if path and Path(path).is_dir())


def _git_files(folder: str) -> Iterator[str]:
    """Yield git's own files (index, HEAD, exclude rules), whose change may change the list of files."""
    output = git(folder, "rev-parse", "--git-dir", "--git-common-dir", "--show-toplevel")
    if output is None:
        return
    lines = output.decode(errors="surrogateescape").split("\n")
    if len(lines) != _LINES:
        raise OSError("the name of a folder has a line break")
    git_folder, common, top, _ = lines
    head = (git(folder, "symbolic-ref", "-q", "HEAD") or b"").decode(errors="surrogateescape")
    branch = [head.removesuffix("\n")] if head else []
    git_folder, common = os.path.join(folder, git_folder), os.path.join(folder, common)
    yield from (os.path.join(git_folder, name) for name in _WORK_TREE_FILES)
    yield from (os.path.join(common, name) for name in (*_REPOSITORY_FILES, *branch))
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
        expanded = os.path.expanduser(value)  # noqa: PTH111
        if key == "core.excludesfile":
            yield os.path.join(top, expanded)
        elif key.startswith("include") and key.endswith(".path"):  # may be missing
            yield os.path.join(os.path.dirname(file), expanded)  # noqa: PTH120
