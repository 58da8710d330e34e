"""``outline``: what a folder holds, as far as an answer reaches, or the definitions of one file."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from aggregate.base.errors import ToolError
from aggregate.base.text import printable
from aggregate.mcp.arguments import OutlineArguments, ReadArguments
from aggregate.mcp.pages import capped
from aggregate.mcp.places import is_below, no_file_below, project_path
from aggregate.mcp.reading import read
from aggregate.mcp.workspace import Connection, Progress, Workspace
from aggregate.ranking import Corpus, FileFacts

_CHARACTERS: Final = 4
"""Of a token, about; an outline tells sizes, not bills."""
_MOST_NAMED: Final = 300
"""Files whose definitions are looked up: those of more never fit into an answer."""


def outline(
    workspace: Workspace, connection: Connection, asked: OutlineArguments, progress: Progress
) -> str:
    """Return the files below a folder with their sizes, and their outermost definitions where these fit."""
    request = workspace.request()
    folder = project_path(asked.path, os.path.abspath(request.base_dir))
    corpus = workspace.read_files(request, progress).corpus
    workspace.index.flush()
    if any(facts.path == folder for facts in corpus.files):
        return read(workspace, connection, ReadArguments(path=folder, view="outline"))
    below = [
        _File(number, facts)
        for number, facts in enumerate(corpus.files)
        if is_below(facts.path, folder)
    ]
    if not below:
        raise ToolError(f"outline: {no_file_below(asked.path)}")
    return _Outline(workspace, corpus, folder, below).text()


@dataclass(frozen=True, slots=True)
class _File:
    number: int
    facts: FileFacts

    @property
    def tokens(self) -> int:
        return self.facts.characters // _CHARACTERS


@dataclass(frozen=True, slots=True)
class _Outline:
    workspace: Workspace
    corpus: Corpus
    folder: str
    files: Sequence[_File]

    def text(self) -> str:
        """Return files with definitions, or only files, or only folders."""
        tokens = sum(file.tokens for file in self.files)
        heading = (
            f"{self.folder or 'the project'}: {len(self.files):,} files, about {tokens:,} tokens\n"
        )
        forms: list[Callable[[], Iterable[str]]] = [self._plain_files, self._folders]
        if len(self.files) <= _MOST_NAMED:
            forms.insert(0, self._files_with_definitions)
        text = heading
        for form in forms:
            text = heading + "".join(f"{line}\n" for line in form())
            if self.workspace.count(text) <= self.workspace.cap:
                return text
        more = "outline a folder below"
        return capped(text, self.workspace.cap, self.workspace.count, more=more)

    def _files_with_definitions(self) -> Iterator[str]:
        analyses = self.corpus.analyses([file.number for file in self.files])
        for file, analysis in zip(self.files, analyses, strict=True):
            yield _row(file)
            if not file.facts.is_code:
                continue
            for definition in analysis.definitions:
                if definition.outer < 0:
                    name = ".".join(definition.path)
                    yield f"  {definition.signature}-{definition.last} {definition.kind} {name}"

    def _plain_files(self) -> Iterator[str]:
        return map(_row, self.files)

    def _folders(self) -> Iterator[str]:
        """Yield the folders and files right below, the folders with what they hold."""
        start = len(self.folder) + 1 if self.folder else 0
        folders: dict[str, list[_File]] = {}
        for file in self.files:
            name, slash, _ = file.facts.path[start:].partition("/")
            folders.setdefault(name + slash, []).append(file)
        for name, files in folders.items():
            tokens = sum(file.tokens for file in files)
            count = f"{len(files):,} files, " if name.endswith("/") else ""
            yield f"{printable(name)}  {count}about {tokens:,} tokens"


def _row(file: _File) -> str:
    generated = ", generated" if file.facts.is_generated else ""
    return f"{printable(file.facts.path)}  about {file.tokens:,} tokens{generated}"
