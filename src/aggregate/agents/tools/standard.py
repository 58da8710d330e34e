"""Built-in tools, and tools for a project's files.

They read no ignored files, no secrets, and no links to the outside.
"""

import os
import posixpath
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from aggregate.agents.tools.data_analysis import add_analysis_tool
from aggregate.agents.tools.dates import add_date_tools
from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.state import add_state_tools, state_store
from aggregate.agents.tools.tool import granted
from aggregate.base.errors import SyntaxViewError, ToolError
from aggregate.base.text import split_lines
from aggregate.code.syntax import language_of
from aggregate.code.views import ASTParser, summarise_file
from aggregate.project.files import FolderListing, read_file
from aggregate.project.paths import compile_glob, is_secret

MOST_BYTES: Final = 5_000_000  # of a readable file


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """The readable files in some root folders; if several have a name, the first root wins."""

    roots: tuple[Path, ...]

    def read(self, name: str) -> tuple[str, str]:
        """Return a file's root-relative name and its text."""
        relative, path = self.find(name)
        return relative, text_of(path, relative)

    def find(self, name: str) -> tuple[str, Path]:
        """Return a file's root-relative name and its path."""
        for root, relative in self._candidates(name):
            path = _allowed(root, relative, _listed(root))
            if path is not None:
                return relative, path
        raise ToolError(
            f'"{quoted(name)}" is not a readable file of the project: list_directory shows those'
        )

    def place(self, name: str) -> tuple[str, Path]:
        """Return the name and path for a new file; raise ``ToolError`` for links and secrets."""
        root, relative = self._candidates(name)[0]
        parts = PurePosixPath(relative).parts
        folders = [root.joinpath(*parts[:i]) for i in range(1, len(parts) + 1)]
        if is_secret(relative) or ".git" in parts or any(path.is_symlink() for path in folders):
            raise ToolError(f'"{quoted(name)}" cannot be written')
        if folders[-1].exists():
            raise ToolError(f'"{quoted(name)}" exists: change it with replace_text')
        return relative, folders[-1]

    def takes(self, root: Path, name: str) -> bool:
        return name in _listed(root)

    def below(self, folder: str) -> list[tuple[str, Path]]:
        """Return names and real paths of readable files below ``folder``."""
        readable: list[tuple[str, Path]] = []
        for root, relative in self._candidates(folder):
            listed = _listed(root)
            for name in sorted(listed):
                if relative not in (".", name) and not name.startswith(f"{relative}/"):
                    continue
                path = _allowed(root, name, listed)
                if path is not None:
                    readable.append((name, path))
        if not readable:
            raise ToolError(
                f'"{quoted(folder)}" is not a folder of the project with readable files'
            )
        return readable

    def entries(self, folder: str) -> list[str]:
        entries: set[str] = set()
        names = [name for name, _ in self.below(folder)]
        for _, relative in self._candidates(folder):
            prefix = "" if relative == "." else f"{relative}/"
            for name in names:
                if name.startswith(prefix):
                    entry, slash, _ = name.removeprefix(prefix).partition("/")
                    entries.add(entry + slash)
        if not entries:
            raise ToolError(f'"{quoted(folder)}" is a file: read_file shows it')
        return sorted(entries)

    def _candidates(self, name: str) -> list[tuple[Path, str]]:
        """Return possible roots of ``name``, each with its relative name."""
        if not name.strip() or "\0" in name or len(name) > 4096:
            raise ToolError("a path has 1 to 4,096 characters and no NUL")
        plain = name.replace("\\", "/") if os.sep == "\\" else name
        if ".." in PurePosixPath(plain).parts:
            raise ToolError(f'"{quoted(name)}" contains "..": paths begin at the project\'s root')
        path = PurePosixPath(posixpath.normpath(plain))
        if not path.is_absolute():
            return [(root, path.as_posix()) for root in self.roots]
        bases = [(root, Path(os.path.abspath(root)).as_posix()) for root in self.roots]
        inside = [
            (root, path.relative_to(base).as_posix())
            for root, base in bases
            if path.is_relative_to(base)
        ]
        if not inside:
            raise ToolError(f'"{quoted(name)}" is outside of the project: paths begin at its root')
        return inside


def text_of(path: Path, name: str) -> str:
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ToolError(f"{name}: too large: {size:,} bytes, the limit is {MOST_BYTES:,}")
    source = read_file(path)
    if source.error:
        raise ToolError(f"{name}: {source.error}")
    return source.text


def _allowed(root: Path, name: str, listed: frozenset[str]) -> Path | None:
    if name not in listed or is_secret(name):
        return None
    try:
        base = root.resolve()
        real = (base / name).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    if not real.is_relative_to(base) or not real.is_file():
        return None
    target = real.relative_to(base).as_posix()
    return None if target not in listed or is_secret(target) else real


def _listed(root: Path) -> frozenset[str]:
    """Return all files below a root that git does not ignore, listed anew each time."""
    return frozenset(FolderListing().files(str(root)))


def quoted(name: str) -> str:
    return ascii(name[:100])[1:-1]


# Of one result, which so has at most about 15,000 tokens
MOST_CHARACTERS: Final = 60_000
MOST_MATCHES: Final = 200
MOST_NAMES: Final = 500
MOST_LINE: Final = 300
MOST_SEARCHED: Final = 100_000_000  # characters read by one search


