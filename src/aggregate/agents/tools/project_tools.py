"""Project tools, defined once for every consumer: goals, servers, workers. They read; nothing here writes."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from aggregate.agents.tools.file_access import ProjectFiles, read_project_text
from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.tool import make_tool
from aggregate.base.errors import SyntaxViewError, ToolError
from aggregate.base.text import split_lines
from aggregate.code.syntax import language_of
from aggregate.code.views import ASTParser, summarise_file
from aggregate.project.paths import compile_glob

MOST_CHARACTERS: Final = 60_000
MOST_MATCHES: Final = 200
MOST_NAMES: Final = 500
MOST_LINE: Final = 300
"""Of one result: with each of these it stays at about 15,000 tokens."""
MOST_SEARCHED: Final = 100_000_000
"""Characters that one search reads before it stops and says so."""


def add_project_tools(registry: ToolRegistry, roots: Iterable[str | Path]) -> None:
    """Register the tools that read a project's files.

    Args:
        registry: Where to.
        roots: Folders; nothing outside of them, nothing ignored and no secret can be read.

    Raises:
        ToolError: A root is no folder, or there is none.
    """
    folders = tuple(map(Path, roots))
    for folder in folders:
        if not folder.is_dir():
            raise ToolError(f"{folder}: there is no such folder")
    if not folders:
        raise ToolError("project tools need at least one root")
    files = ProjectFiles(folders)
    for function in (
        *_file_tools(files),
        *_search_tools(files),
        *_view_tools(files),
        *_symbol_tools(files),
    ):
        registry.add(make_tool(function))


def _file_tools(files: ProjectFiles) -> tuple[Callable[..., dict[str, Any]], ...]:
    def read_file(path: str, start_line: int = 1, end_line: int | None = None) -> dict[str, Any]:
        """Read a text file of the project, whole or some of its lines.

        Args:
            path: Relative to the project's root.
            start_line: The first line, from 1.
            end_line: The last line, inclusive; by default the file's last.
        """
        name, text = files.read(path)
        lines = split_lines(text)
        if start_line < 1 or (end_line is not None and end_line < start_line):
            raise ToolError(
                f"{name}: lines {start_line} to {end_line} are no range; the file has {len(lines)} lines"
            )
        chosen = "".join(lines[start_line - 1 : end_line])
        return {
            "success": True,
            "path": name,
            "lines": len(lines),
            "content": _capped(chosen, "start_line, end_line"),
        }

    def list_directory(path: str = ".") -> dict[str, Any]:
        """List the files and folders in a folder of the project; folders end with a slash.

        Args:
            path: Relative to the project's root; by default the root itself.
        """
        entries = files.entries(path)
        note = _left_out(len(entries) - MOST_NAMES, "entries")
        return {"success": True, "entries": entries[:MOST_NAMES], **note}

    return read_file, list_directory


def _search_tools(files: ProjectFiles) -> tuple[Callable[..., dict[str, Any]], ...]:
    def search_files(text: str, files_matching: str = "**", folder: str = ".") -> dict[str, Any]:
        """Search the project's files for a text, whatever its case; each match is path:line: text.

        Args:
            text: What to look for, as it stands.
            files_matching: Glob of paths, such as src/**/*.py.
            folder: Where to search; by default everywhere.
        """
        if not text.strip():
            raise ToolError("text is empty: give the words to look for")
        try:
            may_hold_matches = compile_glob(files_matching).match
        except ValueError as error:
            raise ToolError(f"files_matching: {error}") from None
        lines: list[str] = []
        searched = unreadable = 0
        for name, path in files.below(folder):
            if not may_hold_matches(name):
                continue
            if len(lines) > MOST_MATCHES or searched > MOST_SEARCHED:
                break
            try:
                content = read_project_text(path, name)
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

    return (search_files,)


def _matches(name: str, content: str, lower_text: str) -> list[str]:
    if lower_text not in content.lower():
        return []
    lines = enumerate(content.split("\n"), 1)
    return [
        f"{name}:{number}: {_cut(line.strip())}"
        for number, line in lines
        if lower_text in line.lower()
    ]


def _view_tools(files: ProjectFiles) -> tuple[Callable[..., dict[str, Any]], ...]:
    def get_file_summary(path: str) -> dict[str, Any]:
        """Summarise a file: its kind, documentation, imports and definitions.

        Args:
            path: Relative to the project's root.
        """
        name, text = files.read(path)
        return _content(name, summarise_file(name, text))

    def get_skeleton(path: str) -> dict[str, Any]:
        """Show a source file without the bodies of its functions.

        Args:
            path: Relative to the project's root.
        """
        name, text = files.read(path)
        return _content(name, _parser(name, text).get_skeleton(text))

    def get_outline(path: str) -> dict[str, Any]:
        """Outline a source file: a row for each definition with its lines.

        Args:
            path: Relative to the project's root.
        """
        name, text = files.read(path)
        return _content(name, _parser(name, text).get_code_outline(text))

    return get_file_summary, get_skeleton, get_outline


def _symbol_tools(files: ProjectFiles) -> tuple[Callable[..., dict[str, Any]], ...]:
    def get_definition(path: str, symbol: str) -> dict[str, Any]:
        """Show the whole source of one function, class or other symbol.

        Args:
            path: Relative to the project's root.
            symbol: Its name, such as Class.method.
        """
        name, text = files.read(path)
        return _content(name, _of_symbol(_parser(name, text).get_definition, text, symbol))

    def get_signature(path: str, symbol: str) -> dict[str, Any]:
        """Show the signature of one function, class or other symbol.

        Args:
            path: Relative to the project's root.
            symbol: Its name, such as Class.method.
        """
        name, text = files.read(path)
        return _content(name, _of_symbol(_parser(name, text).get_signature, text, symbol))

    return get_definition, get_signature


def _of_symbol(show: Callable[[str, str], str], text: str, symbol: str) -> str:
    try:
        return show(text, symbol)
    except SyntaxViewError as error:
        raise ToolError(str(error)) from None


def _parser(name: str, text: str) -> ASTParser:
    language = language_of(name, text)
    if language is None:
        raise ToolError(f"{name}: its language has no grammar; take read_file or get_file_summary")
    return ASTParser(language.name)


def _content(name: str, text: str) -> dict[str, Any]:
    return {
        "success": True,
        "path": name,
        "content": _capped(text, "read_file with start_line, end_line"),
    }


def _capped(text: str, advice: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n[cut: {MOST_CHARACTERS:,} of {len(text):,} characters are shown; take {advice}]"


def _cut(line: str) -> str:
    return line if len(line) <= MOST_LINE else f"{line[:MOST_LINE]} [cut: {len(line):,} characters]"


def _left_out(number: int, what: str) -> dict[str, str]:
    return {"note": f"{number} more {what} are not shown"} if number > 0 else {}
