"""Programs with one damage each: lost ends and braces, doubled heads, heads split over conditions."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from aggregate import ViewMode
from aggregate.code.syntax import Language, LanguageKind, language_of, read_module, shared_parse
from tests.viewing import SAMPLES, sample, viewed

SLOW = {"cpp", "swift", "tsx", "typescript"}
"""Languages whose patterns take long to compile, or whose grammar is slow."""

CORPUS = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parent / "programs").iterdir())
}
"""Programs as people indent them, in words of our own."""


class Damage(NamedTuple):
    """A damaged text, its damaged row, and the intact row of each of its rows."""

    kind: str
    row: int
    text: str
    intact: Callable[[int], int]


_END = re.compile(r"\s*(?:end\b.*|[})\]]+[;,)]*|fi|done|esac)\s*", re.IGNORECASE)
_BRACKETS = re.compile(r"[\s{}()\[\];,]*|\s*end\W*")
_HEAD = re.compile(r".*(?:\{|\bdo)\s*|\s*(?:def|function|subroutine|local function)\b.*")


def damages(text: str, language: str) -> Iterator[Damage]:
    """Yield a text with each damage in turn."""
    lines = text.split("\n")
    for row, line in enumerate(lines):
        before, behind = lines[:row], lines[row + 1 :]
        if _END.fullmatch(line):
            yield _damage("lost end", row, [*before, *behind], removed=1)
        for brace in re.finditer(r"[{}]", line):
            rest = line[: brace.start()] + line[brace.end() :]
            yield _damage(f"lost brace at {brace.start()}", row, [*before, rest, *behind])
        if not _HEAD.fullmatch(line) or line.count("(") != line.count(")"):
            continue
        yield _damage("doubled head", row, [*before, line, line, *behind], added=1)
        if line.rstrip().endswith("{") and language in ("c", "cpp", "objectivec", "csharp"):
            heads = ["#if A", line, "#else", line, "#endif"]
            yield _damage("split head", row, [*before, *heads, *behind], added=4)
            split = [line, "#if A", "if (a) {", "#else", "if (b) {", "#endif", "}"]
            yield _damage("split block", row, [*before, *split, *behind], added=6)


def _damage(kind: str, row: int, lines: list[str], *, added: int = 0, removed: int = 0) -> Damage:
    def intact(number: int) -> int:
        if removed:
            return number + (number >= row)
        return number if number < row else max(row, number - added)

    return Damage(kind, row, "\n".join(lines), intact)


def whole_rows(path: str, text: str) -> set[int]:
    """Return the rows that stand in the skeleton, without those of brackets alone."""
    view, source = viewed(path, text, ViewMode.SKELETON), text.split("\n")
    rows = set()
    for number, line in enumerate(view.text.split("\n"), start=1):
        at = view.source_line(number)
        if at and line == source[at - 1] and not _BRACKETS.fullmatch(line):
            rows.add(at - 1)
    return rows


def later_names(text: str, language: Language, row: int) -> set[tuple[int, str]]:
    """Return the rows and names of definitions behind the innermost one at ``row``."""
    definitions = read_module(text, language).definitions
    around = [one for one in definitions if one.first_line <= row + 1 <= one.last_line]
    last = max([row + 1, *(one.last_line for one in around[-1:])])
    return {
        (one.first_line - 1, one.path[-1])
        for one in definitions
        if one.first_line > last and one.path
    }


PROGRAMS = [
    *(pytest.param(path, text, 1, id=path) for path, text in CORPUS.items()),
    *(
        pytest.param(
            *sample(path.stem)[:1],
            sample(path.stem).text,
            3,
            id=path.stem,
            marks=pytest.mark.slow if path.stem in SLOW else (),
        )
        for path in sorted(SAMPLES.glob("*.txt"))
    ),
]


@pytest.mark.parametrize(("path", "text", "step"), PROGRAMS)
def test_no_damage_widens_a_cut(path: str, text: str, step: int) -> None:
    """Each row outside the bodies of the intact program stands in the skeleton of the damaged one (M-33, M-X19).

    In programs as people indent them, a lost end costs no name of a later definition.
    """
    language = language_of(path, text)
    assert language is not None
    if language.kind is not LanguageKind.CODE:
        return
    whole = whole_rows(path, text)
    for damage in [*damages(text, language.name)][::step]:
        with shared_parse():
            damaged = {damage.intact(row) for row in whole_rows(path, damage.text)}
            lost = whole - damaged - {damage.row}
            assert not lost, (damage.kind, damage.row + 1, sorted(lost))
            if path in CORPUS and damage.kind == "lost end":
                names = {
                    (damage.intact(one.first_line - 1), one.path[-1])
                    for one in read_module(damage.text, language).definitions
                    if one.path
                }
                missing = later_names(text, language, damage.row) - names
                assert not missing, (damage.row + 1, missing)
