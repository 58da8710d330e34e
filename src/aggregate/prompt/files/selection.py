"""Select the files that the entries of a request (paths and globs) match, each file once."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aggregate.base.disk.reading import project_root, real_path
from aggregate.base.errors import ConfigError
from aggregate.base.files import (
    Entry,
    FileItem,
    GeneratedPolicy,
    GeneratedView,
    Narrowing,
    ViewMode,
)
from aggregate.base.redaction import Redaction, redact_words
from aggregate.base.text import heading_text
from aggregate.base.values import row_maker
from aggregate.code.views import is_the_text
from aggregate.project.files import FolderListing, ResolvedPath, display_path, display_prefix
from aggregate.project.git import AttributesReader
from aggregate.project.index import INDEX_FILE, INDEX_FOLDER
from aggregate.project.paths import ALLOW_SECRETS, IgnoreRules, Scope, TooManyRulesError
from aggregate.prompt.asking.request import focus_paths

if TYPE_CHECKING:
    from aggregate.prompt.asking.request import Request

_MOST_NAMED: Final = 3  # files in a sentence, which counts the rest
SLICE_LABELS: Final = ("tag", "comment")
_NAME_SECRETS = f"; name one and add {ALLOW_SECRETS} to include it"


class ResolvedFile(NamedTuple):
    """A file to read, or a note in its place.

    A named tuple takes little memory: large projects have 100,000 files.

    Attributes:
        path: The path in the prompt: relative to the base directory with ``/``.
        file: Its location, ``""`` for an unread file.
        problem: Why it is not read, or not whole; ``""`` for a file to read.
        refused: The scope forbids to read it.
        is_remark: It is a remark on a glob's omitted files.
        details: Further lines of a remark.
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
        return self.entry.item

    @property
    def view_mode(self) -> ViewMode:
        return self.entry.view_mode

    @property
    def is_rendered(self) -> bool:
        """Whether the file is shown by a view.

        Raw files, files with a problem and files with ``auto_aggregate`` off are not.
        """
        item = self.entry.item
        is_raw = item.force_full or is_the_text(self.path, self.entry.view_mode)
        return not is_raw and item.auto_aggregate and not self.problem

    def with_slices(self, slices: list[dict[str, Any]]) -> "ResolvedFile":
        return self.with_item(replace(self.item, custom_slices=slices))

    def with_item(self, item: FileItem) -> "ResolvedFile":
        return self._replace(entry=replace(self.entry, item=item))


# The fields behind ``by_glob`` of a file that can be read.
_NO_PROBLEM: Final = tuple(ResolvedFile._field_defaults.values())[1:]
Note = tuple[str, str]  # a path, and a doubt


@dataclass(frozen=True, slots=True)
class Selection:
    """The files of a prompt in order."""

    files: tuple[ResolvedFile, ...]
    skipped: tuple[Note, ...] = ()
    generated: GeneratedPolicy = field(default_factory=GeneratedPolicy)


def select_files(request: "Request", *, listing: FolderListing | None = None) -> Selection:
    """Return the files of a request.

    Secrets in their names are replaced. Globs skip the program's own output and excluded files. With a task and no
    budget, focus files are shown in full (rule T-2); prompts with a budget and Tier 3 prompts have other rules.
    """
    base_dir = request.base_dir
    if request.entries and not base_dir.is_dir():
        raise ConfigError(
            f"files.base_dir: no such folder: {base_dir}: correct it, relative to the configuration",
            key="files.base_dir",
        )
    is_own = own_output_filter(base_dir, request.output_dir, request.namespace, request.shown_from)
    output = request.output_file and display_path(request.output_file, base_dir)

    def is_ours(path: str) -> bool:
        return path == output or is_own(path)

    resolve = partial(
        resolve_entries,
        base_dir,
        is_ours=is_ours,
        is_excluded=_pattern_filter(request.exclude, "files.exclude"),
        listing=listing or FolderListing(request.scope),
    )
    selection = _narrowed(resolve(request.entries), request.narrowing, resolve)
    selection = _redact_names(selection, request.redaction)
    selection = with_generated_policy(selection, request)
    if request.task is None or request.budget is not None or request.is_tier3:
        return selection
    pairs = ((file.path, file.item.path) for file in selection.files if not file.is_remark)
    pinned = focus_paths(pairs, request.focus_paths)
    files = (
        file.with_item(replace(file.item, force_full=True, auto_aggregate=True))
        if file.path in pinned
        else file
        for file in selection.files
    )
    return replace(selection, files=tuple(files))


