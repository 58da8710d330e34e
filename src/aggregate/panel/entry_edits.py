"""Edit the file entries of a configuration, without changing other bytes."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.items import AoT, Array, InlineTable, Whitespace

from aggregate.project.files import display_path

# Keys of an entry that influence its view; the page's view replaces them all.
_VIEW_KEYS: Final = (
    "view_mode",
    "force_full",
    "ast_signatures",
    "ast_definitions",
    "auto_aggregate",
)
_SPECIAL: Final = re.compile(r"[\\*?\[\]]")  # in patterns of ``.gitignore``
_INDENTATION: Final = re.compile(r"\n([ \t]*)(?=[^\s\]])")  # of a line of an array
_MANY: Final = 50  # least number of added entries written one per line


class EntryList:
    """The file entries of a configuration or preset, in any TOML form."""

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
        """Yield each entry's path as in the prompt, or its glob."""
        for name in self.names():
            yield display_path(os.path.join(self._base_dir, name), self._base_dir)

    def indices(self, paths: Iterable[str]) -> dict[str, int]:
        """Return for each path the index of its last entry."""
        wanted = frozenset(paths)
        return {path: index for index, path in enumerate(self.named_files()) if path in wanted}

    def table_of(self, path: str) -> Any:  # noqa: ANN401 - a table of tomlkit's
        """Return the entry of a file as a table; add it if missing."""
        index = self.indices([path]).get(path)
        return self._table_at(self.add(path) if index is None else index)

    def _table_at(self, index: int) -> Any:  # noqa: ANN401 - a table of tomlkit's
        entries = self._entries()
        if isinstance(entries[index], str):
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
        if isinstance(old, InlineTable):  # rebuilt, since removing a key leaves a gap
            table = tomlkit.inline_table()
            other_keys = {key: value for key, value in old.items() if key not in _VIEW_KEYS}
            table.update({**other_keys, **new})
            entries[index] = table
        else:
            for key in _VIEW_KEYS:
                old.pop(key, None)
            old.update(new)

    def remove(self, paths: Iterable[str]) -> None:
        removed = frozenset(paths)
        indices = [index for index, path in enumerate(self.named_files()) if path in removed]
        remove_all(self._entries(), indices)

    def remove_written(self, name: str) -> None:
        indices = [index for index, listed_name in enumerate(self.names()) if listed_name == name]
        remove_all(self._entries(), indices)

    def _entries(self) -> Any:  # noqa: ANN401 - an array, or tables, of tomlkit's
        if self._key not in self._table:
            self._table[self._key] = tomlkit.array().multiline(True)
        return self._table[self._key]


def append_all(array: Array, texts: Sequence[str]) -> None:
    """Append texts to an array at once; one by one takes quadratic time."""
    if len(texts) < _MANY:
        array.extend(texts)
        return
    lines = _INDENTATION.findall(array.as_string())
    indentation = lines[-1] if lines else "    "
    parts: list[str | Whitespace] = []
    for text in texts:
        parts += (text, Whitespace(","), Whitespace(f"\n{indentation}"))
    parts[-1:] = [] if lines else [Whitespace("\n")]  # put the bracket on its own line
    array.add_line(*parts, indent=indentation, add_comma=False)


def remove_all(entries: Any, indices: Sequence[int]) -> None:  # noqa: ANN401 - as above
    """Remove entries by sorted indices, consecutive ones at once."""
    end = len(indices)
    while end:
        start = end - 1
        while start and indices[start - 1] == indices[start] - 1:
            start -= 1
        if isinstance(entries, Array):
            del entries[indices[start] : indices[end - 1] + 1]
        else:
            for index in reversed(indices[start:end]):
                del entries[index]
        end = start


def exclude_pattern(path: str) -> str:
    """Return the ``exclude`` pattern that matches only one file or folder (``a/``)."""
    escaped = _SPECIAL.sub(lambda match: "\\" + match[0], path)
    return f"/{escaped[:-1]}\\ " if escaped.endswith(" ") else f"/{escaped}"
