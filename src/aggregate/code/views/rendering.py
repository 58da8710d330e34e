"""Make views of files and texts, here or in child processes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

from aggregate.base.concurrency import PATIENCE, Call, Children, in_child, in_children
from aggregate.base.errors import DeadlineError, SyntaxViewError
from aggregate.base.files import Span, View, ViewMode, ViewRequest, composed_spans
from aggregate.base.text import with_line_feeds
from aggregate.code.syntax.languages import (
    HOW_TO_INSTALL,
    LANGUAGES,
    Language,
    comment_of,
    language_named,
    language_of,
)

if TYPE_CHECKING:
    from aggregate.code.syntax.definitions import Definition, Module

PARSED = frozenset({ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.MASKED, ViewMode.SUMMARY})
# Views of a notebook by its cells; slices use the lines of its file.
_OF_CELLS = PARSED | {ViewMode.FULL}
NOTEBOOK_SUFFIX = ".ipynb"
_MOST_INDENTED = 40  # Most characters of indentation before a gap mark
_MODULES = {ViewMode.SKELETON: "outline", ViewMode.NONE: "custom", ViewMode.FULL: "custom"}


def render(request: ViewRequest) -> View:
    text = with_line_feeds(request.text)
    if text is not request.text:  # a caller's own text
        request = replace(request, text=text)
    if request.mode in _OF_CELLS and _is_notebook(request.path):
        # Few projects have notebooks.
        from aggregate.code.views.notebook import render_notebook

        return render_notebook(request, _renderer(request.mode))
    return _renderer(request.mode)(request)


def view_of(request: ViewRequest) -> View:
    if not takes_grammar(request):
        return render(request)
    return in_child(render, request)


def summarise_file(path: str | PurePath, content: str) -> str:
    """Return the digest of ``content`` as a file named ``path`` (rule M-16)."""
    return view_of(ViewRequest(str(path), content, ViewMode.SUMMARY)).text


def takes_grammar(request: ViewRequest) -> bool:
    """Return whether making a view may need a grammar."""
    of_summary = request.mode is ViewMode.CUSTOM and not request.slices
    if request.mode not in PARSED and not of_summary:
        return False
    return _is_notebook(request.path) or language_of(request.path, request.text) is not None


def is_the_text(path: str, mode: ViewMode) -> bool:
    """Return whether a view is the text itself (rule M-31)."""
    return mode is ViewMode.FULL and not _is_notebook(path)


def _is_notebook(path: str) -> bool:
    return path[-len(NOTEBOOK_SUFFIX) :].lower() == NOTEBOOK_SUFFIX


@cache
def _renderer(mode: ViewMode) -> Callable[[ViewRequest], View]:
    # Loaded on first use: most import the parser, which full files do not need.
    module = import_module(f"aggregate.code.views.{_MODULES.get(mode, mode.value)}")
    renderer: Callable[[ViewRequest], View] = getattr(module, mode.value)
    return renderer


def render_views(requests: Sequence[ViewRequest]) -> list[View | str]:
    """Return several views of one text, which is parsed once."""
    from aggregate.code.syntax.parsing import shared_parse  # for children

    with shared_parse():
        return list(map(render_view, requests))


def render_view(request: ViewRequest) -> View | str:
    """Return a view, or the traceback of its error."""
    try:
        return render(request)
    except DeadlineError as error:
        return without_grammar(request, str(error))
    except MemoryError:
        raise  # a failure of this process, not of the view
    except Exception:  # noqa: BLE001 - a failing view becomes the file's content, the run goes on (M-5)
        import traceback

        return traceback.format_exc()


def without_grammar(request: ViewRequest, problem: str) -> View:
    from aggregate.code.views.summary import plain_digest  # many patterns

    problem = f'{problem}; show the file with view_mode = "full", or exclude it'
    digest = plain_digest(request.path, request.text)
    return View("\n".join([f"NOTE: {problem}", *digest]), language="text", problems=(problem,))


def render_all(
    requests: Iterable[ViewRequest],
    *,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
    patience: float = PATIENCE,
) -> Iterator[View | str]:
    """Yield the requested views in order.

    A view's error is yielded as a traceback, in place of the view. Requests are taken as needed and dropped with their
    views, to hold only a few megabytes. Consecutive requests for the same text share one parse. ``patience`` is a
    process's seconds per text.
    """
    for call in in_children(_calls(requests), workers=workers, patience=patience):
        yield from _views(call, on_done)


class ViewMaker(Children):
    """Child processes that make views in the order of the requests."""

    def request(self, requests: Iterable[ViewRequest]) -> None:
        """Have views made, while the caller does something else."""
        for call in _calls(requests):
            self.submit(call)

    def views(
        self, number: int, on_done: Callable[[int], None] | None = None
    ) -> Iterator[View | str]:
        """Yield the next views, as ``render_all`` does."""
        while number > 0:
            call = self.take()
            number -= len(call.about)
            yield from _views(call, on_done)


_Call = Call[list[ViewRequest], list[View | str]]


def _calls(requests: Iterable[ViewRequest]) -> Iterator[_Call]:
    for _, group in groupby(requests, lambda request: (request.path, id(request.text))):
        of_text = list(group)
        sent = [request for request in of_text if takes_grammar(request)]
        function, suffix = render_views if sent else None, of_text[0].path.rpartition(".")[2]
        yield Call(of_text, function, (sent,), len(of_text[0].text), suffix)


def _views(call: _Call, on_done: Callable[[int], None] | None) -> Iterator[View | str]:
    views = iter(call.answer) if isinstance(call.answer, list) else None
    digest: View | str | None = None  # without a grammar the view in all parsed modes
    for request in call.about:
        if on_done:
            on_done(1)
        if takes_grammar(request):
            yield next(views) if views else without_grammar(request, str(call.answer))
        elif request.mode in PARSED and not request.mask:
            digest = digest or render_view(request)
            yield digest
        else:
            yield render_view(request)


def gap_line(language: str, lines: int) -> str:
    """Return a comment for a number of omitted lines."""
    mark, _, end = comment_of(language).partition(" ")
    return f"{mark} ...{lines} {end}".rstrip() + "\n" if mark else "...\n"


def focused(
    view: View, lines: Sequence[str], runs: Sequence[tuple[int, int]], *, ends: Sequence[int] = ()
) -> View:
    """Return the ``runs`` of lines, with gap marks between.

    ``ends`` has the last line of the definition at each line, ``0`` for none: the omitted end of a definition has its
    own, indented mark.
    """
    pieces: list[str] = []
    parts: list[Span] = []
    behind = 1  # first line of the view not passed yet
    for first, last in [*runs, (len(lines) + 1, len(lines))]:
        for start, end, indentation in _gaps(behind, first - 1, lines, ends):
            if pieces and not pieces[-1].endswith("\n"):
                pieces.append(pieces.pop() + "\n")
            pieces.append(indentation + gap_line(view.language, end - start + 1))
            parts.append(Span(len(pieces), len(pieces), start, end))
        if first <= last:
            parts.append(Span(len(pieces) + 1, len(pieces) + 1 + last - first, first, last))
        pieces += lines[first - 1 : last]
        behind = last + 1
    spans = composed_spans(parts, view.spans) if view.spans else parts
    return View("".join(pieces), tuple(spans), view.language, view.problems)


def _gaps(
    first: int, last: int, lines: Sequence[str], ends: Sequence[int]
) -> Iterator[tuple[int, int, str]]:
    """Yield the omitted lines, divided where the first definition ends."""
    end = ends[first - 2] if ends and first > 1 else 0
    text = next((line for line in lines[first - 1 : min(end, last)] if line.strip()), "")
    indentation = text[: len(text) - len(text.lstrip(" \t"))][:_MOST_INDENTED]
    if first <= end <= last:
        if not any(map(str.strip, lines[end:last])):
            end = last
        yield first, end, indentation
        first, indentation = end + 1, ""
    if first <= last:
        yield first, last, indentation


@dataclass(frozen=True)
class ASTParser:
    """Views of texts in one language (rule M-17).

    The views are skeletons, outlines, definitions and signatures.

    Args:
        language: Name of a language, such as ``python``, ``c`` or ``cpp``.

    Raises:
        SyntaxViewError: The language is unknown, or its grammar is not installed.
    """

    language: str
    _row: Language = field(init=False, repr=False)

    def __post_init__(self) -> None:
        row = language_named(self.language)
        if row is None:
            names = ", ".join(language.name for language in LANGUAGES)
            raise SyntaxViewError(f'unknown language "{self.language}": known are {names}')
        if not row.is_installed:
            raise SyntaxViewError(f"the grammar of {row.name} is not installed: {HOW_TO_INSTALL}")
        object.__setattr__(self, "_row", row)

    def get_skeleton(self, content: str) -> str:
        """Return ``content`` without the bodies of its functions."""
        return view_of(self._request(content, ViewMode.SKELETON)).text

    def get_code_outline(self, content: str) -> str:
        """Return a line for each definition, with its line numbers and signature."""
        return view_of(self._request(content, ViewMode.OUTLINE)).text

    def get_definition(self, content: str, symbol: str) -> str:
        """Return the definitions named ``symbol``, separated by blank lines.

        Raises:
            SyntaxViewError: No definition has the name.
        """
        module, definitions = self._find(content, symbol)
        return "\n\n".join(map(module.whole, definitions))

    def get_signature(self, content: str, symbol: str) -> str:
        """Return the signatures of ``symbol``, separated by blank lines.

        Raises:
            SyntaxViewError: No definition has the name.
        """
        module, definitions = self._find(content, symbol)
        return "\n\n".join(map(module.header, definitions))

    def _find(self, content: str, symbol: str) -> "tuple[Module, list[Definition]]":
        from aggregate.code.syntax.symbols import read_module  # loads the parser
        from aggregate.code.views.masked import find_symbol

        module = in_child(read_module, with_line_feeds(content), self._row)
        definitions = find_symbol(module, symbol)
        if not definitions:
            raise SyntaxViewError(f"symbol not found: {symbol}")
        return module, definitions

    def _request(self, content: str, mode: ViewMode) -> ViewRequest:
        return ViewRequest(f"text{self._row.suffixes[0]}", content, mode)
