"""A draft with its prompt, by its lines; what is known of changes on the disk between two prompts."""

import os
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk.reading import is_inside, real_path
from aggregate.base.request import FileChoice
from aggregate.panel.colours import fenced_colours
from aggregate.panel.draft import Draft
from aggregate.project.configuration import Project
from aggregate.project.files import SourceFile, display_path, read_file
from aggregate.project.paths import Scope
from aggregate.prompt import (
    Composer,
    Composition,
    PromptTokens,
    Request,
    ResolvedFile,
    count_prompt,
    files_of_sections,
    own_output_filter,
)
from aggregate.prompt.document import END, Origin, OriginKind, Section, Segment

_MOST_LINES: Final = 2_000  # Lines that are given at once: many screens
# What each is called, and of what kind its parts are, if it has some.
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
    """A prompt by its lines, which are those that a line feed ends; the first one is 1."""

    def __init__(self, composition: Composition, tokens: PromptTokens) -> None:
        self._segments = composition.prompt.segments
        self._tokens = tokens
        self._files = frozenset(file.path for file in composition.files)
        self._map = composition.source_map
        heights = (segment.text.count("\n") + 1 for segment in self._segments)
        # A blank line parts two segments.
        self._starts = array("Q", accumulate((height + 1 for height in heights), initial=1))
        self.count = max(self._starts[-1] - 2, 0) if self._segments else 0
        self.size = sum(map(len, composition.prompt.pieces()))

    def last_line(self, segment: int) -> int:
        return int(self._starts[segment + 1] - 2)

    def where(self, path: str, line: int) -> int:
        """Return the line of the prompt that shows or stands for a file's line; else the file's first, else ``0``."""
        shown = self._map.find(path, line)
        if shown is not None:
            return shown
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
            "origins": [self._place(origin) for origin in origins],
            "kinds": [origin.kind.value for origin in origins],
            "stands_for": [origin.stands_for for origin in origins],
        }

    def _between(self, first: int, last: int, of_each: Callable[[str], Sequence[str]]) -> list[str]:
        if first > last:
            return []
        lines: list[str] = []
        number = bisect_right(self._starts, first) - 1
        start = int(self._starts[number])
        while number < len(self._segments) and self._starts[number] <= last:
            lines += [*of_each(self._segments[number].text), ""]
            number += 1
        return lines[first - start : last - start + 1]

    def _origins(self, first: int, last: int) -> list[Origin]:
        origins: list[Origin] = []
        end = 0
        for run in self._map.runs:
            start, end = end + 1, end + run.lines
            shown = range(max(first, start), min(last, end) + 1)
            origins += [run.origin(line - start) for line in shown]
            if end >= last:
                break
        return origins

    def _place(self, origin: Origin) -> list[str | int] | None:
        """Return the file of a line, and which of its lines that shows or stands for, ``0`` for the whole file."""
        is_kind = origin.kind in (OriginKind.FILE, OriginKind.GENERATED)
        return [origin.source, origin.first] if is_kind and origin.source in self._files else None

    def sections(self) -> list[dict[str, Any]]:
        """Return what folds: the sections, and what each holds."""
        rows: list[dict[str, Any]] = []
        segments = self._segments
        starts = [
            i for i, each in enumerate(segments) if not i or each.section != segments[i - 1].section
        ]
        for start, end in zip(starts, [*starts[1:], len(segments)], strict=False):
            title, kind = _SECTIONS[segments[start].section]
            rows.append(self._row(title, "section", start, end))
            for i in range(start, end):
                is_turn = segments[i].section is Section.HISTORY and i > start
                if kind and (segments[i].source or is_turn):
                    rows.append(self._row(_title(segments[i]), kind, i, i + 1))
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
    selected: Mapping[str, ResolvedFile]  # the files that its entries stand for, by their paths
    choices: Mapping[str, FileChoice] = field(default_factory=dict)  # with a task or a budget


def compose_draft(
    draft: Draft, project: Project, composer: Composer, *, disk: int
) -> ComposedDraft:
    """Return a draft with its prompt; hold the composer's lock."""
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


# Names of files that decide on others, so that the listing may be another one.
_DECIDING: Final = frozenset({".gitignore", ".gitattributes"})
# What a file is called while it is written, by this program.
HALF_WRITTEN: Final = re.compile(r"(?:^|[/\\])\.[^/\\]+-[0-9a-f]{16}\.tmp$")


class DiskState:
    """Collects what was changed until the next prompt; for one thread at a time.

    Attributes:
        number: Of the state that is known: as long as it is the same, no file was changed.
    """

    def __init__(self) -> None:
        self.number = 0
        self.is_watched = False
        self._changed: set[str] | None = None
        self._must_list = True

    def look_anew(self, *, must_list: bool = True) -> None:
        """Let the next prompt look at all files that are listed, and list them anew where there may be others."""
        self.number += 1
        self._changed = None
        self._must_list |= must_list

    def note(self, paths: Collection[str], listed: Collection[str], base_dir: Path) -> None:
        """Note that files were changed, made or deleted."""
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
        """Return the files that were changed, ``None`` where that is not known, and whether there may be other files.

        What comes then is for the next prompt.
        """
        if not self.is_watched:  # whatever is on the disk may have been changed
            self.look_anew(must_list=False)
        taken = self._changed, self._must_list
        self._changed, self._must_list = set(), False
        return taken


def is_own(paths: Sequence[str], composed: ComposedDraft | None, base_dir: Path) -> bool:
    """Tell whether all of these absolute paths are what we have written ourselves: prompts, records, states.

    Not whatever lies beside them: the folder of the prompts may be one of sources too.
    """
    if composed is None:
        return False
    request = composed.request
    output, folder = (Path(real_path(path)) for path in (request.output_dir, request.shown_from))
    is_ours = own_output_filter(base_dir, output, request.namespace, folder)
    # A folder comes with what was written into it.
    folders = (str(output), str(folder / "state"))
    return all(path in folders or is_ours(display_path(path, base_dir)) for path in paths)


def read_listed(file: ResolvedFile, scope: Scope) -> SourceFile:
    """Return a file that was listed, as it is now; a link out of the project that has come since is not followed."""
    if file.problem or not file.file:
        return SourceFile("", error=file.problem or "cannot be read")
    if not scope.allow_outside and not is_inside(real_path(file.file), scope.root):
        return SourceFile("", error="is a link out of the project: not read")
    return read_file(file.file, hashed=True)


def single_files(composed: ComposedDraft) -> list[str]:
    """Return the absolute paths of files to be watched one by one, wherever they lie and whatever ignores them.

    These are the files that an entry names or that lie outside of the base directory, the discussion, and beads.
    """
    request, project = composed.request, composed.project
    paths = [
        file.file
        for file in composed.selected.values()
        if file.file and (not file.by_glob or file.path.startswith("../"))
    ]
    config = project.path or project.folder / "manual_slop.toml"
    return [*map(os.path.abspath, paths), *files_of_sections(config, request)]
