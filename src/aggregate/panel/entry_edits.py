"""Changing the list of files in a configuration, entry by entry; what is not changed keeps its bytes and comments."""

import os
import re
from collections.abc import Iterable, Iterator, MutableMapping, MutableSequence, Sequence
from pathlib import Path
from typing import Any, Protocol

import tomlkit
from tomlkit.items import AoT, Array, InlineTable, Whitespace

from aggregate.base.errors import ToolError
from aggregate.prompt import display_path

_OF_VIEWS = ("view_mode", "force_full", "ast_signatures", "ast_definitions", "auto_aggregate")
"""Keys of an entry that decide on its view; a view that the page sets goes in place of them all."""
_SPECIAL = re.compile(r"[\\*?\[\]]")
"""What a pattern of ``.gitignore`` takes for more than a character."""


_INDENTATION = re.compile(r"\n([ \t]*)(?=[^\s\]])")
"""What stands before a line of an array."""
_MANY = 50
"""Entries from which they are added in one step, each in a line of its own."""


class _Entries(Protocol):
    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Any: ...  # noqa: ANN401 - whatever TOML holds

    def __setitem__(self, index: int, value: Any) -> None: ...  # noqa: ANN401

    def __delitem__(self, index: int) -> None: ...


class EntryList:
    """The entries of a configuration's files, or of a preset's."""

    def __init__(self, table: MutableMapping[str, Any], key: str, base_dir: Path) -> None:
        self._table = table
        self._key = key
        self._base_dir = base_dir

    def __len__(self) -> int:
        return len(self._table.get(self._key, ()))

    def names(self) -> Iterator[str]:
        """Yield the path or glob of each entry."""
        for entry in self._table.get(self._key, ()):
            yield str(entry) if isinstance(entry, str) else str(entry.get("path", ""))

    def find(self, path: str) -> int | None:
        """Return the place of the entry that decides on the file at ``path`` by its name: the last one."""
        return self.places([path]).get(path)

    def index(self, name: str) -> int:
        """Return the place of the last entry that is written ``name``."""
        places = [i for i, written in enumerate(self.names()) if written == name]
        if not places:
            raise ToolError(f"no entry is written {name[:100]!r}: the configuration has changed")
        return places[-1]

    def table_at(self, index: int) -> MutableMapping[str, Any]:
        """Return the entry at a place as a table; one that is a path alone becomes a table."""
        entries = self._entries()
        entry = entries[index]
        if isinstance(entry, str):
            table = tomlkit.inline_table()
            table["path"] = str(entry)
            entries[index] = table
            entry = entries[index]
        found: MutableMapping[str, Any] = entry
        return found

    def table_of(self, path: str) -> MutableMapping[str, Any]:
        """Return the entry of a file as a table; it is added where none names the file."""
        place = self.find(path)
        return self.table_at(self.add(path) if place is None else place)

    def add(self, path: str) -> int:
        """Add an entry behind the others; return its place."""
        entries = self._entries()
        if isinstance(entries, AoT):
            table = tomlkit.table()
            table["path"] = path
            entries.append(table)
        elif isinstance(entries, Array):
            entries.append(path)
        return len(entries) - 1

    def add_all(self, paths: Sequence[str]) -> dict[str, int]:
        """Add entries behind the others; return their places by their paths."""
        first, entries = len(self), self._entries()
        if isinstance(entries, Array):
            append_all(entries, paths)
        else:
            for path in paths:
                self.add(path)
        return {path: first + number for number, path in enumerate(paths)}

    def set_view(self, index: int, mode: str) -> None:
        """Let an entry show its files by a view."""
        if isinstance(self._entries()[index], str) and mode == "full":
            return
        old = self.table_at(index)
        values = {key: value for key, value in old.items() if key not in _OF_VIEWS}
        if mode != "full":
            values["view_mode"] = mode
        if isinstance(old, InlineTable):  # what is taken out of one leaves a gap
            entries = self._entries()
            table = tomlkit.inline_table()
            table.update(values)
            entries[index] = table
            return
        for key in _OF_VIEWS:
            old.pop(key, None)
        if mode != "full":
            old["view_mode"] = mode

    def places(self, paths: Iterable[str]) -> dict[str, int]:
        """Return the place of the last entry that names each of some files; those that none names are left out."""
        wanted = frozenset(paths)
        shown = enumerate(self.named_files())
        return {path: place for place, path in shown if path in wanted}

    def named_files(self) -> Iterator[str]:
        """Yield for each entry the file that it names as the prompt shows it, or its glob."""
        for written in self.names():
            yield display_path(os.path.join(self._base_dir, written), self._base_dir)

    def remove(self, paths: Iterable[str]) -> None:
        """Remove all entries that name one of some files."""
        gone = frozenset(paths)
        remove_all(
            self._entries(), [i for i, path in enumerate(self.named_files()) if path in gone]
        )

    def remove_written(self, name: str) -> None:
        """Remove all entries that are written ``name``."""
        for index, written in reversed([*enumerate(self.names())]):
            if written == name:
                del self._entries()[index]

    def _entries(self) -> _Entries:
        if self._key not in self._table:
            self._table[self._key] = tomlkit.array().multiline(True)
        entries: _Entries = self._table[self._key]
        return entries


def slices_of(table: MutableMapping[str, Any]) -> list[dict[str, Any]]:
    """Return the slices of an entry as plain values."""
    slices = table.get("custom_slices", ())
    return [dict(piece) for piece in (slices.unwrap() if hasattr(slices, "unwrap") else slices)]


def set_slices(table: MutableMapping[str, Any], slices: Sequence[dict[str, Any]]) -> None:
    """Set the slices of an entry; TOML has no null, so what is ``None`` is left out."""
    if slices:
        table["custom_slices"] = [_inline(piece) for piece in slices]
    else:
        table.pop("custom_slices", None)


def _inline(values: dict[str, Any]) -> InlineTable:
    table = tomlkit.inline_table()
    table.update({key: value for key, value in values.items() if value is not None})
    return table


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


def remove_all(entries: "_Entries | MutableSequence[Any]", places: Sequence[int]) -> None:
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


def exclude_pattern(path: str, *, is_folder: bool = False) -> str:
    """Return the pattern of ``[files] exclude`` that matches one file, or all in one folder, and nothing else."""
    escaped = _SPECIAL.sub(lambda match: "\\" + match[0], path)
    if escaped.endswith(" "):
        escaped = f"{escaped[:-1]}\\ "
    return f"/{escaped}/" if is_folder else f"/{escaped}"
