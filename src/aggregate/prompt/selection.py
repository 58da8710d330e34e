"""From entries to the list of files to read, each once."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.errors import ConfigError
from aggregate.base.text import heading_text
from aggregate.base.values import (
    ALLOW_SECRETS,
    Entry,
    FileItem,
    GeneratedPolicy,
    GeneratedView,
    ViewMode,
    row_maker,
)
from aggregate.code.views import is_the_text
from aggregate.project.files import FolderListing, ResolvedPath
from aggregate.project.index import INDEX_FILE, INDEX_FOLDER
from aggregate.project.paths import IgnoreRules, TooManyRulesError

MOST_NAMED = 3
"""Files that a note names before it counts the rest."""
_NAME_SECRETS = f", to take one name it and add {ALLOW_SECRETS}"


class ResolvedFile(NamedTuple):
    """A file to read, or an entry that stands for none; a tuple, since a large project has a hundred thousand.

    Attributes:
        path: As the prompt shows it: relative to the base directory with ``/``.
        file: Where it is, ``""`` for what is not read.
        entry: What the caller asks for.
        by_glob: Whether a glob stands for it.
        problem: Why it is not read, or not whole, ``""`` for a file to read.
        refused: Whether it is not read because the scope does not allow it.
        is_remark: Whether it is no file, but tells what a glob matches that is not shown.
        details: What a remark lists below its first line, one line each.
    """

    path: str
    file: str
    entry: Entry
    by_glob: bool = False
    problem: str = ""
    refused: bool = False
    is_remark: bool = False
    details: tuple[str, ...] = ()

    @property
    def item(self) -> FileItem:
        """How it is shown; its path is still the caller's path or glob."""
        return self.entry.item

    @property
    def name(self) -> str:
        """The last part of its path, which tells of its language and whether a program has written it."""
        return self.path[self.path.rfind("/") + 1 :]

    @property
    def view_mode(self) -> ViewMode:
        """Its view."""
        return self.entry.view_mode

    @property
    def is_rendered(self) -> bool:
        """Whether a view is made of it: it can be read, is in the prompt, and not in full."""
        is_raw = self.item.force_full or is_the_text(self.path, self.view_mode)
        return not is_raw and self.item.auto_aggregate and not self.problem

    def with_slices(self, slices: list[dict[str, Any]]) -> "ResolvedFile":
        """Return the file with other slices for the custom view."""
        return self.with_item(replace(self.item, custom_slices=slices))

    def generated_view(self, asked: GeneratedView) -> GeneratedView:
        """Return what is shown of it if it is generated: ``asked``, but in full where it is named."""
        return asked if self.by_glob else GeneratedView.FULL

    def with_view(self, mode: ViewMode) -> "ResolvedFile":
        """Return the file with another view."""
        return self.with_item(
            replace(self.item, view_mode=mode, ast_signatures=False, ast_definitions=False)
        )

    def in_full(self) -> "ResolvedFile":
        """Return the file shown in full, whatever its entry asks for."""
        return self.with_item(replace(self.item, force_full=True, auto_aggregate=True))

    def with_remark(self, remark: "ResolvedFile") -> "ResolvedFile":
        """Return this remark with what another one says of the same glob."""
        return self._replace(
            problem=f"{self.problem}; {remark.problem}",
            details=(*self.details, *remark.details),
        )

    def with_item(self, item: FileItem) -> "ResolvedFile":
        """Return the file shown as ``item`` says."""
        return self._replace(entry=replace(self.entry, item=item))


