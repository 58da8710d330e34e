"""``read``: a file as it is or as a view, one definition of it, or lines of a prompt that was composed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from aggregate.base.errors import ToolError
from aggregate.base.text import printable, unified_diff
from aggregate.base.values import Entry, FileItem, RenderedFile, ViewMode
from aggregate.mcp.arguments import ReadArguments
from aggregate.mcp.pages import cut_line, fitting_lines
from aggregate.mcp.workspace import Connection, Ledger, Workspace, is_handle
from aggregate.project.files import OUTSIDE, SECRET
from aggregate.prompt import render_files

_SAID: Final = 120
"""Tokens that an answer may have beside what is read."""


def read(workspace: Workspace, connection: Connection, asked: ReadArguments) -> str:
    """Return what was asked for, within the cap."""
    if is_handle(asked.path):
        return _read_prompt(workspace, asked)
    file = _file(workspace, asked)
    if asked.symbol or ViewMode(asked.view) is not ViewMode.FULL:
        return _View(workspace, connection, asked, file).answer()
    return _Text(workspace, connection, asked, file).answer()


def _read_prompt(workspace: Workspace, asked: ReadArguments) -> str:
    lines = workspace.prompt(asked.path).markdown.splitlines(keepends=True)
    page = _Page.of(lines, asked, workspace)
    return f"{asked.path} {page.range} of {len(lines):,}\n{page.text}{page.rest}"


def _file(workspace: Workspace, asked: ReadArguments) -> RenderedFile:
    mode = ViewMode.MASKED if asked.symbol else ViewMode(asked.view)
    mask = {asked.symbol: "def"} if asked.symbol else {}
    item = FileItem(asked.path, view_mode=mode.value, ast_mask=mask)
    request = workspace.request()
    rendered = render_files(
        replace(request, entries=(Entry(item),)), index=workspace.index, workers=1
    )
    if len(rendered.files) != 1:
        raise ToolError(f"{asked.path} names {len(rendered.files)} files: name one")
    file = rendered.files[0]
    if file.error:
        raise ToolError(_sentence(file.content, asked.path))
    if asked.symbol and rendered.warnings:
        raise ToolError(_sentence(rendered.warnings[0], asked.path))
    return file


def _sentence(message: str, path: str) -> str:
    line = " ".join(message.removeprefix("ERROR: ").removeprefix("NOTE: ").split())
    if line.startswith("is a directory"):
        return f"{path or '.'} is a folder: outline lists its files"
    for refusal in (OUTSIDE, SECRET):
        reason = refusal.partition(":")[0]
        if line.startswith(reason):
            return f"{path}: {reason}"
    return line if path in line else f"{path}: {line}"


@dataclass(frozen=True, slots=True)
class _Page:
    first: int
    last: int
    text: str
    rest: str = ""

    @property
    def range(self) -> str:
        """The lines in words."""
        return (
            f"line {self.first:,}"
            if self.first == self.last
            else f"lines {self.first:,}-{self.last:,}"
        )

    @classmethod
    def of(cls, lines: Sequence[str], asked: ReadArguments, workspace: Workspace) -> "_Page":
        """Return as many of the lines that are asked for as fit."""
        if not lines:
            return cls(0, 0, "")
        first, last = _range(asked.lines, len(lines), asked.path)
        limit = workspace.cap - _SAID
        wanted = lines[first - 1 : last]
        number = fitting_lines(wanted, limit, workspace.count)
        if not number:
            text = cut_line(wanted[0], limit, workspace.count)
            rest = f"\n[{len(wanted[0]) - len(text):,} more characters of line {first:,} are left out]\n"
            return cls(first, first, text, rest)
        text = "".join(wanted[:number])
        text += "" if text.endswith("\n") else "\n"
        if number == len(wanted):
            return cls(first, last, text)
        onward = first + number
        rest = f"[{last - onward + 1:,} more lines: read {_onward(asked, onward, last)}]\n"
        return cls(first, onward - 1, text, rest)


def _onward(asked: ReadArguments, first: int, last: int) -> str:
    arguments = {"path": asked.path, "view": asked.view, "symbol": asked.symbol}
    defaults = {"view": ViewMode.FULL.value, "symbol": ""}
    given = {name: value for name, value in arguments.items() if value != defaults.get(name)}
    return json.dumps({**given, "lines": f"{first}-{last}"}, ensure_ascii=False)


def _range(lines: str, number: int, path: str) -> tuple[int, int]:
    if not lines:
        return 1, number
    start, dash, end = lines.partition("-")
    first = max(int(start), 1)
    last = min(int(end) if end else number if dash else first, number)
    if first > last:
        raise ToolError(f"{path} has lines 1 to {number:,}, not {lines}")
    return first, last


@dataclass(frozen=True, slots=True)
class _Text:
    workspace: Workspace
    connection: Connection
    asked: ReadArguments
    file: RenderedFile

    def answer(self) -> str:
        """Return them, or that they were shown already, or what has changed since."""
        file, ledger, call = self.file, self.connection.ledger, self.connection.calls
        name, lines = printable(file.path), file.content.splitlines(keepends=True)
        if not lines:
            return f"{name} is empty\n"
        page = _Page.of(lines, self.asked, self.workspace)
        numbers = range(page.first, page.last + 1)
        digest = text_digest(file.content)
        shown = ledger.call_of(file.path, digest, numbers)
        if shown and not self.asked.again:
            said = f"unchanged since your call {shown} showed it"
            return f"{name} {page.range} of {len(lines):,}: {said}\n{page.rest}"
        diff = "" if self.asked.again else self._diff(ledger, digest, page)
        if diff:
            ledger.record_text(file.path, digest, file.content, call=call)
            return diff
        if len(numbers) == len(lines):
            ledger.record_text(file.path, digest, file.content, call=call)
        else:
            ledger.record(file.path, digest, numbers, call=call)
        return f"{name} {page.range} of {len(lines):,}\n{page.text}{page.rest}"

    def _diff(self, ledger: Ledger, digest: str, page: _Page) -> str:
        """Return the way from the text that was shown to the one that there is, where that is shorter."""
        earlier = ledger.earlier_text(self.file.path, digest)
        if not earlier:
            return ""
        diff = "\n".join(unified_diff(earlier.split("\n"), self.file.content.split("\n")))
        said = f"{printable(self.file.path)} has changed since you were shown all of it:\n{diff}\n"
        return said if self.workspace.count(said) < self.workspace.count(page.text) else ""


@dataclass(frozen=True, slots=True)
class _View:
    workspace: Workspace
    connection: Connection
    asked: ReadArguments
    file: RenderedFile

    def answer(self) -> str:
        """Return it, or that it was shown already."""
        ledger, asked = self.connection.ledger, self.asked
        name = f"symbol {asked.symbol}" if asked.symbol else asked.view
        lines = self.file.content.splitlines(keepends=True)
        page = _Page.of(lines, asked, self.workspace)
        key, digest = f"{name} {page.first}-{page.last}", text_digest(self.file.content)
        shown = ledger.call_of_view(self.file.path, key, digest)
        label = f"{printable(self.file.path)} ({name})"
        if shown and not asked.again:
            return f"{label}: unchanged since your call {shown} showed it\n{page.rest}"
        ledger.record_view(self.file.path, key, digest, call=self.connection.calls)
        is_all = page.last - page.first + 1 == len(lines)
        part = "" if is_all else f", {page.range} of {len(lines):,}"
        return f"{label}{part}\n{page.text}{page.rest}"


def text_digest(text: str) -> str:
    """Return what tells two texts apart."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
