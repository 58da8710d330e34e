"""Select the files that the entries of a request (paths and globs) match, each file once."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Final, TypeVar

from aggregate.base.disk.reading import project_root, real_path
from aggregate.base.errors import ConfigError, SeedError
from aggregate.base.files import Entry, FileItem, GeneratedView, Narrowing
from aggregate.base.monitor import timed
from aggregate.base.redaction import Redaction, redact_words
from aggregate.base.text import heading_text
from aggregate.project.files import FolderListing, ResolvedPath, display_path, display_prefix
from aggregate.project.git import generated_marks
from aggregate.project.index import INDEX_FILE, INDEX_FOLDER
from aggregate.project.paths import ALLOW_SECRETS, IgnoreRules, TooManyRulesError
from aggregate.prompt.asking import Request, focus_paths, unknown_focus
from aggregate.prompt.files.file import File, Remark

_MOST_NAMED: Final = 3  # files in a sentence, which counts the rest
SLICE_LABELS: Final = ("tag", "comment")
_NO_MATCH = "no file matches this pattern (globs skip ignored files)"
_NAME_SECRETS = f"; name one and add {ALLOW_SECRETS} to include it"
# The fields behind ``by_glob`` of a file that can be read.
_NO_PROBLEM: Final = tuple(File._field_defaults.values())[1:]
Note = tuple[str, str]  # a path, and a doubt
_Test = Callable[[str], bool]
_Row = TypeVar("_Row", File, Remark)


@dataclass(frozen=True, slots=True)
class Selection:
    """The files of a prompt in order, and remarks on files that globs leave out."""

    files: tuple[File, ...] = ()
    remarks: tuple[Remark, ...] = ()
    skipped: tuple[Note, ...] = ()
    generated: GeneratedView = GeneratedView.FULL  # ``FULL``: each file as its entry says
    focus_paths: frozenset[str] = frozenset()  # shown as their entries say
    marks: Mapping[str, bool] = field(default_factory=dict)  # ``.gitattributes`` by path

    @property
    def refused(self) -> tuple[str, ...]:
        """Errors about files outside of the readable scope."""
        refused = (file for file in self.files if file.refused)
        return tuple(f"ERROR: {file.problem}: {heading_text(file.path)}" for file in refused)

    def with_generated_policy(self, request: "Request") -> "Selection":
        """Apply the configured view of generated files, and git's attributes that mark these."""
        if request.generated is GeneratedView.FULL:
            return self
        by_glob = [file for file in self.files if file.by_glob]
        entries = ((file.path, file.item.path) for file in by_glob)
        focused = focus_paths(entries, request.focus_paths)
        base = real_path(request.base_dir)
        root = project_root(base)
        below_root = base[len(root) :].replace(os.sep, "/").strip("/")
        paths = (file.path for file in by_glob)
        marks, problems = generated_marks(root, paths, base=f"{below_root}/" if below_root else "")
        return replace(
            self,
            skipped=(*self.skipped, *problems),
            generated=request.generated,
            focus_paths=focused,
            marks=marks,
        )

    def check_focus(self, request: "Request") -> None:
        """Raise ``SeedError`` if no focus file of a request exists."""
        files = [(file.path, file.item.path) for file in self.files]
        if request.focus_paths and not focus_paths(files, request.focus_paths):
            paths = [path for path, _ in files]
            raise SeedError("; ".join(unknown_focus(path, paths) for path in request.focus_paths))


@timed("select_files")
def select_files(request: "Request", *, listing: FolderListing | None = None) -> Selection:
    """Return the files of a request.

    Secrets in their names are replaced. Globs skip the program's own output and excluded files.
    """
    if request.entries and not request.base_dir.is_dir():
        raise ConfigError(
            f"files.base_dir: no such folder: {request.base_dir}: correct it, relative to the configuration",
            key="files.base_dir",
        )
    matcher = _EntryMatcher.of(request, listing or FolderListing(request.scope))
    selection = matcher.match(request.entries)
    selection = _narrowed(selection, request.narrowing, matcher)
    selection = _with_clean_names(selection, request.redaction)
    return _with_focus(selection.with_generated_policy(request), request)


def _with_focus(selection: Selection, request: "Request") -> Selection:
    """Show focus files in full with a task and no budget (rule T-2).

    Prompts with a budget and Tier 3 prompts have other rules.
    """
    if request.task is None or request.budget is not None or request.is_tier3:
        return selection
    pairs = ((file.path, file.item.path) for file in selection.files)
    pinned = focus_paths(pairs, request.focus_paths)
    files = [
        file.with_item(replace(file.item, force_full=True, auto_aggregate=True))
        if file.path in pinned
        else file
        for file in selection.files
    ]
    return replace(selection, files=tuple(files))


