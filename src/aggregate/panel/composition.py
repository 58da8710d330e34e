"""Compose a draft's prompt, map its lines to files, and track changes on the disk."""

import os
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk.reading import is_inside, real_path
from aggregate.base.task_budget import FileChoice
from aggregate.panel.colours import fenced_colours
from aggregate.panel.composer import Composer
from aggregate.panel.draft import Draft
from aggregate.project.configuration import Project
from aggregate.project.files import SourceFile, display_path, read_file
from aggregate.project.paths import Scope
from aggregate.prompt import Composition, File, PromptTokens, count_prompt
from aggregate.prompt.asking import Request, files_of_sections
from aggregate.prompt.document import END, Origin, OriginKind, Section, Segment
from aggregate.prompt.files import own_output_filter

_MOST_LINES: Final = 2_000  # per request: many screens
# Title of each section, and the kind of its parts.
_SECTIONS: Final = {
    Section.PROJECT: ("Project", ""),
    Section.TREE: ("Tree", ""),
    Section.CHANGED: ("Changed files", "file"),
    Section.SCREENSHOTS: ("Screenshots", "screenshots"),
    Section.BEADS: ("Beads", "beads"),
    Section.RESULTS: ("Results", "result"),
    Section.HISTORY: ("Discussion", "turn"),
    Section.FILES: ("Files", "file"),
    Section.INSTRUCTIONS: ("Instructions", ""),
    Section.ATTACHED: ("Attached", "attached"),
    Section.CHANGES: ("Changes", "file"),
    Section.TASK: ("Task", ""),
}


class PromptLines:
    """A prompt's lines with text, colours and origins; 1-based and separated by line feeds."""

    def __init__(self, composition: Composition, tokens: PromptTokens) -> None:
        self._segments = composition.prompt.segments
        self._tokens = tokens
        self._files = frozenset(file.path for file in composition.files)
        self._map = composition.source_map
        heights = (segment.text.count("\n") + 1 for segment in self._segments)
        # Segments are separated by a blank line.
        self._starts = array("Q", accumulate((height + 1 for height in heights), initial=1))
        self.count = max(self._starts[-1] - 2, 0) if self._segments else 0
        self.size = sum(map(len, composition.prompt.pieces()))

    def last_line(self, segment: int) -> int:
        return int(self._starts[segment + 1] - 2)

    def where(self, path: str, line: int) -> int:
        """Return the prompt's line for a line of a file.

        If the line is not shown, return the first line of the file's part, else 0.
        """
        prompt_line = self._map.find(path, line)
        if prompt_line is not None:
            return prompt_line
        return next((start for start, _ in self._map.runs_of(path)), 0)

    def data(self, revision: int, first: int, last: int) -> dict[str, Any]:
        first = max(first, 1)
        last = min(last, first + _MOST_LINES - 1, self.count)
        origins = self._origins(first, last)
        return {
            "revision": revision,
            "first": first,
            "lines": self._between(first, last, lambda text: text.split("\n")),
            "colours": self._between(first, last, fenced_colours),
            "origins": [self._source_line(origin) for origin in origins],
            "kinds": [origin.kind.value for origin in origins],
            "stands_for": [origin.stands_for for origin in origins],
        }

    def _between(self, first: int, last: int, convert: Callable[[str], Sequence[str]]) -> list[str]:
        """Return the values of lines ``first`` to ``last``; ``convert`` gives those of a segment."""
        if first > last:
            return []
        lines: list[str] = []
        number = bisect_right(self._starts, first) - 1
        start = int(self._starts[number])
        while number < len(self._segments) and self._starts[number] <= last:
            lines += [*convert(self._segments[number].text), ""]
            number += 1
        return lines[first - start : last - start + 1]

    def _origins(self, first: int, last: int) -> list[Origin]:
        origins: list[Origin] = []
        end = 0
        for run in self._map.runs:
            start, end = end + 1, end + run.lines
            lines = range(max(first, start), min(last, end) + 1)
            origins += [run.origin(line - start) for line in lines]
            if end >= last:
                break
        return origins

    def _source_line(self, origin: Origin) -> list[str | int] | None:
        """Return the file and line that a prompt's line shows, None if it shows no file."""
        is_file = origin.kind in (OriginKind.FILE, OriginKind.GENERATED)
        return [origin.source, origin.first] if is_file and origin.source in self._files else None

    def sections(self) -> list[dict[str, Any]]:
        """Return the rows of the outline: sections, and the parts below each."""
        rows: list[dict[str, Any]] = []
        start = 0
        for section, group in groupby(self._segments, key=lambda segment: segment.section):
            segments = list(group)
            title, kind = _SECTIONS[section]
            rows.append(self._row(title, "section", start, start + len(segments)))
            for i, segment in enumerate(segments, start):
                is_turn = section is Section.HISTORY and i > start
                if kind and (segment.source or is_turn):
                    rows.append(self._row(_title(segment), kind, i, i + 1))
            start += len(segments)
        return rows

    def _row(self, title: str, kind: str, start: int, end: int) -> dict[str, Any]:
        is_section = kind == "section"
        return {
            "title": title,
            "kind": kind,
            "source": "" if is_section else self._segments[start].source,
            "first": int(self._starts[start]),
            "last": self.last_line(end - 1),
            "tokens": sum(self._tokens.segments[start:end]),
            "depth": 0 if is_section else 1,
        }


