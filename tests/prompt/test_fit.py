"""Fitting: never over, monotone, as full as can be, and which files of a discussion stay as they were sent."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import pytest
from hypothesis import given, strategies as st

from aggregate import View, count
from aggregate.base import as_runs, marked_runs
from aggregate.code.views import focused, gap_line
from aggregate.prompt import File
from aggregate.prompt.fit import FileShare, Fit, Fittable, OpenedFile, ShownLines, StepOrder
from aggregate.ranking.files import DefinedName, Piece

Run = tuple[int, int]
FILE = File.from_record({"path": "a.py"})
FRAME, GAP = 8, 4
"""Tokens around a file, and of a line that says how much is left out, in these tests."""


def words(text: str) -> int:
    """Count a token for each word and each line break, as a tokenizer of which a reader can do the sums."""
    return len(text.split()) + text.count("\n")


@dataclass(frozen=True)
class Source:
    text: str
    pieces: tuple[tuple[int, int, float], ...]
    definitions: tuple[DefinedName, ...] = ()
    statements: tuple[int, ...] = ()

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines(keepends=True)

    def fittable(self, number: int) -> Fittable:
        pieces = [
            Piece(first, last, self._innermost(first), len("".join(self.lines[first - 1 : last])))
            for first, last, _ in self.pieces
        ]
        chances = [chance for *_, chance in self.pieces]
        return Fittable(number, self.definitions, pieces, chances)

    def _innermost(self, line: int) -> int:
        around = [
            place
            for place, definition in enumerate(self.definitions)
            if definition.first <= line <= definition.last
        ]
        return around[-1] if around else -1


def new_fit(
    sources: Sequence[Source], *, signatures: float = 0.12, count: Callable[[str], int] = words
) -> Fit:
    """Return a fit of these files, numbered from 0, in which nothing is shown."""
    ranked = sorted(
        (source.fittable(number) for number, source in enumerate(sources)),
        key=lambda file: (-sum(file.chances), file.number),
    )

    def open_file(number: int) -> OpenedFile:
        source = sources[number]
        gap = count(gap_line("python", len(source.lines)))
        return OpenedFile(FILE, source.lines, FRAME, gap, statements=source.statements)

    return Fit(StepOrder([FileShare([ranked])], signatures), open_file, count)


def shown_text(source: Source, fit: Fit, number: int) -> str:
    state = fit.shown[number]
    return focused(View(source.text, language="python"), source.lines, state.runs()).text


LINES = st.lists(
    st.sampled_from(
        [
            "def f(x):\n", "    return x + 1\n", "\n", "        if (a,\n", "x = {\n", "// c\n", "}\n", "    \n",
            "äöü 漢字 😀\n",
            "a" * 90 + "\n",
            "\r\n", "{\n", "///\n",
            f"    {'0xff77b1fcbebcdc4f, ' * 6}\n".replace(", \n", ",\n"),
        ]
    ),
    min_size=1,
    max_size=60,
)  # fmt: skip


@st.composite
def sources(draw: st.DrawFn, lines: st.SearchStrategy[list[str]] = LINES) -> Source:
    """Return a file cut into pieces of some lines, each with a chance."""
    texts = draw(lines)
    pieces: list[tuple[int, int, float]] = []
    first = 1
    while first <= len(texts):
        last = min(len(texts), first + draw(st.integers(0, 12)))
        pieces.append((first, last, draw(st.integers(1, 100)) / 1000))
        first = last + 1
    statements = list(range(1, len(texts) + 1))
    for _ in range(draw(st.integers(0, 4))):
        one, other = draw(st.integers(1, len(texts))), draw(st.integers(1, len(texts)))
        low, high = sorted((statements[one - 1], statements[other - 1]))
        statements = [low if each == high else each for each in statements]
    return Source("".join(texts), tuple(pieces), statements=tuple(statements))


FILES = st.lists(sources(), min_size=1, max_size=5)


@given(files=FILES, limit=st.integers(0, 2_000))
def test_prices_are_never_below_what_is_added(files: list[Source], limit: int) -> None:
    """The exact tokens of what is shown never exceed what was spent, nor does that exceed the limit (rule B-1)."""
    fit = new_fit(files, count=count)
    fit.advance(limit)
    exact = sum(
        count(shown_text(files[number], fit, number)) + FRAME
        for number, state in fit.shown.items()
        if not state.is_empty
    )
    assert exact <= fit.spent <= limit


@given(files=FILES, limits=st.lists(st.integers(0, 1_500), min_size=2, max_size=4))
def test_a_larger_limit_shows_all_that_a_smaller_one_does(
    files: list[Source], limits: list[int]
) -> None:
    """Every line that is shown for some tokens is shown for more of them (rule B-6)."""
    shown_before: set[tuple[int, int]] = set()
    for limit in sorted(limits):
        fit = new_fit(files)
        fit.advance(limit)
        shown = _shown_lines(fit)
        assert shown_before <= shown
        shown_before = shown


@given(files=FILES, limits=st.lists(st.integers(0, 1_500), min_size=1, max_size=3))
def test_advancing_in_portions_shows_what_one_go_shows(
    files: list[Source], limits: list[int]
) -> None:
    """What was taken in part is finished first and costs the same, so that the way does not matter (rule B-6)."""
    at_once = new_fit(files)
    at_once.advance(max(limits))
    in_portions = new_fit(files)
    for limit in sorted(limits):
        in_portions.advance(limit)
    assert _shown_lines(in_portions) == _shown_lines(at_once)
    assert in_portions.spent == at_once.spent


def test_what_does_not_fit_is_shown_in_part() -> None:
    """Of a long function the first lines are shown, to the end of a statement, and a marker (rule B-6)."""
    lines = ["def f():\n", *(f"    step_{number}()\n" for number in range(50))]
    source = Source("".join(lines), ((1, 51, 1.0),))
    fit = new_fit([source])
    fit.advance(60)
    text = shown_text(source, fit, 0)
    assert text.startswith("def f():\n    step_0()\n")
    assert text.endswith("()\n# ...30\n")
    assert 50 < words(text) + FRAME <= 60


@given(files=FILES, limit=st.integers(0, 1_500))
def test_statements_are_shown_whole_or_not_at_all(files: list[Source], limit: int) -> None:
    """Of lines that belong together all are shown or none, while others may be shown that need not wait (rule B-2)."""
    filler = Source("word word\n" * 400, tuple((n, n, 1e-9) for n in range(1, 401)))
    fit = new_fit([*files, filler])
    fit.advance(limit)
    for number, source in enumerate(files):
        marks = fit.shown[number].marks if number in fit.shown else bytearray(len(source.lines))
        shown = {first for first, mark in zip(source.statements, marks, strict=True) if mark}
        missing = {first for first, mark in zip(source.statements, marks, strict=True) if not mark}
        assert not shown & missing


def test_the_end_of_what_is_opened_is_shown_with_it() -> None:
    """A head that is shown alone has its last bracket behind the mark for its body (rule B-2)."""
    text = "func f() {\n" + "\tgo()\n" * 30 + "}\n\nvar x int\n"
    definitions = (DefinedName("function", ("f",), 1, 1, 2, 32, -1),)
    ends = (1, *range(2, 32), 1, 33, 34)
    source = Source(text, ((1, 32, 0.0), (33, 34, 1.0)), definitions, ends)
    fit = new_fit([source], signatures=0.5)
    fit.advance(40)
    assert shown_text(source, fit, 0) == "func f() {\n\tgo()\n\tgo()\n# ...28\n}\n\nvar x int\n"


@pytest.mark.parametrize("limit", [80, 150, 300])
def test_a_table_is_cut_where_nothing_else_is_left(limit: int) -> None:
    """A statement that is longer than the budget is cut where else more than 2 % were unused (rule B-6)."""
    text = "t = [\n" + "    1, 2, 3,\n" * 200
    fit = new_fit([Source(text, ((1, 201, 1.0),), statements=(1,) * 201)])
    fit.advance(limit)
    used = FRAME + words(shown_text(Source(text, ()), fit, 0)) if fit.shown[0].runs() else 0
    assert used == 0 if limit < 100 else limit - 12 <= used <= limit


def test_a_share_gets_its_part_while_others_have_more() -> None:
    """Files of a share enter for its part of what is spent, however unlikely they are (rules B-6, T-11)."""
    likely = Source("likely words here\n" * 400, tuple((n, n, 0.9) for n in range(1, 401)))
    tests = Source("test words here\n" * 400, tuple((n, n, 1e-9) for n in range(1, 401)))
    order = StepOrder(
        [FileShare([[likely.fittable(0)]]), FileShare([[tests.fittable(1)]], 0.1)], 0.12
    )
    spent = [0, 0]
    for step in order:
        order.spend(step, 10)
        spent[step.file] += 10
        if sum(spent) == 3_000:
            break
    assert spent == [2_850, 150]


def test_a_likely_file_unfolds_what_is_short_and_called() -> None:
    """There a short body, and more so one that a likely body calls, enters before one that is long (rule B-6)."""
    definitions = (
        DefinedName("function", ("a",), 1, 1, 2, 10, -1),
        DefinedName("function", ("b",), 11, 11, 12, 20, -1),
        DefinedName("function", ("c",), 21, 21, 22, 60, -1),
    )
    pieces = [Piece(1, 10, 0, 400), Piece(11, 20, 1, 400), Piece(21, 60, 2, 400)]
    rest = (definitions, pieces, (0.5, 0.0001, 0.002))
    plain, calling = Fittable(0, *rest), Fittable(0, *rest, is_likely=True, calls={0: [1]})

    def entered(file: Fittable) -> list[int]:
        steps = StepOrder([FileShare([[file]])], signatures=0)
        return [step.runs[-1][0] for step in steps if step.is_body]

    assert entered(plain) == [1, 21, 11]
    assert entered(calling) == [1, 11, 21]


def test_a_limited_order_ends_where_nothing_else_is_relevant() -> None:
    """Unlikely pieces and their signatures stay hidden; tests end at twice their part (rules B-6, T-11)."""
    definitions = tuple(
        DefinedName("function", (f"f{n}",), 10 * n + 1, 10 * n + 1, 10 * n + 2, 10 * n + 10, -1)
        for n in range(9)
    )
    pieces = [Piece(10 * n + 1, 10 * n + 10, n, 400) for n in range(9)]
    chances = (0.5, 0.3, *(1e-6,) * 7)
    source = Fittable(0, definitions, pieces, chances, least=1e-3)
    tests = Fittable(1, definitions, pieces, (1e-9,) * 9)
    shares = [FileShare([[source]], 0.0, 0, True), FileShare([[tests]], 0.1, 0, True)]
    order = StepOrder(shares, signatures=0.3)
    spent = {0: 0, 1: 0}
    for step in order:
        order.spend(step, 100)
        spent[step.file] += 100
    assert spent == {0: 300, 1: 100}
    everything = StepOrder([FileShare([[source]])], signatures=0.3)
    assert {first for step in everything for first, _ in step.runs} >= {81}


def test_a_huge_function_is_worth_its_likeliest_piece_as_a_signature() -> None:
    """Nobody can edit it by its signature, so that of a function that fits better comes first (rule B-6)."""
    definitions = (
        DefinedName("function", ("main",), 1, 1, 2, 250, -1),
        DefinedName("function", ("b",), 251, 251, 252, 260, -1),
    )
    pieces = [Piece(25 * n + 1, 25 * n + 25, 0, 900) for n in range(10)]
    file = Fittable(0, definitions, [*pieces, Piece(251, 260, 1, 300)], (*(0.02,) * 10, 0.05))
    steps = StepOrder([FileShare([[file]])], signatures=0.9)
    signature = next(step for step in steps if not step.is_body)
    assert signature.runs == ((251, 251),)


def test_headings_of_prose_enter_with_text_alone() -> None:
    """A document shows no bare headings (rule B-6)."""
    headings = (DefinedName("heading", ("A",), 1, 1, 2, 40, -1),)
    file = Fittable(0, headings, [Piece(1, 40, 0, 1_600)], (0.9,), is_prose=True)
    steps = StepOrder([FileShare([[file]])], signatures=0.9)
    assert [step.is_body for step in steps] == [True]


def test_a_body_brings_the_signatures_around_it() -> None:
    """A chosen piece stands below the signatures of what it is part of (rule B-2)."""
    lines = [
        "class A:\n",
        "    x = 1\n",
        *["    y = 2\n"] * 30,
        "    def f(self):\n",
        "        go()\n",
    ]
    definitions = (
        DefinedName("class", ("A",), 1, 1, 2, 34, -1),
        DefinedName("function", ("A", "f"), 33, 33, 34, 34, 0),
    )
    source = Source("".join(lines), ((1, 32, 0.0), (33, 34, 1.0)), definitions)
    fit = new_fit([source])
    fit.advance(FRAME + 30)
    shown = "class A:\n    x = 1\n# ...30\n    def f(self):\n        go()\n"
    assert shown_text(source, fit, 0) == shown


def test_a_very_long_line_waits_until_it_is_a_small_part() -> None:
    """A line that cannot be shown in part does not keep shorter ones out (rule B-6)."""
    long_line = "word " * 500 + "\n"
    minified = Source(long_line, ((1, 1, 0.9),))
    readable = Source("good line here\n" * 100, tuple((n, n, 0.001) for n in range(1, 101)))
    fit = new_fit([minified, readable])
    fit.advance(300)
    assert not any(fit.shown[0].marks)
    assert sum(fit.shown[1].marks) > 20
    fit.advance(2_000)
    assert fit.shown[0].is_complete


def _shown_lines(fit: Fit) -> set[tuple[int, int]]:
    return {
        (number, line)
        for number, state in fit.shown.items()
        for line, mark in enumerate(state.marks)
        if mark
    }


def test_runs_are_their_lines() -> None:
    """Runs hold the lines that they were made of, each once and in order, and never touch."""
    chance = random.Random(5)
    for _ in range(200):
        marks = bytes(chance.choices([0, 1], weights=[chance.random() + 0.01, 0.5], k=40))
        numbers = [number for number, mark in enumerate(marks, start=1) if mark]
        runs = as_runs(numbers)
        assert runs == marked_runs(marks)
        assert [line for first, last in runs for line in range(first, last + 1)] == numbers
        assert all(before[1] + 1 < after[0] for before, after in pairwise(runs))


def new_runs(text: str, *wanted: Run, shown: Run | None = None) -> list[Run]:
    """Return what of the wanted lines is new, where other lines may be shown before."""
    lines = ShownLines(OpenedFile(FILE, text.splitlines(keepends=True), 0, 0))
    if shown:
        lines.show([shown])
    return lines.with_small_gaps(lines.new_runs(wanted))


def test_a_small_gap_is_shown() -> None:
    """A bracket and a short line cost no more than the dots in their place (rules B-2, B-6)."""
    getters = "int number_of_parts() {\n    return number_of_parts_;\n}\n" * 3
    assert new_runs(getters, (1, 1), (4, 4), (7, 7)) == [(1, 9)]
    assert new_runs(getters, (4, 4), shown=(1, 1)) == [(2, 4)]
    assert new_runs(getters, (1, 3), shown=(7, 7)) == [(1, 3)]
    long = "int a() {\n" + f"    return {'b + ' * 12}c;\n" + "}\n"
    assert new_runs(long * 2, (1, 1), (4, 4)) == [(1, 1), (4, 4)]
    assert new_runs(long, (1, 1), (3, 3)) == [(1, 3)]  # a mark for a single line hides little


def test_blank_lines_between_shown_ones_have_their_price() -> None:
    """They are shown without being asked for, and what is shown is paid for (rules B-1, B-6)."""
    assert new_runs("a\n\n\nb\n", (1, 1), (4, 4)) == [(1, 4)]
    assert new_runs("a\n\n\nb\n", (4, 4), shown=(1, 1)) == [(2, 4)]
    assert new_runs("\n\na\n\n", (3, 3)) == [(1, 4)]


MANY_LINES, LONG_LINES = "\n" * 1000, f"{' ' * 150}\n" * 2


@pytest.mark.parametrize("blank", [MANY_LINES, LONG_LINES])
def test_many_blank_lines_are_a_gap(blank: str) -> None:
    """They would take tokens that tell nothing: dots stand for them, until they are shown themselves (rule B-6)."""
    text = f"a\n{blank}b\n"
    lines = ShownLines(OpenedFile(FILE, text.splitlines(keepends=True), 0, 0))
    last = len(lines.marks)
    for line in (1, last):
        runs = lines.with_small_gaps(lines.new_runs([(line, line)]))
        assert runs == [(line, line)]
        lines.show(runs)
    assert lines.runs() == [(1, 1), (last, last)]
    assert not lines.is_complete
    lines.show([(2, 5)])
    lines.show([(2, last - 1)])
    assert lines.runs() == [(1, last)]
    assert lines.is_complete


@pytest.mark.parametrize(
    ("text", "shown", "runs"),
    [
        ("a\n\nb\n\n\nc\n", [(2, 4)], [(3, 3)]),
        ("a\n\nb\n", [(1, 2)], [(1, 1)]),
        ("\na\n\nb\n\n", [(1, 3)], [(1, 2)]),
        ("\na\n\nb\n\n", [(4, 5)], [(4, 5)]),
        ("a\n\nb\n", [(1, 1), (3, 3)], [(1, 3)]),
    ],
)
def test_no_blank_lines_stand_next_to_a_gap(text: str, shown: list[Run], runs: list[Run]) -> None:
    """The line of dots parts what it stands between; at the ends of a file and within they stay (rule B-2)."""
    lines = ShownLines(OpenedFile(FILE, text.splitlines(keepends=True), 0, 0))
    lines.show(shown)
    assert lines.runs() == runs


_CHANCES = (0.5, 0.0, 0.25, 0.5, 0.125)
"""Several are equal, so that the order of files and of lines decides."""


def _file(number: int, chances: tuple[float, ...]) -> Fittable:
    pieces = [Piece(line, line, -1, 4) for line in range(1, len(chances) + 1)]
    return Fittable(number, pieces=pieces, chances=chances)


def test_pieces_enter_by_their_chances_then_by_file_and_line() -> None:
    """Pieces of equal length enter in the order of a sort of all of them, whatever file they stand in (rule B-6)."""
    files = [
        _file(number, chances) for number, chances in enumerate(product(_CHANCES, repeat=3), 1)
    ]
    files.insert(2, _file(0, ()))
    entered = [
        (step.file, step.runs[-1][0] + 1) for step in StepOrder([FileShare([files])], signatures=0)
    ]
    pieces = [
        (-chance, place, line, file.number)
        for place, file in enumerate(files)
        for line, chance in enumerate(file.chances, 1)
    ]
    assert entered == [(number, line) for _, _, line, number in sorted(pieces)]


def test_what_tells_less_of_a_change_enters_later() -> None:
    """Of pieces that are as likely code comes first, then imports, comments, and a licence last (rule B-6)."""
    licence = Piece(1, 1, -1, 40, comments=40, preamble=40)
    imports = Piece(2, 2, -1, 40, preamble=40)
    comments = Piece(3, 3, -1, 40, comments=40)
    half = Piece(4, 4, -1, 40, comments=20)
    code = Piece(5, 5, -1, 40)
    pieces = (licence, imports, comments, half, code)
    file = Fittable(1, pieces=pieces, chances=(0.2,) * len(pieces))
    entered = [step.runs[-1][0] + 1 for step in StepOrder([FileShare([[file]])], signatures=0)]
    assert entered == [5, 2, 4, 3, 1]
