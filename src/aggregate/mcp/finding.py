"""Where in the project an agent looks: folders and files as agents write them."""

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from aggregate.base.errors import ToolError
from aggregate.base.text import printable
from aggregate.mcp.arguments import FindArguments, OutlineArguments, ReadArguments
from aggregate.mcp.pages import capped
from aggregate.mcp.reading import read
from aggregate.mcp.workspace import Connection, Progress, Workspace
from aggregate.prompt import FileCorpus
from aggregate.ranking import Corpus, DefinedName, FileAnalysis, FileFacts, term_list


def project_path(path: str, root: str) -> str:
    """Return a path as the project's files have it, ``""`` for the whole project.

    Args:
        path: Relative to the project's root, with or without ``./`` or a slash before it, or absolute within it.
        root: The absolute path of that root.
    """
    path = path.replace("\\", "/")
    top = root.replace(os.sep, "/").rstrip("/")
    if path == top or path.startswith(f"{top}/"):
        path = path[len(top) :]
    relative = posixpath.normpath(path.strip("/") or ".")
    return "" if relative == "." else relative


def is_below(path: str, place: str) -> bool:
    """Tell whether a file of the project is at or below a place."""
    return not place or path == place or path.startswith(f"{place}/")


def no_file_below(path: str) -> str:
    """Return the sentence that nothing of the project is at or below what was asked for."""
    return (
        f"no file of the project is at or below {path or 'its folder'}: "
        "a path is relative to the project's root"
    )


_NAME = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|#|->|/)[^\W\d][\w$]*)*[?!]?")
"""A name as languages write it, with what it stands in."""
_BETWEEN_NAMES = re.compile(r"\.|::|#|->|/")
_LINE: Final = 160
"""Characters of a line that an answer repeats."""
_MOST_LINES: Final = 200
"""Lines that are found in texts: more are no answer to anything."""


def find(workspace: Workspace, asked: FindArguments, progress: Progress) -> str:
    """Return the definitions of a name and where it is used, else the lines that hold a text.

    A text is found whatever its case.
    """
    request = workspace.request()
    corpus = workspace.read_files(request, progress).corpus
    workspace.index.flush()
    place = project_path(asked.path, os.path.abspath(request.base_dir))
    if not any(is_below(file.path, place) for file in corpus.files):
        raise ToolError(f"find: {no_file_below(asked.path)}")
    search = _Search(corpus, asked.query.strip(), place)
    text = "".join(f"{line}\n" for line in search.lines())
    more = "name a longer text, or a path to look below"
    return capped(text, workspace.cap, workspace.count, more=more)


@dataclass(frozen=True, slots=True)
class _Search:
    corpus: FileCorpus
    query: str
    path: str

    def lines(self) -> Iterator[str]:
        """Yield what an answer says."""
        if _NAME.fullmatch(self.query):
            names = _BETWEEN_NAMES.split(self.query)
            definitions = list(self._definitions(names))
            uses = list(self._uses(names[-1]))
            if definitions or uses:
                yield f"{_number(len(definitions), 'definition')} of {self.query}"
                yield from definitions
                yield f"{_number(len(uses), 'use')} of {names[-1]}"
                yield from uses
                return
        matches = list(self._matches())
        number = len(matches)
        most = f"the first {number:,}" if number >= _MOST_LINES else _number(number, "line")
        where = f" below {self.path}" if self.path else ""
        yield f"{most} with {_shortened(self.query)!r}{where}"
        yield from matches

    def _is_wanted(self, number: int) -> bool:
        return is_below(self.corpus.files[number].path, self.path)

    def _definitions(self, names: Sequence[str]) -> Iterator[str]:
        places = [
            place for place in self.corpus.files_defining(names[-1]) if self._is_wanted(place[0])
        ]
        analyses = self.corpus.analyses([number for number, _ in places])
        for (number, place), analysis in zip(places, analyses, strict=True):
            definition = analysis.definitions[place]
            if definition.path[-len(names) :] != tuple(names):
                continue
            line = self._line(number, definition.signature)
            where = f"{self._path(number)}:{definition.first}-{definition.last}"
            yield f"{where} {definition.kind} {'.'.join(definition.path)}: {line}"

    def _uses(self, name: str) -> Iterator[str]:
        numbers = [
            number for number in self.corpus.files_referring(name) if self._is_wanted(number)
        ]
        for number, analysis in zip(numbers, self.corpus.analyses(numbers), strict=True):
            for reference in analysis.references:
                if reference.name != name:
                    continue
                within = _within(analysis, reference.definition)
                line = self._line(number, reference.line)
                yield f"{self._path(number)}:{reference.line}{within}: {line}"

    def _matches(self) -> Iterator[str]:
        wanted = self.query.lower()
        found = 0
        for number in self._files_with_text():
            for line_number, line in enumerate(self.corpus.text(number).splitlines(), start=1):
                if wanted in line.lower():
                    yield f"{self._path(number)}:{line_number}: {_shortened(line)}"
                    found += 1
                    if found >= _MOST_LINES:
                        return

    def _files_with_text(self) -> Sequence[int]:
        """Return the files that can hold the text: those with all its whole words."""
        numbers = {number for number in range(len(self.corpus.files)) if self._is_wanted(number)}
        # The words at its ends may be parts of longer ones, which the tables do not know.
        inner = re.sub(r"^\w+|\w+$", " ", self.query)
        for term in sorted(set(term_list(inner))):
            numbers &= self.corpus.files_with(term).keys()
        return sorted(numbers)

    def _path(self, number: int) -> str:
        return printable(self.corpus.files[number].path)  # a name may hold a line break

    def _line(self, number: int, line: int) -> str:
        lines = self.corpus.text(number).splitlines()
        return _shortened(lines[line - 1]) if 1 <= line <= len(lines) else ""


def _within(analysis: FileAnalysis, place: int) -> str:
    if place < 0:
        return ""
    definition: DefinedName = analysis.definitions[place]
    return f" in {'.'.join(definition.path)}"


def _shortened(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _LINE else f"{text[:_LINE]}…"


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


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