def _title(segment: Segment) -> str:
    if segment.section in (Section.FILES, Section.CHANGED, Section.CHANGES):
        return segment.source
    heading = next((line for line in segment.text.split("\n") if line.startswith("#")), "")
    return heading.lstrip("# ") or segment.source


@dataclass(frozen=True, slots=True)
class ComposedDraft:
    draft: Draft
    project: Project
    request: Request
    composition: Composition
    tokens: PromptTokens
    lines: PromptLines
    selected: Mapping[str, File]  # files of its entries by path
    choices: Mapping[str, FileChoice]  # with a task or a budget

    @property
    def size(self) -> dict[str, int]:
        lines = self.lines
        return {"tokens": self.tokens.document, "bytes": lines.size, "lines": lines.count}


def compose_draft(
    draft: Draft, project: Project, composer: Composer, *, disk: int
) -> ComposedDraft:
    """Compose a draft's prompt; the caller must hold the composer's lock."""
    request = draft.request(project)
    composition, selected = composer.compose(request, disk=disk)
    tokens = count_prompt(composition.prompt, index=composer.index, end=END)
    composer.index.flush()
    return ComposedDraft(
        draft,
        project,
        request,
        composition,
        tokens,
        PromptLines(composition, tokens),
        selected,
        {choice.path: choice for choice in composition.choices},
    )


# A change of these files may change the list of files.
_DECIDING: Final = frozenset({".gitignore", ".gitattributes"})
# Temporary names of this program.
HALF_WRITTEN: Final = re.compile(r"(?:^|[/\\])\.[^/\\]+-[0-9a-f]{16}\.tmp$")


class DiskState:
    """The changes on the disk since the last prompt.

    It is not thread-safe.

    Attributes:
        number: Changes with each noted change on the disk.
        is_watched: Whether the disk is watched; else any file may have changed.
    """

    def __init__(self) -> None:
        self.number = 0
        self.is_watched = False
        self._changed: set[str] | None = None
        self._must_list = True

    def check_all(self, *, must_list: bool = True) -> None:
        """Make the next composition check all files.

        With ``must_list`` the files are also listed again.
        """
        self.number += 1
        self._changed = None
        self._must_list |= must_list

    def note(self, paths: Collection[str], listed: Collection[str], base_dir: Path) -> None:
        """Note changed, new or deleted files; ``listed`` are the known ones."""
        self.number += 1
        if self._changed is not None:
            self._changed.update(paths)
        self._must_list |= any(
            path not in listed
            or path.rpartition("/")[2] in _DECIDING
            or not os.path.lexists(base_dir / path)
            for path in paths
        )

    def take(self) -> tuple[set[str] | None, bool]:
        """Return the files changed since the last call (None: unknown), and whether to list files again."""
        if not self.is_watched:  # any file may have changed
            self.check_all(must_list=False)
        changes = self._changed, self._must_list
        self._changed, self._must_list = set(), False
        return changes


def is_own(paths: Sequence[str], composed: ComposedDraft | None, base_dir: Path) -> bool:
    """Return whether all paths are this program's own files.

    Own files are its prompts, records and states. Other files in the same folders do not count: prompts may be in a
    folder of sources.
    """
    if composed is None:
        return False
    request = composed.request
    output, folder = (Path(real_path(path)) for path in (request.output_dir, request.shown_from))
    is_ours = own_output_filter(base_dir, output, request.namespace, folder)
    # New folders are reported with our files in them.
    folders = (str(output), str(folder / "state"))
    return all(path in folders or is_ours(display_path(path, base_dir)) for path in paths)


def read_listed(file: File, scope: Scope) -> SourceFile:
    """Read a file of the panel's file table.

    Refuse a link that leads out of the project.
    """
    if file.problem or not file.file:
        return SourceFile("", error=file.problem or "cannot be read")
    if not scope.allow_outside and not is_inside(real_path(file.file), scope.root):
        return SourceFile("", error="a link out of the project, so not read")
    return read_file(file.file, hashed=True)


def single_files(composed: ComposedDraft) -> list[str]:
    """Return the absolute paths of individually watched files.

    These are named files (ignored or not), files outside the base directory, the discussion, and beads.
    """
    request, project = composed.request, composed.project
    paths = [
        file.file
        for file in composed.selected.values()
        if file.file and (not file.by_glob or file.path.startswith("../"))
    ]
    config = project.path or project.folder / "manual_slop.toml"
    return [*map(os.path.abspath, paths), *files_of_sections(config, request)]
