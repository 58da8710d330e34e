"""Which files a module means that a file imports, as it is written there."""

import re
from collections.abc import Sequence

from aggregate.ranking.path_table import PathTable

_ROOTS = frozenset({"crate", "self", "super", "std", "@", "~", "src"})
"""First parts that name no folder of their own."""
_LONGEST = 400
"""Characters of a module that is looked up."""
_MOST_FILES = 200
"""Files of a package: a use of one with more says nothing."""
_MOST_DROPPED = 4
"""Leading parts that are no folders of the project, such as ``github.com/owner/name`` and a version."""
_SEPARATORS = re.compile(r"::|[/\\]|\.(?=[A-Za-z_*])")
_RELATIVE = re.compile(r"\.{1,2}/|\.+(?=[A-Za-z_]|$)")


def files_of_module(paths: PathTable, importer: str, module: str) -> Sequence[int]:
    r"""Return the numbers of the files that ``module`` means in ``importer``; of a package, the files of its folder.

    Args:
        paths: The project's paths.
        importer: The path of the file that imports.
        module: As written: dotted, with ``::``, ``/`` or ``\``, relative with ``./``, ``../`` or leading dots.
    """
    module = module[:_LONGEST].strip("\"'<>; ")
    if not module:
        return ()
    if _RELATIVE.match(module):
        return _relative(paths, importer, module)
    if "/" in module or module.endswith(".h"):  # C looks beside the file first
        beside = _at(paths, _joined(importer.rpartition("/")[0], module))
        if beside:
            return beside
    return _by_suffix(paths, module)


def _relative(paths: PathTable, importer: str, module: str) -> Sequence[int]:
    folder = importer.rpartition("/")[0]
    if "/" in module or module in (".", ".."):
        return _at(paths, _joined(folder, module))
    dots = len(module) - len(module.lstrip("."))
    for _ in range(dots - 1):
        folder = folder.rpartition("/")[0]
    return _at(paths, _joined(folder, module[dots:].replace(".", "/")))


def _joined(folder: str, relative: str) -> str:
    """Return a relative path below ``folder``, without ``.`` and ``..``."""
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _at(paths: PathTable, path: str) -> Sequence[int]:
    """Return the file of a path, with or without its suffix, else those that stand for the folder."""
    number = paths.numbers.get(path)
    if number is not None:
        return (number,)
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    same = [file for file in paths.by_stem.get(stem, ()) if paths.folder(file) == folder]
    if same:
        return same
    return _package(paths, path)


def _package(paths: PathTable, folder: str) -> Sequence[int]:
    """Return the files of a folder, none where they are too many."""
    files = paths.by_folder.get(folder, ())
    return files if len(files) <= _MOST_FILES else ()


def _by_suffix(paths: PathTable, module: str) -> Sequence[int]:
    """Return the files whose paths end like a module, first as a whole, then without its first parts."""
    is_dotted = "/" not in module and "::" not in module and "\\" not in module
    parts = [part for part in _SEPARATORS.split(module) if part and part not in _ROOTS]
    most = 0 if is_dotted else min(_MOST_DROPPED, len(parts) - 1)
    for dropped in range(most + 1):
        files = _ending(paths, parts[dropped:])
        if files:
            return files
    return ()


def _ending(paths: PathTable, parts: Sequence[str]) -> Sequence[int]:
    """Return the files, else those of the folder, whose paths end with ``parts``; the file's suffix is free."""
    if not parts:
        return ()
    *folders, last = parts
    tail = "/".join(folders)
    for number_list in (paths.by_stem.get(last, ()), paths.by_name.get(last, ())):
        files = [file for file in number_list if _ends(paths.folder(file), tail)]
        if files:
            return files if len(files) <= _MOST_FILES else ()
    whole = "/".join(parts)
    for folder in paths.folders_by_name.get(last, ()):
        if _ends(folder, whole):
            return _package(paths, folder)
    return ()


def _ends(folder: str, tail: str) -> bool:
    return not tail or folder == tail or folder.endswith(f"/{tail}")
