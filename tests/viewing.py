"""One-line subjects for tests of views, and what must hold for the skeleton of any program."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aggregate import View, ViewMode
from aggregate.base import ViewRequest
from aggregate.code.syntax import (
    LANGUAGES,
    Language,
    LanguageKind,
    language_of,
    parse_source,
    read_module,
)
from aggregate.code.views import find_symbol, render_view

SAMPLES = Path(__file__).parent / "code/syntax/samples"
_HEADING = re.compile(r"^=====\[ (.*) \]=====\n", re.MULTILINE)


class Sample(NamedTuple):
    """A file in one language, and what views of it show."""

    path: str
    marked: str
    views: Mapping[str, str]
    masks: Sequence[tuple[Mapping[str, str], str]]

    @property
    def text(self) -> str:
        """The file's text."""
        return self.marked.replace("⟦", "").replace("⟧", "")

    def cut(self, placeholder: str) -> str:
        """Return the text without what is marked."""
        return re.sub("⟦[^⟦⟧]*⟧", lambda _: placeholder, self.marked)


def sample(language: str) -> Sample:
    """Read the sample of a language."""
    written = (SAMPLES / f"{language}.txt").read_text(encoding="utf-8")
    _, path, marked, *rest = _HEADING.split(written)
    views = dict(zip(rest[::2], rest[1::2], strict=True))
    masks = [
        (json.loads(heading.removeprefix("mask ")), text)
        for heading, text in zip(rest[::2], rest[1::2], strict=True)
        if heading.startswith("mask ")
    ]
    return Sample(path, marked, views, masks)


def language_called(name: str) -> Language:
    """Return a language that there is."""
    return next(row for row in LANGUAGES if row.name == name)


def viewed(path: str, text: str, mode: ViewMode, **given: Any) -> View:
    """Return a view, which is made without failing."""
    view = render_view(ViewRequest(path, text, mode, **given))
    assert isinstance(view, View), view
    return view


def skeleton_of(path: str, text: str) -> str:
    """Return the skeleton's text."""
    return viewed(path, text, ViewMode.SKELETON).text


def outline_of(path: str, text: str) -> str:
    """Return the outline's text."""
    return viewed(path, text, ViewMode.OUTLINE).text


def summary_of(path: str, text: str) -> str:
    """Return the digest."""
    return viewed(path, text, ViewMode.SUMMARY).text


def masked_of(path: str, text: str, mask: Mapping[str, str]) -> str:
    """Return the text of the picked symbols, symbol by symbol, without what they stand in.

    Each comes without the indentation of its first line.
    """
    blocks = [_picked(path, text, name, shown).lstrip(" \t") for name, shown in mask.items()]
    return "\n\n".join(block for block in blocks if block)


def _picked(path: str, text: str, symbol: str, shown: str) -> str:
    """Return the text of one picked symbol, without the headers around it."""
    view = viewed(path, text, ViewMode.MASKED, mask={symbol: shown})
    language = language_of(path, text)
    first_lines = (
        {one.first_line for one in find_symbol(read_module(text, language), symbol)}
        if language
        else set()
    )
    lines = view.text.split("\n")
    blocks = [
        "\n".join(lines[s.start - 1 : s.end]) for s in view.spans if s.source_start in first_lines
    ]
    return "\n\n".join(blocks) or view.text


def check_skeleton(path: str, text: str) -> None:
    """Check that the skeleton parses, is its own skeleton, is no longer than the file and maps to its lines."""
    view = viewed(path, text, ViewMode.SKELETON)
    language = language_of(path, text)
    assert language is not None
    assert len(view.text) <= len(text)
    if language.kind is LanguageKind.CODE:
        if not parse_source(text.encode(), language).root_node.has_error:
            assert skeleton_of(path, view.text) == view.text
            assert not parse_source(view.text.encode(), language).root_node.has_error
        _check_lines(view, text, language.placeholder)


def _check_lines(view: View, text: str, placeholder: str) -> None:
    """Check that every line without a placeholder is the line of the file that the map names."""
    source = text.split("\n")
    for number, line in enumerate(
        view.text.removesuffix("\n").split("\n") if view.text else (), start=1
    ):
        at = view.source_line(number)
        assert at is not None
        assert placeholder in line or source[at - 1] == line
