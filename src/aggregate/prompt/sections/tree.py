"""The tree of a project's files, with its likeliest folders open (rule T-12)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from aggregate.base.text import fence, heading_text
from aggregate.prompt.document import Section, Segment, Stability

_MOST_FOLDERS = 60  # open ones, about a page
_MOST_NAMES = 40  # listed names of a folder


class Tree:
    """A tree of paths, the likeliest files first, with sentences that describe folders."""

    def __init__(self, paths: Sequence[str], sentences: Mapping[str, str] | None = None) -> None:
        self._sentences = sentences or {}
        self._sizes: Counter[str] = Counter()
        self._held: dict[str, dict[str, None]] = {}
        for path in paths:
            folder, end = "", path.find("/") + 1
            while end:
                self._sizes[path[:end]] += 1
                self._held.setdefault(folder, {})[path[:end]] = None
                folder, end = path[:end], path.find("/", end) + 1
            self._held.setdefault(folder, {})[path] = None
        self.folders = [*self._held][:_MOST_FOLDERS]

    def segments(self, number: int) -> tuple[Segment, ...]:
        """Return the section with the first ``number`` folders open, no segments without files."""
        if not number:
            return ()
        lines = "\n".join(self._lines("", frozenset(self.folders[:number]), ""))
        text = fence(lines, "text", before="## Tree\n\n")
        return (Segment(Section.TREE, text, Stability.SLOW),)

    def _lines(self, folder: str, opened: frozenset[str], indent: str) -> Iterator[str]:
        held = sorted(self._held[folder])
        folders = [path for path in held if path.endswith("/")]
        for path in map(self._shortened, folders[:_MOST_NAMES]):
            name, number = heading_text(path[len(folder) :]), self._sizes[path]
            sentence = self._sentences.get(path, "")
            about = f": {heading_text(sentence)}" if sentence else ""
            yield f"{indent}{name} ({number:,} file{'s' if number > 1 else ''}){about}"
            if path in opened:
                yield from self._lines(path, opened, f"{indent}  ")
        if (hidden := len(folders) - _MOST_NAMES) > 0:
            yield f"{indent}... {hidden:,} more folders"
        names = [heading_text(path[len(folder) :]) for path in held if not path.endswith("/")]
        more = f", ... {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        if names:
            yield f"{indent}{', '.join(names[:_MOST_NAMES])}{more}"

    def _shortened(self, path: str) -> str:
        while len(held := self._held.get(path, {})) == 1 and (only := next(iter(held))).endswith(
            "/"
        ):
            path = only
        return path