_NO_PROBLEM: Final = tuple(ResolvedFile._field_defaults.values())[1:]
"""The fields behind ``by_glob`` of a file that can be read."""
Note = tuple[str, str]
"""A place, and what is doubtful there."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The files of a prompt in order.

    Attributes:
        files: What to read.
        skipped: What was left out, each path with the reason.
        generated: What is shown of the generated ones among them.
    """

    files: tuple[ResolvedFile, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    generated: GeneratedPolicy = field(default_factory=GeneratedPolicy)


def resolve_entries(
    base_dir: Path,
    entries: Iterable[Entry],
    *,
    is_left_out: Callable[[str], bool] = lambda _: False,
    listing: FolderListing | None = None,
) -> Selection:
    """Resolve ``entries`` below ``base_dir``.

    A file stands once, where it is first named. An entry without wildcards decides how it is
    shown, before any glob; of two entries of one kind the later one decides. ``is_left_out`` is
    asked for files that a glob stands for. An entry that may not be read, and a glob that stands
    for nothing or meets secrets, stands there with the reason.
    """
    builder = _SelectionBuilder(base_dir, is_left_out, listing or FolderListing())
    for entry in entries:
        builder.add(entry)
    return builder.selection()


@dataclass(slots=True)
class _SelectionBuilder:
    """Collects files by the paths that the prompt shows them under."""

    base_dir: Path
    is_left_out: Callable[[str], bool]
    listing: FolderListing
    files: dict[str, ResolvedFile] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        """Add the files that ``entry`` stands for."""
        resolved = self.listing.resolve(self.base_dir, entry.item.path)
        if resolved.is_glob:
            self._add_glob(entry, resolved)
        else:
            self._add_named(entry, resolved)

    def selection(self) -> Selection:
        """Return what was collected; what one entry skips and another names is not left out."""
        for folder, problem in self.listing.problems():
            self.skipped[display_prefix(folder, self.base_dir).rstrip("/") or "."] = problem
        left_out = [
            (path, reason) for path, reason in self.skipped.items() if path not in self.files
        ]
        return Selection(tuple(self.files.values()), tuple(left_out))

    def _add_named(self, entry: Entry, resolved: ResolvedPath) -> None:
        for name in resolved.names:
            file = os.path.join(self.base_dir, name)
            path = display_path(file, self.base_dir)
            if resolved.refused:
                self.files[path] = ResolvedFile(
                    path, "", entry, problem=resolved.refused, refused=True
                )
            else:
                self.files[path] = ResolvedFile(path, resolved.real or file, entry)

    def _add_glob(self, entry: Entry, resolved: ResolvedPath) -> None:
        glob = entry.item.path
        prefix = display_prefix(resolved.folder, self.base_dir)
        self.skipped |= {prefix + name: reason for name, reason in resolved.skipped}
        names = [name for name in resolved.names if not self.is_left_out(prefix + name)]
        folder = os.path.join(resolved.folder, "")
        files, new_file = self.files, row_maker(ResolvedFile)
        for name in names:  # a loop for a hundred thousand files
            path = prefix + name
            if path not in files or files[path].by_glob:
                files[path] = new_file((path, folder + name, entry, True, *_NO_PROBLEM))
        secrets = [
            prefix + name for name in resolved.secrets if not self.is_left_out(prefix + name)
        ]
        if secrets:
            hint = "" if self.listing.scope.is_fixed else _NAME_SECRETS
            self.files[glob] = omission_remark(entry, "secret-looking", secrets, hint=hint)
        elif resolved.refused:
            self.files[glob] = ResolvedFile(glob, "", entry, problem=resolved.refused, refused=True)
        elif not names:
            self.files[glob] = ResolvedFile(glob, "", entry, problem=self._why_empty(glob))

    def _why_empty(self, glob: str) -> str:
        """Return why a glob stands for no file."""
        ignored = self.listing.ignored(self.base_dir, glob)
        if not ignored:
            return "no file matches this pattern"
        return f"all files that match this pattern are ignored or excluded, such as {ignored[0]}; name one to take it"


def omission_remark(
    entry: Entry, kind: str, paths: Sequence[str], *, hint: str = ""
) -> ResolvedFile:
    """Return the remark that files of one kind which a glob matches are not shown.

    It tells how many they are, the names of the first ones, and what to do.
    """
    plural = "s" if len(paths) > 1 else ""
    names = ", ".join(map(heading_text, paths[:MOST_NAMED]))
    if len(paths) > MOST_NAMED:
        names += f" and {len(paths) - MOST_NAMED:,} more"
    problem = f"{len(paths):,} matching file{plural} left out as {kind} ({names}){hint}"
    return ResolvedFile(entry.item.path, "", entry, problem=problem, is_remark=True)


def display_path(file: str | Path, base_dir: str | Path) -> str:
    """Return ``file`` relative to ``base_dir`` with ``/``, also where it lies outside: ``../other/c.py``."""
    folder, name = os.path.split(os.path.abspath(file))
    return display_prefix(folder, base_dir) + name


def display_prefix(folder: str | Path, base_dir: str | Path) -> str:
    """Return what stands before a name in ``folder``: ``""`` for ``base_dir`` itself, else a path ending with ``/``."""
    root = _with_separator(base_dir)
    absolute = _with_separator(folder)
    if absolute.startswith(root):
        return absolute.removeprefix(root).replace(os.sep, "/")
    try:
        return os.path.relpath(absolute, root).replace(os.sep, "/") + "/"
    except ValueError:  # on another drive of Windows
        return absolute.replace(os.sep, "/")


def _with_separator(folder: str | Path) -> str:
    return os.path.abspath(folder).rstrip(os.sep) + os.sep


def own_output_filter(
    base_dir: Path, output_dir: Path, namespace: str, folder: Path
) -> Callable[[str], bool]:
    """Return a test for what this program has written, which no glob may feed back into a prompt.

    Below the output folder: numbered prompts of the namespace with their replies, and the folders of a track's runs.
    Below the configuration's ``folder``: states and caches in ``state/``. Anywhere: the records of prompts, and the
    prompts and replies that have one beside them, whichever configuration or none they were made by; the index, which a
    user may keep in the project; and what a killed run has left half written.
    """
    output = re.escape(display_prefix(output_dir, base_dir))
    state = re.escape(display_prefix(folder / "state", base_dir))
    own_files = (
        rf"{output}{re.escape(namespace)}_[0-9]+(?:\.[a-z]+)?\.md",
        r"(?:.*/)?\.[^/]+_[0-9]+\.(?:audit|chain)\.json",
        rf"{output}[^/]+_[0-9]{{3,}}/(?:report|[0-9]{{3,}}_[^/]+)\.md",
        rf"{state}data_cache/.*",
        rf"{state}(?:conductor\.sqlite|state\.db)(?:-wal|-shm|-journal)?",
        rf"(?:.*/)?{INDEX_FOLDER}/{re.escape(INDEX_FILE)}(?:-wal|-shm|-journal)?",
        rf"(?:.*/)?\.{INDEX_FOLDER}-[0-9a-f]{{16}}\.tmp/.*",
        r"(?:.*/)?\.[^/]+-[0-9a-f]{16}\.tmp",
    )
    ours = re.compile("|".join(own_files), re.DOTALL)
    numbered = re.compile(r"(.*/)?([^/]+_[0-9]+)(?:\.[a-z]+)?\.md", re.DOTALL)

    begins = (display_prefix(output_dir, base_dir), display_prefix(folder / "state", base_dir))

    def is_ours(path: str) -> bool:
        # Quick, since it is asked of each file: nothing else can match.
        is_like_ours = path.endswith((".tmp", ".md", ".audit.json", ".chain.json"))
        if not (is_like_ours or path.startswith(begins) or INDEX_FOLDER in path):
            return False
        if ours.fullmatch(path):
            return True
        match = numbered.fullmatch(path)
        return match is not None and any(
            os.path.lexists(base_dir / f"{match[1] or ''}.{match[2]}.{kind}.json")
            for kind in ("audit", "chain")
        )

    return is_ours


def exclude_filter(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a test for paths that match one of the user's exclude patterns, written as in ``.gitignore``.

    Raises:
        ConfigError: There are too many.
    """
    try:
        rules = IgnoreRules().below("", patterns)
    except TooManyRulesError as error:
        raise ConfigError(f"files.exclude {error}: shorten it", key="files.exclude") from None
    hidden = {"": False}

    def is_hidden(folder: str) -> bool:
        unknown: list[str] = []
        while folder not in hidden:
            unknown.append(folder)
            folder = folder.rpartition("/")[0]
        for below in reversed(unknown):  # each folder once, from the top down
            hidden[below] = hidden[folder] or rules.ignores(below, is_folder=True)
            folder = below
        return hidden[folder]

    # Folders first: most files share theirs with others.
    return lambda path: is_hidden(path.rpartition("/")[0]) or rules.ignores(path, is_folder=False)