def standard_tools(
    *,
    state_dir: str | Path = "state",
    roots: Iterable[str | Path] = (),
    permissions: str | Iterable[str] = "read",
) -> ToolRegistry:
    """Return a registry of the built-in tools.

    Args:
        state_dir: The folder of saved values, created at the first use.
        roots: The project's folders, which tools may read.
        permissions: Which of ``read``, ``write`` and ``network`` are granted.

    Raises:
        ToolError: A root is not a folder, or a permission is unknown.
    """
    registry = ToolRegistry(granted(permissions))
    add_analysis_tool(registry)
    add_date_tools(registry)
    add_state_tools(registry, state_store(state_dir))
    if folders := tuple(map(Path, roots)):
        for folder in folders:
            if not folder.is_dir():
                raise ToolError(f"no such folder: {folder}")
        registry.add_methods(_ProjectTools(ProjectFiles(folders)))
    return registry


class _ProjectTools:
    """The tools that read a project; models see their names, docstrings and signatures."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files

    def read_file(
        self, path: str, start_line: int = 1, end_line: int | None = None
    ) -> dict[str, Any]:
        """Read a text file of the project, whole or some of its lines.

        Args:
            path: Relative to the project's root.
            start_line: The first line, from 1.
            end_line: The last line, inclusive; by default the file's last.
        """
        name, text = self._files.read(path)
        lines = split_lines(text)
        if start_line < 1 or (end_line is not None and end_line < start_line):
            raise ToolError(
                f"{name}: lines {start_line} to {end_line} are not a range; the file has {len(lines)} lines"
            )
        chosen = "".join(lines[start_line - 1 : end_line])
        content = _capped(chosen, "start_line, end_line")
        return {"success": True, "path": name, "lines": len(lines), "content": content}

    def list_directory(self, path: str = ".") -> dict[str, Any]:
        """List the files and folders in a folder of the project; folders end with a slash.

        Args:
            path: Relative to the project's root; by default the root itself.
        """
        entries = self._files.entries(path)
        note = _left_out(len(entries) - MOST_NAMES, "entries")
        return {"success": True, "entries": entries[:MOST_NAMES], **note}

    def search_files(
        self, text: str, files_matching: str = "**", folder: str = "."
    ) -> dict[str, Any]:
        """Search the project's files for a text, whatever its case; each match is path:line: text.

        Args:
            text: What to look for, as it stands.
            files_matching: Glob of paths, such as src/**/*.py.
            folder: Where to search; by default everywhere.
        """
        if not text.strip():
            raise ToolError("text is empty: give the text to search for")
        try:
            may_hold_matches = compile_glob(files_matching).match
        except ValueError as error:
            raise ToolError(f"files_matching: {error}") from None
        lines: list[str] = []
        searched = unreadable = 0
        for name, path in self._files.below(folder):
            if not may_hold_matches(name):
                continue
            if len(lines) > MOST_MATCHES or searched > MOST_SEARCHED:
                break
            try:
                content = text_of(path, name)
            except ToolError:
                unreadable += 1
                continue
            searched += len(content)
            lines += _matches(name, content, text.lower())
        matches = lines[:MOST_MATCHES]
        result: dict[str, Any] = {"success": True, "matches": matches, "count": len(matches)}
        if unreadable:
            result["files_not_read"] = unreadable
        if searched > MOST_SEARCHED:
            result["note"] = (
                f"the search stopped after {searched:,} characters: give files_matching or a folder"
            )
        else:
            result |= _left_out(len(lines) - MOST_MATCHES, "matches, perhaps more")
        return result

    def get_file_summary(self, path: str) -> dict[str, Any]:
        """Summarise a file: its kind, documentation, imports and definitions.

        Args:
            path: Relative to the project's root.
        """
        return self._view(path, summarise_file)

    def get_skeleton(self, path: str) -> dict[str, Any]:
        """Show a source file without the bodies of its functions.

        Args:
            path: Relative to the project's root.
        """
        return self._view(path, lambda name, text: _parser(name, text).get_skeleton(text))

    def get_outline(self, path: str) -> dict[str, Any]:
        """Outline a source file: a row for each definition with its lines.

        Args:
            path: Relative to the project's root.
        """
        return self._view(path, lambda name, text: _parser(name, text).get_code_outline(text))

    def get_definition(self, path: str, symbol: str) -> dict[str, Any]:
        """Show the whole source of one function, class or other symbol.

        Args:
            path: Relative to the project's root.
            symbol: Its name, such as Class.method.
        """
        return self._view(path, lambda name, text: _parser(name, text).get_definition(text, symbol))

    def get_signature(self, path: str, symbol: str) -> dict[str, Any]:
        """Show the signature of one function, class or other symbol.

        Args:
            path: Relative to the project's root.
            symbol: Its name, such as Class.method.
        """
        return self._view(path, lambda name, text: _parser(name, text).get_signature(text, symbol))

    def _view(self, path: str, show: Callable[[str, str], str]) -> dict[str, Any]:
        name, text = self._files.read(path)
        try:
            content = _capped(show(name, text), "read_file with start_line, end_line")
        except SyntaxViewError as error:
            raise ToolError(str(error)) from None
        return {"success": True, "path": name, "content": content}


def _matches(name: str, content: str, lower_text: str) -> list[str]:
    if lower_text not in content.lower():
        return []
    matches: list[str] = []
    for number, line in enumerate(content.split("\n"), 1):
        if lower_text in line.lower():
            text = line.strip()
            if len(text) > MOST_LINE:
                text = f"{text[:MOST_LINE]} [cut: {len(text):,} characters]"
            matches.append(f"{name}:{number}: {text}")
    return matches


def _parser(name: str, text: str) -> ASTParser:
    language = language_of(name, text)
    if language is None:
        raise ToolError(f"{name}: its language has no grammar; use read_file or get_file_summary")
    return ASTParser(language.name)


def _capped(text: str, advice: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n[cut: {MOST_CHARACTERS:,} of {len(text):,} characters are shown; take {advice}]"


def _left_out(number: int, what: str) -> dict[str, str]:
    return {"note": f"{number} more {what} are not shown"} if number > 0 else {}
