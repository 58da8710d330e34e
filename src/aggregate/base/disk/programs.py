"""A process of ours starts no program of a project: found on PATH outside of it, also where a library asks for one.

Libraries start programs by their names: ``webbrowser`` a browser, which is handed the panel's token, ``platform``
``uname`` and ``file``. With ``.``, an empty entry or a folder of the project on PATH these would be the project's own.
So PATH is cleaned before anything else is imported. Libraries also name programs by their paths, or hand over a PATH of
their own: an audit hook looks at each start.

Programs that embed this one own their processes: importing it does neither. What compiled code starts raises no event.
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

# How the names of modules begin that the user has asked to run: what these start is the user's choice.
TOOL_MODULES: Final = "aggregate_tools_"
_USERS_CHOICE: Final = (TOOL_MODULES, "aggregate.cli.users_command")

_STARTS: Final = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"})

_PATHS: Final[list[str]] = []  # as it was when the process began
# Whose projects are guarded against; empty in a process that is not ours.
_FOLDERS: Final[set[str]] = set()


def find_program(
    name: str, *, outside: "Iterable[str | Path]" = (), path: str | None = None
) -> str | None:
    """Return the absolute path of a program by its name, ``None`` where no folder of ``search_path`` has it.

    Programs in the current folder and in those ``outside`` are never taken; an absolute path is the user's choice.
    """
    if os.path.isabs(name):  # noqa: PTH117 - text in, text out
        return _which(name)
    roots = _forbidden_roots(outside)
    for folder in search_path(outside=outside, path=path).split(os.pathsep):
        # With a folder in the name nothing but that folder is searched, also on Windows.
        place = os.path.join(folder, name)
        note((place,))  # it may come to lie there
        program = _which(place)
        if program and not _lies_in(program, roots):
            return program
    return None


def _which(name: str, path: str | None = None) -> str | None:
    import shutil  # also unpacks archives, for which each start would take 3 ms

    return shutil.which(name, path=path)


def search_path(*, outside: "Iterable[str | Path]" = (), path: str | None = None) -> str:
    """Return the folders of ``path`` that a program may be taken from, for what we start to find its own helpers in.

    Empty and relative entries mean the current folder, which may be an untrusted project. They are left out, and so
    are entries in the current folder, in ``outside``, and in the projects around these. Where none is left the path has
    no programs, since an empty one would mean the current folder again.
    """
    roots = _forbidden_roots(outside)
    search = os.environ.get("PATH", os.defpath) if path is None else path
    folders = [folder for folder in search.split(os.pathsep) if os.path.isabs(folder)]  # noqa: PTH117 - in each start
    allowed = [folder for folder in folders if not _lies_in(folder, roots)]
    return os.pathsep.join(allowed) or os.devnull


def _lies_in(path: str, roots: Iterable[str]) -> bool:
    # Or is a link there or from there.
    folder, name = os.path.split(path)
    here = os.path.join(real_path(folder), name)
    reals = (here, real_path(here)) if os.path.islink(here) else (here,)  # noqa: PTH114
    return any(is_inside(real, root) for root in roots for real in reals)


def _forbidden_roots(outside: "Iterable[str | Path]" = ()) -> list[str]:
    # Of the projects around these; one with the user's home in it is none that came from somebody else.
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - without a home it stays as it is
    roots = {project_root(folder) for folder in (os.curdir, *outside)}
    return sorted(root for root in roots if not is_inside(home, root))


def guard_process() -> None:
    """Clean PATH, and refuse each program that lies in the project around the current folder; once is enough."""
    if _FOLDERS:
        return
    _PATHS.append(os.environ.get("PATH", os.defpath))
    if os.name == "nt":  # else the system and its shell look in the current folder before PATH
        os.environ["NODEFAULTCURRENTDIRECTORYINEXEPATH"] = "1"
    with suppress(FileNotFoundError):  # the current folder was deleted: no program is in it
        _FOLDERS.add(os.getcwd())  # noqa: PTH109 - text in, text out
        os.environ["PATH"] = search_path()
    sys.addaudithook(_look_at)


def users_environment() -> dict[str, str]:
    """Return the environment as the user's own shell has it."""
    return {**os.environ, **({"PATH": _PATHS[0]} if _PATHS else {})}


def guard_project(folder: "str | Path") -> None:
    """Do the same for the project around ``folder``, where this process is guarded."""
    if _FOLDERS and (real := real_path(folder)) not in _FOLDERS:
        _FOLDERS.add(real)
        os.environ["PATH"] = search_path(outside={*_FOLDERS})


def _look_at(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse a program of a project; called at every event, of which hardly any starts a program."""
    if event not in _STARTS:
        return
    roots = _forbidden_roots({*_FOLDERS})
    for program in _programs(event, arguments):
        if _is_of_project(program, roots) and not _is_users_choice():
            raise PermissionError(EACCES, "a program of the project is not started", program)


def _programs(event: str, arguments: tuple[Any, ...]) -> Iterator[str]:
    folder = variables = words = None
    if event == "subprocess.Popen":
        program, words, folder, variables = arguments
    elif event == "os.system":
        program, words = None, arguments[0]
    else:
        program, _, variables = arguments
    names = [] if program is None else [os.fsdecode(program)]
    if isinstance(words, str | bytes):  # of Windows, or of a shell
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
        elif found := _which(name, path=os.pathsep.join(search)):
            yield found


def _first_word(command: str | bytes) -> str:
    text = os.fsdecode(command).lstrip()
    quote = text[:1] if text[:1] in ("'", '"') else None
    return [*text.split(quote), ""][1 if quote else 0]


def _is_of_project(program: str, roots: Sequence[str]) -> bool:
    # The environment that this one runs in usually lies in a project, and is no part of it.
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
