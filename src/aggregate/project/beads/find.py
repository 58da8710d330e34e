"""Where a project keeps its beads.

The search follows ``FindBeadsDir`` of Beads 1.0.5 (``internal/beads/beads.go``): the variable ``BEADS_DIR``, then
upwards from the base directory to the root of its git checkout, then the main checkout of a worktree. It goes further
in two points: a directory that holds only a JSONL file counts, and so does the mock client's
``.beads_mock/beads.json``. And it stops earlier in one: outside a git checkout only the base directory itself is looked
at, so that nobody's ``/tmp/.beads`` gets into a prompt.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aggregate.base.disk import is_inside, read_bytes, real_path

# The most bytes of a file that holds a path in a line: no system takes a path of that length.
_LINE_BYTES = 65_536
_MOCK_DIR = ".beads_mock"
_MOCK_FILE = "beads.json"
_DOLT_DIRS = ("dolt", "embeddeddolt")
_DATABASE = "beads.db"
_PREFERRED_JSONL = ("issues.jsonl", "beads.jsonl")
_OTHER_JSONL = (
    "deletions.jsonl", "interactions.jsonl", "routes.jsonl", "molecules.jsonl", "beads.base.jsonl", "beads.left.jsonl",
    "beads.right.jsonl",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BeadsFiles:
    directory: Path  # the ``.beads`` directory, after a redirect
    jsonl: Path | None = None  # the export to read
    database: Path | None = None  # the SQLite database to read
    mock: Path | None = None  # the mock client's list
    dolt: bool = False  # whether a Dolt database holds the truth, which only ``bd`` can read
    for_bd: bool = False  # whether ``bd`` itself accepts the directory

    @property
    def readable(self) -> bool:
        return bool(self.jsonl or self.database or self.mock)


def find_beads_files(base_dir: Path, *, environ: Mapping[str, str]) -> BeadsFiles | None:
    named = environ.get("BEADS_DIR")
    if named and (files := _inspect(base_dir / named)):
        return files
    start = base_dir.resolve()
    above = [start, *start.parents]
    depth = next((i for i, folder in enumerate(above) if (folder / ".git").exists()), None)
    root = None if depth is None else above[depth]
    folders = above[: (depth or 0) + 1]  # outside of a checkout only where it starts
    own = next((files for folder in folders if (files := _in_folder(folder))), None)
    if own and own.readable:
        return own
    # Tracked files of a .beads directory are checked out in a worktree, its database is not.
    main = _main_checkout(root) if root else None
    shared = _in_folder(main) if main else None
    return shared if shared and (own is None or shared.readable) else own


def possible_beads_files(base_dir: Path, *, environ: Mapping[str, str]) -> list[Path]:
    """Return the files that hold the beads, and those that would hold them once they are there, to be watched."""
    files = find_beads_files(base_dir, environ=environ)
    directory = files.directory if files and not files.mock else base_dir / ".beads"
    paths = [directory / name for name in (*_PREFERRED_JSONL, _DATABASE)]
    paths.append(base_dir / _MOCK_DIR / _MOCK_FILE)
    if files:
        paths += [path for path in (files.jsonl, files.database, files.mock) if path]
    # SQLite writes first to the file beside.
    databases = [path for path in paths if path.suffix == ".db"]
    return [*paths, *(path.with_name(f"{path.name}-wal") for path in databases)]


def is_own(files: BeadsFiles, root: str) -> bool:
    """Tell whether all of the files lie below ``root``, a real path, or in the main checkout of that worktree."""
    main = _main_checkout(Path(root))
    roots = [root, *([os.path.realpath(main)] if main else [])]
    paths = [path for path in (files.directory, files.jsonl, files.database, files.mock) if path]
    return all(any(is_inside(real_path(path), folder) for folder in roots) for path in paths)


def _in_folder(folder: Path) -> BeadsFiles | None:
    if files := _inspect(folder / ".beads"):
        return files
    mock = folder / _MOCK_DIR / _MOCK_FILE
    return BeadsFiles(mock.parent, mock=mock) if _is_file(mock) else None


def _inspect(directory: Path) -> BeadsFiles | None:
    directory = _follow_redirect(directory)
    try:
        names = sorted(path.name for path in directory.iterdir())
    except OSError:
        return None
    databases = [  # "vc.db" is that of version control
        directory / name
        for name in names
        if name.endswith(".db") and ".backup" not in name and name != "vc.db"
    ]
    # The best first (FindJSONLInDir of old Beads).
    others = [name for name in names if name.endswith(".jsonl") and name not in _OTHER_JSONL]
    exports = [directory / name for name in (*_PREFERRED_JSONL, *others) if name in names]
    jsonl = next(filter(_is_file, exports), None)
    dolt = any((directory / name).is_dir() for name in _DOLT_DIRS)
    for_bd = dolt or bool(databases) or "metadata.json" in names or "config.yaml" in names
    if not (for_bd or jsonl):
        return None
    database = min(
        filter(_is_file, databases), key=lambda path: path.name != _DATABASE, default=None
    )
    return BeadsFiles(directory, jsonl=jsonl, database=database, dolt=dolt, for_bd=for_bd)


def _is_file(path: Path) -> bool:
    """Tell whether something else than a folder is there; one that is no regular file is refused with a reason."""
    return path.exists() and not path.is_dir()


def _follow_redirect(directory: Path) -> Path:
    """Return the directory that the file ``redirect`` names, once; without a usable one ``directory`` itself."""
    try:
        lines = map(str.strip, _line_file(directory / "redirect").splitlines())
        target = next((line for line in lines if line and not line.startswith("#")), "")
        redirected = directory.parent / target
        return redirected if target and redirected.is_dir() else directory
    except (OSError, ValueError):  # also a NUL character in the path
        return directory


def _main_checkout(root: Path) -> Path | None:
    """Return the main checkout of the worktree at ``root``, whose ``.git`` is a file that names its git directory.

    That directory must name the worktree too, as git writes it: else any folder could claim to belong to a checkout.
    """
    try:
        git_dir = root / _line_file(root / ".git").removeprefix("gitdir:").strip()
        if not (git_dir / _line_file(git_dir / "gitdir").strip()).samefile(root / ".git"):
            return None
        return (git_dir / _line_file(git_dir / "commondir").strip()).resolve().parent
    except (OSError, ValueError):  # a directory: no worktree; or a pointer to nowhere
        return None


def _line_file(path: Path) -> str:
    return read_bytes(path, limit=_LINE_BYTES).decode("utf-8", "replace")
