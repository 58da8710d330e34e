"""What each file may show at most, and what showing some of its lines stands for."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from aggregate.base.tokens import count
from aggregate.base.values import SEPARATOR, Level, ViewMode
from aggregate.project.index import Index
from aggregate.prompt import open_project, rank_files, request_for
from aggregate.prompt.candidates import Candidates
from aggregate.prompt.fit.lines import ShownLines
from aggregate.prompt.sections.files import file_block
from tests.projects import project

MODULE = '''"""Words."""


def first(x):
    """Do it."""
    y = x
    return y


class Box:
    def get(self):
        return 1
'''
TITLES = "# One\n\ntext of one\n\n## Two\n\ntext of two\n"


def candidates(
    folder: Path, files: Mapping[str, str], *, mode: ViewMode | None = ViewMode.FULL
) -> Candidates:
    """Return the files of a project, all of which may be shown by one view."""
    project(folder, dict(files))
    request = request_for(open_project({"files": {"base_dir": str(folder), "paths": ["**/*"]}}))
    ranked = rank_files(request, index=Index(None, limit=1))
    return Candidates(
        ranked.files.corpus, ranked.ranking.files, mode_of=lambda _: mode, count=count
    )


def only(folder: Path, path: str, text: str, mode: ViewMode = ViewMode.FULL) -> Candidates:
    """Return a single candidate, number 0, whose lines are known."""
    found = candidates(folder, {path: text}, mode=mode)
    assert found.lines(0) is not None
    return found


def shown(found: Candidates, *runs: tuple[int, int]) -> ShownLines:
    """Return these lines of the only file."""
    lines = found.lines(0)
    assert lines is not None
    state = ShownLines(lines)
    state.show(state.new_runs(runs))
    return state


def test_what_may_not_be_shown_is_no_candidate(tmp_path: Path) -> None:
    """A file without a level that it may have is none (rules B-3, T-6)."""
    assert candidates(tmp_path, {"a.py": MODULE}, mode=None).in_rank_order == []


@pytest.mark.parametrize(
    ("path", "text", "runs", "level"),
    [
        ("a.py", MODULE, (), Level.LEFT_OUT),
        ("a.py", MODULE, ((4, 4),), Level.OUTLINE),
        ("a.py", MODULE, ((4, 4), (10, 11)), Level.OUTLINE),
        ("a.py", MODULE, ((4, 6),), Level.FOCUSED),
        ("a.py", MODULE, ((1, 1), (4, 7), (10, 12)), Level.FULL),  # blank lines do not count
        ("a.py", MODULE, ((1, 1 << 31),), Level.FULL),
        ("a.md", TITLES, ((1, 1), (5, 5)), Level.OUTLINE),
        ("a.md", TITLES, ((1, 3),), Level.FOCUSED),
        ("a.xyz", "one\ntwo\n", ((2, 2),), Level.FOCUSED),
    ],
)
def test_levels(
    tmp_path: Path, path: str, text: str, runs: tuple[tuple[int, int], ...], level: Level
) -> None:
    """Signatures or headings are an outline, more is focused, all but blank lines is in full (rule B-2)."""
    found = only(tmp_path, path, text)
    assert found.level(0, bytes(shown(found, *runs).marks)) is level


@pytest.mark.parametrize(
    ("mode", "level"),
    [
        (ViewMode.SKELETON, Level.SKELETON),
        (ViewMode.OUTLINE, Level.OUTLINE),
        (ViewMode.SUMMARY, Level.SUMMARY),
    ],
)
def test_the_most_is_the_view_of_the_entry(tmp_path: Path, mode: ViewMode, level: Level) -> None:
    """All lines of a file's view are its level; of a skeleton some lines are an outline (rules B-2, B-3)."""
    found = only(tmp_path, "a.py", MODULE, mode)
    whole = shown(found, (1, 1 << 31))
    assert found.level(0, bytes(whole.marks)) is level
    rendered = found.rendered(0, whole)
    assert "y = x" not in rendered.content
    if mode is ViewMode.SKELETON:
        part = shown(found, (4, 4))
        assert found.level(0, bytes(part.marks)) is Level.OUTLINE


def test_definitions_in_full(tmp_path: Path) -> None:
    """A definition counts whose lines are all shown, an outer one only with all that is in it (rule A-1)."""
    found = only(tmp_path, "a.py", MODULE)
    assert found.definitions_in_full(0, bytes(shown(found, (4, 7)).marks)) == ("first",)
    assert found.definitions_in_full(0, bytes(shown(found, (4, 6)).marks)) == ()
    assert found.definitions_in_full(0, bytes(shown(found, (11, 12)).marks)) == ("Box.get",)
    assert found.definitions_in_full(0, bytes(shown(found, (10, 12)).marks)) == ("Box", "Box.get")


def test_a_file_as_it_is_shown(tmp_path: Path) -> None:
    """The chosen lines stand in order with dots between, each with its origin (rules B-2, L-1)."""
    found = only(tmp_path, "a.py", MODULE)
    rendered = found.rendered(0, shown(found, (4, 4), (11, 12)))
    assert rendered.content == ("...\ndef first(x):\n...\n    def get(self):\n        return 1\n")
    assert [(span.source_start, span.source_end) for span in rendered.spans] == [
        (1, 3),
        (4, 4),
        (5, 10),
        (11, 12),
    ]
    assert found.rendered(0, shown(found, (1, 1 << 31))).content == MODULE


def test_slices_are_shown_whole_or_not_at_all(tmp_path: Path) -> None:
    """Asking for one line of a digest takes all of it (rules B-2, B-3)."""
    found = only(tmp_path, "a.py", MODULE, ViewMode.SUMMARY)
    state = shown(found, (4, 4))
    assert all(state.marks)


@pytest.mark.parametrize("text", ["text\n", "`````````````\n", "a\n~~~\nb"])
def test_the_frame_is_what_stands_around_the_lines(tmp_path: Path, text: str) -> None:
    """With the lines' own tokens it is never below the block's, whatever fence the text needs (rule B-1)."""
    found = only(tmp_path, "a.md", text)
    lines = found.lines(0)
    assert lines is not None
    rendered = found.rendered(0, shown(found, (1, 1 << 31)))
    block = file_block("a.md", rendered.content, language=rendered.language)
    assert lines.frame + count("".join(lines.texts)) >= count(block + SEPARATOR)


def test_text_without_a_last_line_break(tmp_path: Path) -> None:
    """Each line has a break, so that any of them can stand before another; the file in full stays as it is."""
    found = only(tmp_path, "a.py", "a = 1\nb = 2")
    lines = found.lines(0)
    assert lines is not None
    assert list(lines.texts) == ["a = 1\n", "b = 2\n"]
    assert found.rendered(0, shown(found, (1, 2))).content == "a = 1\nb = 2"


def test_pieces_of_a_file_that_was_not_ranked_closely(tmp_path: Path) -> None:
    """Its probability goes to its pieces by their characters, and adds up (rule T-4)."""
    found = candidates(tmp_path, {"a.py": MODULE, "b.py": "x = 1\n"})
    for fittable in found.fittables([0, 1]):
        assert len(fittable.chances) == len(fittable.pieces)
        assert sum(fittable.chances) == pytest.approx(fittable.score)
