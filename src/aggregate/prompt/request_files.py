"""Which files a request takes: what it selects, without those that tools have generated."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from aggregate.base.disk import project_root, real_path
from aggregate.base.errors import ConfigError
from aggregate.base.text import generated_reason, heading_text
from aggregate.base.values import Entry, GeneratedPolicy, GeneratedView, ViewMode
from aggregate.project.files import FolderListing
from aggregate.project.git import AttributesReader
from aggregate.prompt.focus import FOCUS_TIER, focus_paths
from aggregate.prompt.redact_prompt import redact_names
from aggregate.prompt.request import Request
from aggregate.prompt.selection import (
    Note,
    ResolvedFile,
    Selection,
    exclude_filter,
    own_output_filter,
    resolve_entries,
)

MARKED = "linguist-generated in .gitattributes"
_OUTLINED = (ViewMode.FULL, ViewMode.SKELETON)
"""The views that an outline stands for: the others are as short, or were picked for one file."""


def with_generated_policy(selection: Selection, request: Request) -> Selection:
    """Return the selection of ``request`` with what is shown of the generated files in it."""
    if request.generated is GeneratedView.FULL:
        return selection
    by_glob = [file for file in selection.files if file.by_glob]
    entries = ((file.path, file.item.path) for file in by_glob)
    focused = focus_paths(entries, request.focus_paths)
    marks, problems = _attribute_marks((file.path for file in by_glob), request.base_dir)
    return replace(
        selection,
        skipped=(*selection.skipped, *problems),
        generated=GeneratedPolicy(request.generated, focused, marks),
    )


def _attribute_marks(
    paths: Iterable[str], base_dir: Path
) -> tuple[dict[str, bool], Sequence[Note]]:
    """Return what the ``.gitattributes`` of the checkout around ``base_dir`` say, and what is wrong with them."""
    base = real_path(base_dir)
    root = project_root(base)
    below_root = base[len(root) :].replace(os.sep, "/").strip("/")
    reader = AttributesReader(root)
    marks = reader.marks(paths, base=f"{below_root}/" if below_root else "")
    return marks, reader.problems


class WrittenBy(NamedTuple):
    """What a text says of who has written it.

    Attributes:
        reason: Why it is taken for generated, ``""`` where it is not.
        size: Its bytes in UTF-8.
    """

    reason: str
    size: int

    @classmethod
    def of(cls, path: str, text: str) -> "WrittenBy":
        """Return what the text of the file at ``path`` says."""
        # Encoding a text only to measure it takes as long as reading it; most are ASCII.
        size = len(text) if text.isascii() else len(text.encode(errors="replace"))
        return cls(generated_reason(path, text), size)


@dataclass(frozen=True, slots=True)
class _Listed:
    """A generated file that is not shown but listed."""

    file: ResolvedFile
    reason: str
    size: int


@dataclass(slots=True)
class GeneratedFiles:
    """Decides for each file whether it is shown, and lists those that are not.

    Attributes:
        policy: What counts as generated, and what is shown of it.
    """

    policy: GeneratedPolicy
    _listed: dict[str, _Listed] = field(default_factory=dict)

    def shown(self, file: ResolvedFile, written_by: Callable[[], WrittenBy]) -> ResolvedFile | None:
        """Return the file as it is to be shown, ``None`` where it is only listed in a remark.

        Args:
            file: A file that can be shown.
            written_by: Returns what its text says; called only where that decides.
        """
        view = self.policy_for(file)
        if view is GeneratedView.FULL:
            return file
        mark = self.policy.marks.get(file.path)
        if mark is False:
            return file
        said = written_by()
        reason = MARKED if mark else said.reason
        if not reason:
            return file
        if view is GeneratedView.OUTLINE:
            return file.with_view(ViewMode.OUTLINE) if file.view_mode in _OUTLINED else file
        self._listed[file.path] = _Listed(file, reason, said.size)
        return None

    def policy_for(self, file: ResolvedFile) -> GeneratedView:
        """Return what is shown of a file if it is generated: what was asked for itself is shown as asked."""
        is_asked_for = not file.by_glob or self._is_asked_for(file)
        return GeneratedView.FULL if is_asked_for else self.policy.view

    def remarks(self, files: Iterable[ResolvedFile]) -> list[ResolvedFile]:
        """Return a remark for each glob that met such files among ``files``: how many, their names and their sizes."""
        groups: dict[str, list[_Listed]] = {}
        for file in files:
            if listed := self._listed.get(file.path):
                groups.setdefault(file.item.path, []).append(listed)
        return [_remark(group[0].file.entry, group) for group in groups.values()]

    def forget(self, path: str) -> None:
        """Drop what was decided of a file, which is read again or gone."""
        self._listed.pop(path, None)

    def _is_asked_for(self, file: ResolvedFile) -> bool:
        """Tell whether this very file is asked for, or left out of the prompt anyway."""
        item = file.item
        return bool(
            item.force_full
            or item.custom_slices
            or item.ast_mask
            or not item.auto_aggregate
            or file.entry.tier == FOCUS_TIER
            or file.view_mode is ViewMode.NONE
            or file.path in self.policy.focus_paths
        )


def _remark(entry: Entry, listed: Sequence[_Listed]) -> ResolvedFile:
    plural = "s" if len(listed) > 1 else ""
    size = sum(each.size for each in listed)
    problem = (
        f"{len(listed):,} matching file{plural} left out as generated "
        f"({size:,} bytes, listed by name), to take one name it"
    )
    return ResolvedFile(
        entry.item.path, "", entry, problem=problem, is_remark=True, details=tuple(_lines(listed))
    )


def _lines(listed: Iterable[_Listed]) -> list[str]:
    """Return the listed files by folder and reason: written out, paths and reasons would take twice the tokens."""
    folders: dict[str, dict[str, list[str]]] = {}
    for each in listed:
        folder, _, name = each.file.path.rpartition("/")
        reasons = folders.setdefault(folder, {})
        reasons.setdefault(each.reason, []).append(f"{heading_text(name)} ({each.size:,})")
    lines: list[str] = []
    for folder, reasons in folders.items():
        lines.append(f"{heading_text(folder)}/" if folder else "./")
        lines += [f"  {reason}: {', '.join(names)}" for reason, names in reasons.items()]
    return lines


def select_files(request: Request, *, listing: FolderListing | None = None) -> Selection:
    """Return the files of a request, without secrets in their names where these are replaced.

    What the program wrote itself and excluded files are never taken by a glob.

    Args:
        request: Whose files.
        listing: What was listed before, with the request's scope, where nothing has changed since; by default all
            folders are listed now.

    Raises:
        ConfigError: The base directory is no folder, or there are too many rules of what to leave out.
    """
    base_dir = request.base_dir
    if request.entries and not base_dir.is_dir():
        raise ConfigError(
            f"files.base_dir: there is no folder {base_dir}: correct it, relative to the configuration",
            key="files.base_dir",
        )
    is_ours = own_output_filter(base_dir, request.output_dir, request.namespace, request.shown_from)
    is_excluded = exclude_filter(request.exclude) if request.exclude else lambda _: False
    selection = resolve_entries(
        base_dir,
        request.entries,
        is_left_out=lambda path: is_ours(path) or is_excluded(path),
        listing=listing or FolderListing(request.scope),
    )
    selection = redact_names(selection, request.redaction)
    return _with_pins(with_generated_policy(selection, request), request)


def _with_pins(selection: Selection, request: Request) -> Selection:
    """Return the selection; with a task and no budget the files that it points at are shown in full (rule T-2).

    A budget decides itself how its pins are shown, and Tier 3 has its own way.
    """
    if request.task is None or request.budget is not None or request.is_tier3:
        return selection
    named = ((file.path, file.item.path) for file in selection.files if not file.is_remark)
    pinned = focus_paths(named, request.focus_paths)
    files = (file.in_full() if file.path in pinned else file for file in selection.files)
    return replace(selection, files=tuple(files))
