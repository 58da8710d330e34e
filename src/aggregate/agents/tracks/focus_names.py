"""The files that the focus of a ticket names."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from aggregate.agents.tracks.track_spec import TrackSpec
from aggregate.base.values import Entry, FileItem
from aggregate.prompt import ALL_FILES, FocusIndex, Request, select_files


class FocusNames:
    """Finds the files that a ticket's focus names, among those of the project and beside them.

    Attributes:
        entries: The candidates.
    """

    def __init__(self, request: Request, spec: TrackSpec) -> None:
        # Without any files a budget is about all that git would take (rule T-6).
        entries = request.entries or (Entry(FileItem(ALL_FILES)),)
        self.entries = (*entries, *spec.entry(str(request.base_dir)))
        self._asked = replace(request, entries=self.entries)

    @cached_property
    def known(self) -> frozenset[str]:
        """The paths of the project's files."""
        return frozenset(path for path, _ in self._files)

    def of(self, focus: str) -> Sequence[str]:
        """Return the paths of the files that ``focus`` names, itself where the project has none of them."""
        return [self._files[place][0] for place in self._index.places(focus)] or [focus]

    @cached_property
    def _files(self) -> tuple[tuple[str, str], ...]:
        selection = select_files(self._asked)
        return tuple((file.path, file.item.path) for file in selection.files if not file.is_remark)

    @cached_property
    def _index(self) -> FocusIndex:
        return FocusIndex(self._files)
