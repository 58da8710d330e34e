"""Definitions and uses of a name in a project."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aggregate.prompt.corpus.file_corpus import FileCorpus

_BETWEEN_NAMES: Final = r"\.|::|#|->|/"
# A name, qualified as in any language.
_NAME: Final = re.compile(rf"[^\W\d][\w$]*(?:(?:{_BETWEEN_NAMES})[^\W\d][\w$]*)*[?!]?")
_LINE: Final = 160  # characters of a line that an answer repeats


def look_up_name(corpus: FileCorpus, query: str, paths: Mapping[int, str]) -> list[str]:
    """Return lines about the definitions and uses of a name.

    Definitions come first, then uses, each group below its number. ``paths`` are the files to search, by number. An
    unknown name gives no lines.
    """
    if not _NAME.fullmatch(query):
        return []
    names = re.split(_BETWEEN_NAMES, query)
    definitions = list(_definitions(corpus, names, paths))
    uses = list(_uses(corpus, names[-1], paths))
    if not definitions and not uses:
        return []
    lines = [f"{number_of(len(definitions), 'definition')} of {query}", *definitions]
    return [*lines, f"{number_of(len(uses), 'use')} of {names[-1]}", *uses]


def _definitions(
    corpus: FileCorpus, names: Sequence[str], paths: Mapping[int, str]
) -> Iterator[str]:
    holding = corpus.files_naming(names[-1])
    numbers = [number for number in holding if number in paths and corpus.files[number].is_code]
    for number, analysis in zip(numbers, corpus.analyses(numbers), strict=True):
        for index in analysis.named.get(names[-1], ()):
            definition = analysis.definitions[index]
            if definition.path[-len(names) :] == tuple(names):
                where = f"{paths[number]}:{definition.first}-{definition.last}"
                line = _line(corpus, number, definition.signature)
                yield f"{where} {definition.kind} {'.'.join(definition.path)}: {line}"


def _uses(corpus: FileCorpus, name: str, paths: Mapping[int, str]) -> Iterator[str]:
    numbers = [number for number in corpus.files_naming(name) if number in paths]
    analyses = corpus.analyses(numbers, with_references=True)
    for number, analysis in zip(numbers, analyses, strict=True):
        for reference in analysis.references:
            if reference.name == name:
                outer = reference.definition
                path = analysis.definitions[outer].path if outer >= 0 else ()
                within = f" in {'.'.join(path)}" if path else ""
                line = _line(corpus, number, reference.line)
                yield f"{paths[number]}:{reference.line}{within}: {line}"


def _line(corpus: FileCorpus, number: int, line: int) -> str:
    lines = corpus.text(number).splitlines()
    return shown_line(lines[line - 1]) if 1 <= line <= len(lines) else ""


def shown_line(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _LINE else f"{text[:_LINE]}…"


def number_of(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