def _narrowed(selection: Selection, narrowing: Narrowing, matcher: "_EntryMatcher") -> Selection:
    """Return the files that the command line selects, with the settings of configured entries (T-13, B-3)."""
    if narrowing.paths:
        configured = {file.path: file for file in selection.files}
        selection = matcher.match(Entry(FileItem(path)) for path in narrowing.paths)
        files = [
            configured.get(file.path, file)._replace(by_glob=file.by_glob)
            for file in selection.files
        ]
        selection = replace(selection, files=tuple(files))
    if not (narrowing.include or narrowing.exclude):
        return selection
    includes = _pattern_filter(narrowing.include, "--include")
    excludes = _pattern_filter(narrowing.exclude, "--exclude")
    wanted: list[File] = []
    for file in selection.files:
        name = file.path.removeprefix(narrowing.folder)
        if not file.path.startswith(narrowing.folder):
            is_wanted = not narrowing.include
        else:
            is_wanted = not excludes(name) and (not narrowing.include or includes(name))
        if is_wanted:
            wanted.append(file)
    return replace(selection, files=tuple(wanted))


def _nothing(_path: str) -> bool:
    return False


def resolve_entries(
    base_dir: Path, entries: Iterable[Entry], *, listing: FolderListing | None = None
) -> Selection:
    """Return the files that entries below ``base_dir`` match, without any filter."""
    return _EntryMatcher(base_dir, listing or FolderListing()).match(entries)


@dataclass(frozen=True, slots=True)
class _EntryMatcher:
    """Finds the files that entries match."""

    base_dir: Path
    listing: FolderListing
    is_ours: _Test = _nothing  # the program's own output, which globs skip
    is_excluded: _Test = _nothing  # other files that globs skip

    @classmethod
    def of(cls, request: "Request", listing: FolderListing) -> "_EntryMatcher":
        base_dir, output = request.base_dir, ""
        if request.output_file:
            output = display_path(request.output_file, base_dir)
        is_ours = own_output_filter(
            base_dir, request.output_dir, request.namespace, request.shown_from, output=output
        )
        return cls(base_dir, listing, is_ours, _pattern_filter(request.exclude, "files.exclude"))

    def match(self, entries: Iterable[Entry]) -> Selection:
        """Return the files of entries.

        A file is listed once, at its first entry. Entries without wildcards override globs, later entries earlier ones.
        Forbidden entries and globs without matches are listed with the reason.
        """
        files: dict[str, File] = {}
        remarks: dict[str, Remark] = {}
        skipped: dict[str, str] = {}
        for entry in entries:
            resolved = self.listing.resolve(self.base_dir, entry.item.path)
            if not resolved.is_glob:
                self._add_names(files, entry, resolved)
                continue
            prefix = display_prefix(resolved.folder, self.base_dir)
            skipped |= {prefix + name: reason for name, reason in resolved.skipped}
            names = self._unfiltered(prefix, resolved.names)
            secrets = [prefix + name for name in self._unfiltered(prefix, resolved.secrets)]
            _add_matches(files, entry, resolved.folder, prefix, names)
            if secrets:
                hint = "" if self.listing.scope.is_fixed else _NAME_SECRETS
                remark = omission_remark(entry, "secret-looking", secrets, hint=hint)
                remarks[remark.path] = remark
            elif problem := resolved.refused or ("" if names else _NO_MATCH):
                refused = bool(resolved.refused)
                glob = entry.item.path
                files[glob] = File(glob, "", entry, problem=problem, refused=refused)
        for folder, problem in self.listing.problems():
            skipped[display_prefix(folder, self.base_dir).rstrip("/") or "."] = problem
        # An entry may skip a file that another one names.
        left_out = tuple((path, reason) for path, reason in skipped.items() if path not in files)
        return Selection(tuple(files.values()), tuple(remarks.values()), left_out)

    def _add_names(self, files: dict[str, File], entry: Entry, resolved: ResolvedPath) -> None:
        for name in resolved.names:
            file = os.path.join(self.base_dir, name)
            path, reason = display_path(file, self.base_dir), resolved.refused
            location = "" if reason else resolved.real or file
            files[path] = File(path, location, entry, problem=reason, refused=bool(reason))

    def _unfiltered(self, prefix: str, names: Sequence[str]) -> list[str]:
        is_ours, is_excluded = self.is_ours, self.is_excluded
        return [
            name for name in names if not (is_ours(prefix + name) or is_excluded(prefix + name))
        ]


def _add_matches(
    files: dict[str, File], entry: Entry, folder: str, prefix: str, names: Sequence[str]
) -> None:
    folder = os.path.join(folder, "")
    new_file = partial(tuple.__new__, File)  # a third of the time of a call
    for name in names:  # a loop for 100,000 files
        path = prefix + name
        if path not in files or files[path].by_glob:
            files[path] = new_file((path, folder + name, entry, True, *_NO_PROBLEM))


