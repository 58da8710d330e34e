"""A corpus of short texts: what ranking reads, made by the product's own analysis or, naively, line by line."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from aggregate.ranking.corpus import FileFacts, TermInFile
from aggregate.ranking.file_analysis import DefinedName, Piece, Reference
from aggregate.ranking.terms import terms_in

_DEFINITION = re.compile(r"(?P<indent> *)(?P<kind>class|def|func|fn) (?P<name>\w+)")
_IMPORT = re.compile(r"from (?P<module>[\w.]+) import (?P<name>\w+)")
_CALL = re.compile(r"(?:(?P<scope>\w+)\.)?(?P<name>\w+)\(")
_KINDS = {"class": "class"}
_LANGUAGES = {"py": "python", "go": "go", "js": "javascript", "md": "markdown", "toml": "toml"}
_NO_CODE = frozenset({"markdown", "toml", ""})


@dataclass(frozen=True)
class FakeAnalysis:
    """One text, in which ``def`` and ``class`` begin a definition that reaches as far as the indentation says."""

    text: str

    @cached_property
    def _lines(self) -> Sequence[str]:
        return self.text.splitlines()

    @cached_property
    def definitions(self) -> Sequence[DefinedName]:
        """In order of their lines."""
        names: list[DefinedName] = []
        for number, line in enumerate(self._lines, start=1):
            match = _DEFINITION.match(line)
            if match is None:
                continue
            outer = self._outer(names, number)
            path = (*names[outer].path, match["name"]) if outer >= 0 else (match["name"],)
            kind = _KINDS.get(match["kind"], "function")
            last = self._last(number, len(match["indent"]))
            names.append(DefinedName(kind, path, number, number, number + 1, last, outer))
        return names

    def _last(self, number: int, indent: int) -> int:
        last = number
        for later in range(number, len(self._lines)):
            line = self._lines[later]
            if line.strip():
                if len(line) - len(line.lstrip()) <= indent:
                    break
                last = later + 1
        return last

    @staticmethod
    def _outer(names: Sequence[DefinedName], line: int) -> int:
        for place in range(len(names) - 1, -1, -1):
            if names[place].first <= line <= names[place].last:
                return place
        return -1

    @cached_property
    def pieces(self) -> Sequence[Piece]:
        """One for each run of lines of one definition."""
        owners = [self._outer(self.definitions, line + 1) for line in range(len(self._lines))]
        pieces: list[Piece] = []
        begin = 0
        for line in range(1, len(owners) + 1):
            if line == len(owners) or owners[line] != owners[begin]:
                text = "\n".join(self._lines[begin:line])
                terms = sum(terms_in(text).values())
                pieces.append(Piece(begin + 1, line, owners[begin], terms, len(text)))
                begin = line
        return pieces

    @cached_property
    def references(self) -> Sequence[Reference]:
        """Imports, and names before a parenthesis."""
        references: list[Reference] = []
        for number, line in enumerate(self._lines, start=1):
            owner = self._outer(self.definitions, number)
            imported = _IMPORT.match(line)
            if imported is not None:
                module, name = imported["module"], imported["name"]
                references.append(Reference(name, "import", number, owner, module))
            elif _DEFINITION.match(line) is None:
                references += [
                    Reference(call["name"], "call", number, owner, call["scope"] or "")
                    for call in _CALL.finditer(line)
                ]
        return references

    def pieces_with(self, term: str) -> Sequence[tuple[int, int]]:
        """Return the pieces that hold a term."""
        counts = [(place, self._counts(piece)[term]) for place, piece in enumerate(self.pieces)]
        return [(place, count) for place, count in counts if count]

    def _counts(self, piece: Piece) -> Counter[str]:
        return terms_in("\n".join(self._lines[piece.first - 1 : piece.last]))


class FakeCorpus:
    """Some texts by their paths, in the order in which they are given."""

    def __init__(self, texts: Mapping[str, str], *, generated: Sequence[str] = ()) -> None:
        self._analyses = [FakeAnalysis(text) for text in texts.values()]
        self._counts = [terms_in(text) for text in texts.values()]
        self.files = [
            _facts(path, analysis, is_generated=path in generated)
            for path, analysis in zip(texts, self._analyses, strict=True)
        ]
        self.loaded: list[int] = []

    def files_with(self, term: str) -> Mapping[int, TermInFile]:
        """Return the files that hold a term."""
        return {
            number: TermInFile(counts[term], len(self._analyses[number].pieces_with(term)))
            for number, counts in enumerate(self._counts)
            if counts[term]
        }

    def files_defining(self, name: str) -> Sequence[tuple[int, int]]:
        """Return the definitions of a name."""
        return [
            (number, place)
            for number, analysis in enumerate(self._analyses)
            for place, definition in enumerate(analysis.definitions)
            if definition.path[-1] == name
        ]

    def files_referring(self, name: str) -> Sequence[int]:
        """Return the files that use a name."""
        return [
            number
            for number, analysis in enumerate(self._analyses)
            if any(reference.name == name for reference in analysis.references)
        ]

    def analyses(self, files: Sequence[int]) -> Sequence[FakeAnalysis]:
        """Return the analyses of some files, and note that they were asked for."""
        self.loaded += files
        return [self._analyses[number] for number in files]


def _facts(path: str, analysis: FakeAnalysis, *, is_generated: bool) -> FileFacts:
    language = _LANGUAGES.get(path.rpartition(".")[2], "")
    return FileFacts(
        path,
        language,
        language not in _NO_CODE,
        len(analysis.text),
        sum(terms_in(analysis.text).values()),
        len(analysis.pieces),
        is_generated,
    )
