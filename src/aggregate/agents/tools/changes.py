"""The tools that change a project: exact replacements, new files, and commands that its user allows.

They are given a work tree's folder; what they say of a failure is what a model needs to do next.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from aggregate.agents.sandbox import run_command as run_in_sandbox
from aggregate.agents.tools.project_files import ProjectFiles
from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.tool import Permission, make_tool
from aggregate.base.errors import SandboxError, ToolError

_MOST_COMPARED: Final = 20_000  # lines that the nearest ones are looked for in
_COMMAND_SECONDS: Final = 50.0  # a little less than a tool's call may take


@dataclass(frozen=True, slots=True)
class AllowedCommands:
    """What the user lets tickets run: commands by how they begin, in a sandbox unless the user says otherwise."""

    beginnings: tuple[tuple[str, ...], ...] = ()
    exact: frozenset[tuple[str, ...]] = frozenset()  # those of checks that a trusted project names
    sandboxed: bool = True

    def words(self, command: str) -> list[str]:
        """Return a command's words, where it is allowed; a shell reads none of them."""
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ToolError(f"{command!r:.200} is no command: {error}") from None
        is_allowed = any(tuple(words[: len(begin)]) == begin for begin in self.beginnings)
        if not words or not (is_allowed or tuple(words) in self.exact):
            known = ", ".join(map(shlex.join, self.beginnings)) or "none"
            raise ToolError(
                f"{command!r:.200} is not allowed: commands begin with one of these: {known}"
            )
        return words


@dataclass(frozen=True, slots=True)
class ChangeTools:
    """The tools; their names, docstrings and signatures are what models are told."""

    root: Path  # of the tree, which a command may change
    folder: str = ""  # of the project in it
    commands: AllowedCommands = AllowedCommands()

    @property
    def _files(self) -> ProjectFiles:
        return ProjectFiles((self.root / self.folder,))

    def replace_text(self, path: str, old: str, new: str) -> str:
        """Replace a text in a file, which stands there exactly once, by another one.

        Args:
            path: Relative to the project's root.
            old: The text as it stands there, with its blanks and line breaks; take whole lines.
            new: What stands there instead.
        """
        name, place = self._files.find(path)
        try:
            text = place.read_bytes().decode()
        except UnicodeDecodeError:
            raise ToolError(f"{name} is no UTF-8 text") from None
        if "\r\n" in text and "\r\n" not in old:
            old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
        if not old or (times := text.count(old)) != 1:
            raise ToolError(f"{name}: {_why_not_once(text, old, times if old else 0)}")
        place.write_bytes(text.replace(old, new).encode())
        line = text[: text.index(old)].count("\n") + 1
        return f"replaced in {name}, from line {line}"

    def write_file(self, path: str, content: str) -> str:
        """Write a new file.

        Args:
            path: Relative to the project's root; no file may be there.
            content: Its whole text.
        """
        name, place = self._files.place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode())
        if not self._files.takes(self.root / self.folder, name):
            place.unlink()
            raise ToolError(f"{name} is ignored by the project's rules, so it would be lost")
        return f"wrote {name}, {len(content.splitlines())} lines"

    def run_command(self, command: str) -> str:
        """Run one of the commands that are allowed, in the project's folder; what it changes there stays.

        Args:
            command: A program and its arguments; no shell reads it.
        """
        try:
            result = self.run(command, seconds=_COMMAND_SECONDS)
        except SandboxError as error:
            raise ToolError(f"{command}: {error}") from None
        return result

    def run(self, command: str, *, seconds: float) -> str:
        """Return how a command ended and what it printed, ``exit code 0`` first where it succeeded."""
        words = self.commands.words(command)
        result = run_in_sandbox(
            words, self.root, self.folder, seconds=seconds, sandboxed=self.commands.sandboxed
        )
        return result.sentence


def add_change_tools(registry: ToolRegistry, tools: ChangeTools) -> None:
    """Add the tools that change files; in a tree of their own they may be repeated, since that is set back first."""
    about = ", ".join(" ".join(begin) for begin in tools.commands.beginnings) or "none"
    for function in (tools.replace_text, tools.write_file, tools.run_command):
        made = make_tool(function, permissions=Permission.WRITE, idempotent=True)
        if function == tools.run_command:
            described = f"{made.description} Allowed are those that begin with: {about}."
            made = make_tool(
                function, description=described, permissions=Permission.WRITE, idempotent=True
            )
        registry.add(made)


def _why_not_once(text: str, old: str, times: int) -> str:
    if not old.strip():
        return "old is empty: give the lines that are to be replaced"
    if times > 1:
        starts: list[str] = []
        place = text.find(old)
        while place >= 0 and len(starts) < 10:
            starts.append(str(text[:place].count("\n") + 1))
            place = text.find(old, place + 1)
        return f"old stands there {times} times, from lines {', '.join(starts)}: give more lines around it"
    nearest = _nearest(text.splitlines(), old.splitlines())
    return f"old does not stand there as it is given; the nearest lines are:\n{nearest}"


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """Return the lines that are most like the wanted ones, as they stand."""
    size = max(len(wanted), 1)
    words = [set(line.split()) for line in lines[:_MOST_COMPARED]]
    sought = set(" ".join(wanted).split())
    starts = range(max(len(words) - size + 1, 1))
    likely = sorted(
        starts, key=lambda start: -len(sought & set().union(*words[start : start + size]))
    )[:50]
    joined = "\n".join(wanted)

    def likeness(start: int) -> float:
        return SequenceMatcher(None, "\n".join(lines[start : start + size]), joined).ratio()

    best = max(sorted(likely), key=likeness, default=0)
    return "\n".join(lines[best : best + size]) or "(the file is empty)"