def omission_remark(entry: Entry, kind: str, paths: Sequence[str], *, hint: str = "") -> Remark:
    """Return a remark on the files of one kind that a glob left out."""
    files = "files are" if len(paths) > 1 else "file is"
    names = ", ".join(map(heading_text, paths[:_MOST_NAMED]))
    if len(paths) > _MOST_NAMED:
        names += f" and {len(paths) - _MOST_NAMED:,} more"
    problem = f"{len(paths):,} {kind} {files} left out ({names}){hint}"
    return Remark(entry.item.path, entry, problem)


def own_output_filter(
    base_dir: Path, output_dir: Path, namespace: str, folder: Path, *, output: str = ""
) -> _Test:
    """Return a test for this program's own files.

    Globs must skip these files. Below the output folder: numbered prompts of the namespace with replies, and folders of
    tracks' runs. Below the configuration's ``folder``: ``state/``. Anywhere: records of prompts, prompts and replies
    beside a record, the index, temporary files, and the file ``output``.
    """
    begins = (display_prefix(output_dir, base_dir), display_prefix(folder / "state", base_dir))
    prompts, state = map(re.escape, begins)
    own_files = (
        rf"{prompts}{re.escape(namespace)}_[0-9]+(?:\.[a-z]+)?\.(?:md|xml)",
        r"(?:.*/)?\.[^/]+\.(?:audit|chain)\.json",
        rf"{prompts}[^/]+_[0-9]{{3,}}/(?:report\.md|events\.jsonl|[0-9]{{3,}}_[^/]+\.md)",
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
            return path == output
        if path == output or ours.fullmatch(path):
            return True
        match = recorded.fullmatch(path)
        return match is not None and any(
            os.path.lexists(base_dir / f"{match[1] or ''}.{match[2]}.{kind}.json")
            for kind in ("audit", "chain")
        )

    return is_ours


def _pattern_filter(patterns: Sequence[str], key: str) -> _Test:
    """Return a test for paths that match patterns as in ``.gitignore``."""
    if not patterns:
        return _nothing
    try:
        rules = IgnoreRules().below("", patterns)
    except TooManyRulesError as error:
        raise ConfigError(f"{key} {error}: shorten it", key=key) from None
    # Folders once: most files share theirs with others.
    hides_folder = cache(rules.hides_folder)
    return lambda path: (
        hides_folder(path.rpartition("/")[0]) or rules.ignores(path, is_folder=False)
    )


def _with_clean_names(selection: Selection, redaction: Redaction) -> Selection:
    """Return a selection without secrets in names, entries and slices.

    Files with equal names then get numbers.
    """
    clean = redact_words([*_words_of(selection)], redaction) if redaction.replaces else {}
    if not clean:
        return selection
    names = _CleanNames(clean, {file.path for file in selection.files if file.path not in clean})
    files = tuple(map(names.row, selection.files))
    remarks = tuple(map(names.row, selection.remarks))
    skipped = tuple((names.text(path), names.text(reason)) for path, reason in selection.skipped)
    return replace(selection, files=files, remarks=remarks, skipped=skipped)


@dataclass(frozen=True, slots=True)
class _CleanNames:
    """Texts without secrets."""

    clean: Mapping[str, str]  # by the text
    paths: set[str]  # given away
    entries: dict[int, Entry] = field(default_factory=dict)

    def row(self, row: _Row) -> _Row:
        path, entry, problem = self.path(row.path), self.entry(row.entry), self.text(row.problem)
        return row._replace(path=path, entry=entry, problem=problem)

    def text(self, text: str) -> str:
        return self.clean.get(text, text)

    def path(self, path: str) -> str:
        if path not in self.clean:
            return path
        name = clean = self.clean[path]
        number = 2
        while name in self.paths:
            name, number = f"{clean} ({number})", number + 1
        self.paths.add(name)
        return name

    def entry(self, entry: Entry) -> Entry:
        if id(entry) not in self.entries:
            item = entry.item
            slices = [dict(piece) for piece in item.custom_slices]
            for piece in slices:
                piece |= {key: self.text(piece[key]) for key in SLICE_LABELS if piece.get(key)}
            item = replace(item, path=self.text(item.path), custom_slices=slices)
            self.entries[id(entry)] = replace(entry, item=item)
        return self.entries[id(entry)]


def _words_of(selection: Selection) -> Iterator[str]:
    last = None
    rows = [(file.path, file.problem, file.entry) for file in selection.files]
    rows += [(remark.path, remark.problem, remark.entry) for remark in selection.remarks]
    for path, problem, entry in rows:
        yield from (path, problem)
        if entry is not last:
            last = entry
            yield last.item.path
            slices = last.item.custom_slices
            yield from (str(piece.get(key) or "") for piece in slices for key in SLICE_LABELS)
    for path, reason in selection.skipped:
        yield from (path, reason)
