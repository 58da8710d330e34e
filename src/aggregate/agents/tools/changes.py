"""Tools to replace text, write files and run commands.

They change a work tree. Error texts are for the model and say what to do next.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from aggregate.agents.sandbox import run_command as run_in_sandbox
from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.standard import ProjectFiles
from aggregate.agents.tools.tool import Permission, make_tool
from aggregate.base.errors import SandboxError, ToolError
from aggregate.base.text import with_line_feeds

_MOST_COMPARED: Final = 20_000  # lines compared with a missing text
_MOST_PLACES: Final = 10  # of a text that occurs several times
_COMMAND_SECONDS: Final = 50.0  # a little less than a tool's call may take


@dataclass(frozen=True, slots=True)
class AllowedCommands:
    """Commands allowed to tickets, by first words or exactly."""

    beginnings: tuple[tuple[str, ...], ...] = ()
    exact: frozenset[tuple[str, ...]] = frozenset()  # the checks of a trusted project
    sandboxed: bool = True

    def words(self, command: str) -> list[str]:
        """Split a command into words without a shell; raise ``ToolError`` if it is not allowed."""
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ToolError(f"{command!r:.200} is not a command: {error}") from None
        is_allowed = any(tuple(words[: len(begin)]) == begin for begin in self.beginnings)
        if not words or not (is_allowed or tuple(words) in self.exact):
            beginnings = ", ".join(map(shlex.join, self.beginnings)) or "none"
            raise ToolError(
                f"{command!r:.200} is not allowed: commands begin with one of these: {beginnings}"
            )
        return words


@dataclass(frozen=True, slots=True)
class ChangeTools:
    """The tools to change a work tree; models see their names, docstrings and signatures."""

    root: Path  # the work tree, which a command may change
    folder: str = ""  # the project's folder in it
    commands: AllowedCommands = AllowedCommands()

    @property
    def _files(self) -> ProjectFiles:
        return ProjectFiles((self.root / self.folder,))

    def replace_text(self, path: str, old: str, new: str) -> str:
        """Replace a text that occurs exactly once in a file.

        Args:
            path: Relative to the project's root.
            old: The exact text with its blanks and line breaks; use whole lines.
            new: The new text.
        """
        name, target = self._files.find(path)
        try:
            text = target.read_bytes().decode()
        except UnicodeDecodeError:
            raise ToolError(f"{name} is not UTF-8 text") from None
        line_end = next((end for end in ("\r\n", "\n") if end in text), "\r")
        if line_end in text and line_end not in old:
            old, new = old.replace("\n", line_end), new.replace("\n", line_end)
        if not old or (times := text.count(old)) != 1:
            raise ToolError(f"{name}: {_why_not_once(text, old, times if old else 0)}")
        target.write_bytes(text.replace(old, new).encode())
        line = with_line_feeds(text)[: text.index(old)].count("\n") + 1
        return f"replaced in {name}, from line {line}"

    def write_file(self, path: str, content: str) -> str:
        """Write a new file.

        Args:
            path: Relative to the project's root; must not exist.
            content: Its whole text.
        """
        name, target = self._files.place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode())
        if not self._files.takes(self.root / self.folder, name):
            target.unlink()
            raise ToolError(f"{name} is ignored by the project's rules, so it would be lost")
        return f"wrote {name}, {len(content.splitlines())} lines"

    def run_command(self, command: str) -> str:
        """Run an allowed command in the project's folder; its changes there stay.

        Args:
            command: A program and its arguments, without a shell.
        """
        try:
            return self.run(command, seconds=_COMMAND_SECONDS)
        except SandboxError as error:
            raise ToolError(f"{command}: {error}") from None

    def run(self, command: str, *, seconds: float) -> str:
        """Run a command; return its exit code and output."""
        result = run_in_sandbox(
            self.commands.words(command),
            self.root,
            self.folder,
            seconds=seconds,
            sandboxed=self.commands.sandboxed,
        )
        return result.sentence


def add_change_tools(registry: ToolRegistry, tools: ChangeTools) -> None:
    """Register the tools; an interrupted call may be repeated, since the work tree is reset first."""
    beginnings = ", ".join(" ".join(begin) for begin in tools.commands.beginnings) or "none"
    for function in (tools.replace_text, tools.write_file, tools.run_command):
        tool = make_tool(function, permissions=Permission.WRITE, idempotent=True)
        if function == tools.run_command:
            text = f"{tool.description} Allowed are commands that begin with: {beginnings}."
            tool = replace(tool, description=text)
        registry.add(tool)


def _why_not_once(text: str, old: str, times: int) -> str:
    if not old.strip():
        return "old is empty: give the lines to replace"
    if times > 1:
        parts = text.split(old, _MOST_PLACES)[:-1]
        lines = [str(old.join(parts[: n + 1]).count("\n") + 1) for n in range(len(parts))]
        return f"old occurs {times} times, from lines {', '.join(lines)}: give more lines around it"
    nearest = _nearest(text.splitlines(), old.splitlines())
    return f"old does not occur; the nearest lines are:\n{nearest}"


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """Return the lines with the most words of the wanted ones."""
    size = max(len(wanted), 1)
    words = [set(line.split()) for line in lines[:_MOST_COMPARED]]
    sought = set(" ".join(wanted).split())

    def likeness(start: int) -> int:
        return len(sought & set().union(*words[start : start + size]))

    best = max(range(max(len(words) - size + 1, 1)), key=likeness)
    return "\n".join(lines[best : best + size]) or "(the file is empty)"
