"""Prevent starts of programs in a project, even by libraries.

Libraries start programs by name: ``webbrowser`` starts a browser with the panel's token, ``platform`` starts ``uname``
and ``file``. With ``.``, an empty entry or a project's folder on PATH such a name could find the project's own program.
So PATH is cleaned before other imports. Libraries also start programs by path or with another PATH: an audit hook
checks each start.

Importing this module changes nothing, since programs that embed this package own their processes. Programs started by
compiled code raise no audit event.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from errno import EACCES
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from aggregate.base.disk.reading import is_inside, project_root, real_path
from aggregate.base.disk.witnesses import note

if TYPE_CHECKING:
    from pathlib import Path

# Prefixes of modules started by the user; their starts are the user's choice.
TOOL_MODULES: Final = "aggregate_tools_"
_USERS_CHOICE: Final = (TOOL_MODULES, "aggregate.cli.users_command")
_STARTS: Final = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"})
_PATHS: Final[list[str]] = []  # PATH at the start of the process
# Folders of guarded projects; empty if this process is not guarded.
_FOLDERS: Final[set[str]] = set()


def find_program(
    name: str, *, outside: "Iterable[str | Path]" = (), path: str | None = None, safe_path: str = ""
) -> str | None:
    """Return the path of a program on PATH.

    Programs in the current folder's project and in the projects of ``outside`` are skipped. An absolute ``name`` is the
    user's choice. ``path`` replaces PATH, ``safe_path`` is the result of ``search_path`` if known.
    """
    if os.path.isabs(name):  # noqa: PTH117 - text in, text out
        return _which(name)
    roots = _forbidden_roots(outside)
    safe_path = safe_path or search_path(outside=outside, path=path)
    for folder in safe_path.split(os.pathsep):
        # A name with a folder is searched only there, also on Windows.
        candidate = os.path.join(folder, name)
        note((candidate,))  # also if missing: it may appear later
        program = _which(candidate)
        if program and not _lies_in(program, roots):
            return program
    return None


def _which(name: str, path: str | None = None) -> str | None:
    import shutil  # takes 3 ms

    return shutil.which(name, path=path)


def search_path(*, outside: "Iterable[str | Path]" = (), path: str | None = None) -> str:
    """Return the safe entries of PATH, or of ``path``.

    This process and its children find programs there. Drops empty and relative entries, which mean the current folder,
    and entries in the projects of the current folder and of ``outside``. If no entry remains, returns a path without
    programs: an empty one would mean the current folder.
    """
    roots = _forbidden_roots(outside)
    search = os.environ.get("PATH", os.defpath) if path is None else path
    folders = [folder for folder in search.split(os.pathsep) if os.path.isabs(folder)]  # noqa: PTH117 - in each start
    allowed = [folder for folder in folders if not _lies_in(folder, roots)]
    return os.pathsep.join(allowed) or os.devnull


def _lies_in(path: str, roots: Iterable[str]) -> bool:
    folder, name = os.path.split(path)
    location = os.path.join(real_path(folder), name)
    targets = {location, real_path(location)} if os.path.islink(location) else {location}  # noqa: PTH114
    return any(is_inside(target, root) for root in roots for target in targets)


def _forbidden_roots(outside: "Iterable[str | Path]" = ()) -> list[str]:
    # A project around the user's home is the user's own.
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises without a home
    roots = {project_root(folder) for folder in (os.curdir, *outside)}
    return sorted(root for root in roots if not is_inside(home, root))


def guard_process() -> None:
    """Clean PATH, and refuse to start programs of the current project. A second call changes nothing."""
    if _FOLDERS:
        return
    _PATHS.append(os.environ.get("PATH", os.defpath))
    if os.name == "nt":  # Windows would search the current folder before PATH
        os.environ["NODEFAULTCURRENTDIRECTORYINEXEPATH"] = "1"
    with suppress(FileNotFoundError):  # the current folder was deleted
        _FOLDERS.add(os.getcwd())  # noqa: PTH109 - text in, text out
        os.environ["PATH"] = search_path()
    sys.addaudithook(_check_start)


def users_environment() -> dict[str, str]:
    """Return the environment with the PATH from before this program restricted it."""
    return {**os.environ, **({"PATH": _PATHS[0]} if _PATHS else {})}


def guard_project(folder: "str | Path") -> None:
    """In a guarded process, also refuse programs of the project around ``folder``."""
    if _FOLDERS and (real := real_path(folder)) not in _FOLDERS:
        _FOLDERS.add(real)
        os.environ["PATH"] = search_path(outside={*_FOLDERS})


def _check_start(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: refuse to start a program in a project."""
    if event not in _STARTS:
        return
    roots = _forbidden_roots({*_FOLDERS})
    for program in _programs(event, arguments):
        if _is_of_project(program, roots) and not _is_users_choice():
            raise PermissionError(EACCES, "refused to start a program of the project", program)


def _programs(event: str, arguments: tuple[Any, ...]) -> Iterator[str]:
    folder = variables = words = None
    if event == "subprocess.Popen":
        program, words, folder, variables = arguments
    elif event == "os.system":
        program, words = None, arguments[0]
    else:
        program, _, variables = arguments
    names = [] if program is None else [os.fsdecode(program)]
    if isinstance(words, str | bytes):  # on Windows, or for a shell
        names = names or [_first_word(words)]
    elif words and words[1:2] == ["-c"] and os.path.basename(os.fsdecode(words[0])) == "sh":  # noqa: PTH119
        names.append(_first_word(words[2]))
    current = os.path.abspath(os.fsdecode(folder or os.curdir))
    search = [os.path.join(current, entry) for entry in os.get_exec_path(variables)]
    if os.name == "nt" or event in ("os.exec", "os.posix_spawn"):
        search.insert(0, current)
    for name in names:
        if os.path.dirname(name):  # noqa: PTH120 - text in, text out
            yield os.path.join(current, name)
        elif program := _which(name, path=os.pathsep.join(search)):
            yield program


def _first_word(command: str | bytes) -> str:
    text = os.fsdecode(command).lstrip()
    quote = text[:1] if text[:1] in ("'", '"') else None
    return [*text.split(quote), ""][1 if quote else 0]


def _is_of_project(program: str, roots: Sequence[str]) -> bool:
    # Our own virtual environment is usually inside a project but not part of it.
    if program == sys.executable:
        return False
    environment, folder = real_path(sys.prefix), real_path(os.path.dirname(program))  # noqa: PTH120
    if is_inside(folder, environment):
        roots = [root for root in roots if is_inside(root, environment)]
    return _lies_in(program, roots)


def _is_users_choice() -> bool:
    frame: FrameType | None = sys._getframe()
    while frame and not str(frame.f_globals.get("__name__")).startswith(_USERS_CHOICE):
        frame = frame.f_back
    return frame is not None