def _narrowed(
    selection: Selection, narrowing: Narrowing, resolve: Callable[[Iterable[Entry]], Selection]
) -> Selection:
    """Return the files that the command line selects, with the settings of configured entries (T-13, B-3)."""
    if narrowing.paths:
        configured = {file.path: file for file in selection.files if not file.is_remark}
        selected = resolve(Entry(FileItem(path)) for path in narrowing.paths)
        files = (
            configured[file.path]._replace(by_glob=file.by_glob)
            if file.path in configured
            else file
            for file in selected.files
        )
        selection = replace(selected, files=tuple(files))
    if not (narrowing.include or narrowing.exclude):
        return selection
    includes = _pattern_filter(narrowing.include, "--include")
    excludes = _pattern_filter(narrowing.exclude, "--exclude")

    def is_wanted(path: str) -> bool:
        if not path.startswith(narrowing.folder):
            return not narrowing.include
        name = path[len(narrowing.folder) :]
        return not excludes(name) and (not narrowing.include or includes(name))

    files = (file for file in selection.files if file.is_remark or is_wanted(file.path))
    return replace(selection, files=tuple(files))


def resolve_entries(
    base_dir: Path,
    entries: Iterable[Entry],
    *,
    is_ours: Callable[[str], bool] = lambda _: False,
    is_excluded: Callable[[str], bool] = lambda _: False,
    listing: FolderListing | None = None,
) -> Selection:
    """Resolve ``entries`` below ``base_dir``.

    A file is listed once, at its first entry. Entries without wildcards override globs, later entries earlier ones.
    ``is_ours`` and ``is_excluded`` filter globs. Forbidden entries, globs without matches and globs with
    secret-looking files are listed with the reason.
    """
    listing = listing or FolderListing()
    files: dict[str, ResolvedFile] = {}
    skipped: dict[str, str] = {}

    def ignored(glob: str, prefix: str) -> str:
        names = listing.ignored(base_dir, glob)
        return next((name for name in names if not is_ours(prefix + name)), "")

    for entry in entries:
        resolved = listing.resolve(base_dir, entry.item.path)
        if resolved.is_glob:
            prefix = display_prefix(resolved.folder, base_dir)
            skipped |= {prefix + name: reason for name, reason in resolved.skipped}
            names, secrets = (
                [
                    name
                    for name in matches
                    if not (is_ours(prefix + name) or is_excluded(prefix + name))
                ]
                for matches in (resolved.names, resolved.secrets)
            )
            _add_matches(files, entry, resolved.folder, prefix, names)
            if remark := _glob_remark(
                entry, resolved, prefix, names, secrets, listing.scope, ignored
            ):
                files[remark.path] = remark
            continue
        for name in resolved.names:
            file = os.path.join(base_dir, name)
            path = display_path(file, base_dir)
            reason = resolved.refused
            location = "" if reason else resolved.real or file
            files[path] = ResolvedFile(path, location, entry, problem=reason, refused=bool(reason))
    for folder, problem in listing.problems():
        skipped[display_prefix(folder, base_dir).rstrip("/") or "."] = problem
    # An entry may skip a file that another one names.
    left_out = tuple((path, reason) for path, reason in skipped.items() if path not in files)
    return Selection(tuple(files.values()), left_out)


def _add_matches(
    files: dict[str, ResolvedFile], entry: Entry, folder: str, prefix: str, names: Sequence[str]
) -> None:
    folder = os.path.join(folder, "")
    new_file = row_maker(ResolvedFile)
    for name in names:  # a loop for 100,000 files
        path = prefix + name
        if path not in files or files[path].by_glob:
            files[path] = new_file((path, folder + name, entry, True, *_NO_PROBLEM))


def _glob_remark(
    entry: Entry,
    resolved: ResolvedPath,
    prefix: str,
    names: Sequence[str],
    secrets: Sequence[str],
    scope: Scope,
    find_ignored: Callable[[str, str], str],
) -> ResolvedFile | None:
    """Return a remark on a glob that matches no files, or secret-looking or forbidden ones."""
    glob = entry.item.path
    if secrets:
        hint = "" if scope.is_fixed else _NAME_SECRETS
        paths = [prefix + name for name in secrets]
        return omission_remark(entry, "secret-looking", paths, hint=hint)
    if resolved.refused:
        return ResolvedFile(glob, "", entry, problem=resolved.refused, refused=True)
    if names:
        return None
    problem = "no file matches this pattern"
    if ignored := find_ignored(glob, prefix):
        why = "all files that match this pattern are ignored or excluded"
        problem = f"{why}, such as {ignored}; name one to include it"
    return ResolvedFile(glob, "", entry, problem=problem)


def omission_remark(
    entry: Entry, kind: str, paths: Sequence[str], *, hint: str = ""
) -> ResolvedFile:
    """Return a remark on the files of one kind that a glob left out."""
    files = "files are" if len(paths) > 1 else "file is"
    names = ", ".join(map(heading_text, paths[:_MOST_NAMED]))
    if len(paths) > _MOST_NAMED:
        names += f" and {len(paths) - _MOST_NAMED:,} more"
    problem = f"{len(paths):,} {kind} {files} left out ({names}){hint}"
    return ResolvedFile(entry.item.path, "", entry, problem=problem, is_remark=True)


