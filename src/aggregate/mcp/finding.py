"""``find``: where a name is defined and used, and where a text stands."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from aggregate.base.errors import ToolError
from aggregate.base.text import printable
from aggregate.mcp.arguments import FindArguments
from aggregate.mcp.pages import capped
from aggregate.mcp.places import is_below, no_file_below, project_path
from aggregate.mcp.workspace import Progress, Workspace
from aggregate.prompt import FileCorpus
from aggregate.ranking import DefinedName, FileAnalysis, term_list

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
