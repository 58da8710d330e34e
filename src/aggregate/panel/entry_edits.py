"""Change the list of files in a configuration, entry by entry; what is not changed keeps its bytes and comments."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.items import AoT, Array, InlineTable, Whitespace

from aggregate.project.files import display_path

# Keys of an entry that decide on its view; a view that the page sets goes in place of them all.
_OF_VIEWS: Final = (
    "view_mode",
    "force_full",
    "ast_signatures",
    "ast_definitions",
    "auto_aggregate",
)
# What a pattern of ``.gitignore`` takes for more than a character.
_SPECIAL: Final = re.compile(r"[\\*?\[\]]")
_INDENTATION: Final = re.compile(r"\n([ \t]*)(?=[^\s\]])")  # What stands before a line of an array
_MANY: Final = 50  # Entries from which they are added in one step, each in a line of its own


class EntryList:
    """The entries of a configuration's files, or of a preset's: values, tables in line, or tables of their own."""

    def __init__(self, table: Any, key: str, base_dir: Path) -> None:  # noqa: ANN401 - tomlkit's
        self._table = table
        self._key = key
        self._base_dir = base_dir

    def __len__(self) -> int:
        return len(self._table.get(self._key, ()))

    def names(self) -> Iterator[str]:
        for entry in self._table.get(self._key, ()):
            yield str(entry) if isinstance(entry, str) else str(entry.get("path", ""))

    def named_files(self) -> Iterator[str]:
        """Yield for each entry the file that it names as the prompt shows it, or its glob."""
        for written in self.names():
            yield display_path(os.path.join(self._base_dir, written), self._base_dir)

    def places(self, paths: Iterable[str]) -> dict[str, int]:
        """Return the place of the last entry that names each of some files; those that none names are left out."""
        wanted = frozenset(paths)
        return {path: place for place, path in enumerate(self.named_files()) if path in wanted}

    def table_of(self, path: str) -> Any:  # noqa: ANN401 - a table of tomlkit's
        """Return the entry of a file as a table; it is added where none names the file."""
        place = self.places([path]).get(path)
        return self._table_at(self.add(path) if place is None else place)

    def _table_at(self, index: int) -> Any:  # noqa: ANN401 - a table of tomlkit's
        entries = self._entries()
        if isinstance(entries[index], str):  # a path alone becomes a table
            table = tomlkit.inline_table()
            table["path"] = str(entries[index])
            entries[index] = table
        return entries[index]

    def add(self, path: str) -> int:
        return self.add_all([path])[path]

    def add_all(self, paths: Sequence[str]) -> dict[str, int]:
        first, entries = len(self), self._entries()
        if isinstance(entries, AoT):
            for path in paths:
                table = tomlkit.table()
                table["path"] = path
                entries.append(table)
        else:
            append_all(entries, paths)
        return {path: first + number for number, path in enumerate(paths)}

    def set_view(self, index: int, mode: str) -> None:
        entries = self._entries()
        if isinstance(entries[index], str) and mode == "full":
            return
        old = self._table_at(index)
        new = {} if mode == "full" else {"view_mode": mode}
        if isinstance(old, InlineTable):  # what is taken out of one leaves a gap
            table = tomlkit.inline_table()
            kept = {key: value for key, value in old.items() if key not in _OF_VIEWS}
            table.update({**kept, **new})
            entries[index] = table
        else:
            for key in _OF_VIEWS:
                old.pop(key, None)
            old.update(new)

    def remove(self, paths: Iterable[str]) -> None:
        gone = frozenset(paths)
        places = [i for i, path in enumerate(self.named_files()) if path in gone]
        remove_all(self._entries(), places)

    def remove_written(self, name: str) -> None:
        places = [i for i, written in enumerate(self.names()) if written == name]
        remove_all(self._entries(), places)

    def _entries(self) -> Any:  # noqa: ANN401 - an array, or tables, of tomlkit's
        if self._key not in self._table:
            self._table[self._key] = tomlkit.array().multiline(True)
        return self._table[self._key]


def append_all(array: Array, texts: Sequence[str]) -> None:
    """Append texts to an array, many of them in one step: one by one, twice as many take four times as long."""
    if len(texts) < _MANY:
        array.extend(texts)
        return
    lines = _INDENTATION.findall(array.as_string())
    indentation = lines[-1] if lines else "    "
    parts: list[str | Whitespace] = []
    for text in texts:
        parts += (text, Whitespace(","), Whitespace(f"\n{indentation}"))
    parts[-1:] = [] if lines else [Whitespace("\n")]  # the bracket has a line of its own
    array.add_line(*parts, indent=indentation, add_comma=False)


def remove_all(entries: Any, places: Sequence[int]) -> None:  # noqa: ANN401 - as above
    """Remove what stands at some places, in their order; what stands side by side goes in one step."""
    end = len(places)
    while end:
        start = end - 1
        while start and places[start - 1] == places[start] - 1:
            start -= 1
        if isinstance(entries, Array):
            del entries[places[start] : places[end - 1] + 1]
        else:
            for place in reversed(places[start:end]):
                del entries[place]
        end = start


def exclude_pattern(path: str) -> str:
    """Return the pattern of ``[files] exclude`` that matches one file, or all in a folder (``a/``), and no more."""
    escaped = _SPECIAL.sub(lambda match: "\\" + match[0], path)
    return f"/{escaped[:-1]}\\ " if escaped.endswith(" ") else f"/{escaped}"