def with_generated_policy(selection: Selection, request: "Request") -> Selection:
    """Apply the configured view of generated files, and git's attributes that mark these."""
    if request.generated is GeneratedView.FULL:
        return selection
    by_glob = [file for file in selection.files if file.by_glob]
    entries = ((file.path, file.item.path) for file in by_glob)
    focused = focus_paths(entries, request.focus_paths)
    base = real_path(request.base_dir)
    root = project_root(base)
    below_root = base[len(root) :].replace(os.sep, "/").strip("/")
    reader = AttributesReader(root)
    paths = (file.path for file in by_glob)
    marks = reader.marks(paths, base=f"{below_root}/" if below_root else "")
    return replace(
        selection,
        skipped=(*selection.skipped, *reader.problems),
        generated=GeneratedPolicy(request.generated, focused, marks),
    )


def own_output_filter(
    base_dir: Path, output_dir: Path, namespace: str, folder: Path
) -> Callable[[str], bool]:
    """Return a test for this program's own files.

    Globs must skip these files. Below the output folder: numbered prompts of the namespace with replies, and folders of
    tracks' runs. Below the configuration's ``folder``: ``state/``. Anywhere: records of prompts, prompts and replies
    beside a record, the index, and temporary files.
    """
    begins = (display_prefix(output_dir, base_dir), display_prefix(folder / "state", base_dir))
    output, state = map(re.escape, begins)
    own_files = (
        rf"{output}{re.escape(namespace)}_[0-9]+(?:\.[a-z]+)?\.(?:md|xml)",
        r"(?:.*/)?\.[^/]+\.(?:audit|chain)\.json",
        rf"{output}[^/]+_[0-9]{{3,}}/(?:report\.md|events\.jsonl|[0-9]{{3,}}_[^/]+\.md)",
        rf"{state}data_cache/.*",
        rf"{state}(?:conductor\.sqlite|state\.db)(?:-wal|-shm|-journal)?",
        rf"(?:.*/)?{INDEX_FOLDER}/{re.escape(INDEX_FILE)}(?:-wal|-shm|-journal)?",
        rf"(?:.*/)?\.{INDEX_FOLDER}-[0-9a-f]{{16}}\.tmp/.*",
        r"(?:.*/)?\.[^/]+-[0-9a-f]{16}\.tmp",
    )
    ours = re.compile("|".join(own_files), re.DOTALL)
    recorded = re.compile(r"(.*/)?([^/]+?)(?:\.reply)?\.(?:md|txt|xml)", re.DOTALL)

    def is_ours(path: str) -> bool:
        # A quick check for each file: nothing else can match.
        is_like_ours = path.endswith((".tmp", ".md", ".txt", ".xml", ".audit.json", ".chain.json"))
        if not (is_like_ours or path.startswith(begins) or INDEX_FOLDER in path):
            return False
        if ours.fullmatch(path):
            return True
        match = recorded.fullmatch(path)
        return match is not None and any(
            os.path.lexists(base_dir / f"{match[1] or ''}.{match[2]}.{kind}.json")
            for kind in ("audit", "chain")
        )

    return is_ours


def _pattern_filter(patterns: Sequence[str], key: str) -> Callable[[str], bool]:
    """Return a test for paths that match patterns as in ``.gitignore``."""
    if not patterns:
        return lambda _: False
    try:
        rules = IgnoreRules().below("", patterns)
    except TooManyRulesError as error:
        raise ConfigError(f"{key} {error}: shorten it", key=key) from None
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


def _redact_names(selection: Selection, redaction: Redaction) -> Selection:
    """Return a selection without secrets in names, entries and slices.

    Files with equal names then get numbers.
    """
    clean = redact_words([*_words_of(selection)], redaction) if redaction.replaces else {}
    if not clean:
        return selection
    clean_paths = {file.path for file in selection.files if file.path not in clean}
    entries: dict[int, Entry] = {}

    def said(text: str) -> str:
        return clean.get(text, text)

    def clean_entry(entry: Entry) -> Entry:
        item = entry.item
        slices = [dict(piece) for piece in item.custom_slices]
        for piece in slices:
            piece |= {key: said(piece[key]) for key in SLICE_LABELS if piece.get(key)}
        return replace(entry, item=replace(item, path=said(item.path), custom_slices=slices))

    files: list[ResolvedFile] = []
    for file in selection.files:
        path = file.path
        if path in clean:
            names = chain([clean[path]], (f"{clean[path]} ({number})" for number in count(2)))
            path = next(name for name in names if name not in clean_paths)
            clean_paths.add(path)
        if id(file.entry) not in entries:
            entries[id(file.entry)] = clean_entry(file.entry)
        details = tuple(map(said, file.details))
        files.append(
            file._replace(
                path=path,
                entry=entries[id(file.entry)],
                problem=said(file.problem),
                details=details,
            )
        )
    skipped = tuple((said(path), said(reason)) for path, reason in selection.skipped)
    return replace(selection, files=tuple(files), skipped=skipped)


def _words_of(selection: Selection) -> Iterator[str]:
    last = None
    for file in selection.files:
        yield from (file.path, file.problem, *file.details)
        if file.entry is not last:
            last = file.entry
            yield last.item.path
            slices = last.item.custom_slices
            yield from (str(piece.get(key) or "") for piece in slices for key in SLICE_LABELS)
    yield from chain(*selection.skipped)
