"""Penalties of tests and auxiliary files depend on the task."""

import pytest

from aggregate.ranking.kind_evidence import file_kinds, language_share
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import ask, by_path, inquiry, project


@pytest.mark.parametrize(
    ("task", "of_test", "of_readme"),
    [
        ("the router is slow", 1.0, 1.0),
        ("the router is slow\n\nTests pass.", 1.0, 1.0),
        ("the router is slow\n\nA test shows it, and no other test does.", 0.75, 1.0),
        ("the router is slow since we are testing it", 1.0, 1.0),
        ("flaky test of the router", 0.3, 1.0),
        ("docs: describe the router", 1.0, None),
        ("tests(router): cover wildcards", None, 1.0),
        ("correct the readme", 1.0, 0.3),
        ("Document how to write a route", 1.0, None),
        ("Document in the streaming pattern how a route ends", 1.0, None),
        ("document is lost in the router", 1.0, 1.0),
    ],
)
def test_a_task_that_speaks_of_tests_or_documents_lifts_them(
    task: str, of_test: float | None, of_readme: float | None
) -> None:
    """Penalties shrink if the task mentions the kind, most in its first line (T-1)."""
    corpus = project()
    put, _ = inquiry(corpus, ask(task))
    tests, auxiliary, *_ = file_kinds(put)
    assert by_path(corpus, tests).get("tests/test_router.py") == of_test
    assert by_path(corpus, auxiliary).get("README.md") == of_readme
    assert set(by_path(corpus, tests)) <= {"tests/test_router.py"}


def test_a_kind_that_the_first_line_speaks_of_is_asked_for() -> None:
    """Documents gain if the first line mentions them, most by a prefix (rule T-1)."""
    corpus = project()
    for task, value in (
        ("docs: explain", {"README.md": 1.0}),
        ("the docs", {"README.md": 0.7}),
        ("explain", {}),
    ):
        put, _ = inquiry(corpus, ask(task))
        assert by_path(corpus, file_kinds(put)[2]) == value


def test_the_main_language_counts_most() -> None:
    """A language's share counts sources only; prose and data have none."""
    corpus = FakeCorpus(
        {
            "a.py": "value = 1\n" * 30,
            "b.js": "let x = 1\n" * 15,
            "tests/c.js": "let y = 1\n" * 90,
            "d.md": "# Title\n" * 99,
        }
    )
    put, _ = inquiry(corpus, ask("anything"))
    values = by_path(corpus, language_share(put))
    assert values == {"a.py": 1.0, "b.js": 0.5, "tests/c.js": 0.5}


def test_programs_without_a_grammar_are_programs() -> None:
    """Programs without a grammar count by suffix (T-1)."""
    corpus = FakeCorpus(
        {
            "a.py": "value = 1\n" * 15,
            "b.vala": "int a = 1;\n" * 30,
            "c.kt": "val a = 1\n",
            "d.nim": "let a = 1\n",
            "e.ex": "a = 1\n",
            "f.zig": "const a = 1;\n",
            "g.po": 'msgid "a"\n',
            ".vala": "a\n",
        }
    )
    put, _ = inquiry(corpus, ask("anything"))
    assert set(by_path(corpus, file_kinds(put)[3])) == {"g.po", ".vala"}
    shares = by_path(corpus, language_share(put))
    assert set(shares) == {"a.py", "b.vala", "c.kt", "d.nim", "e.ex", "f.zig"}
    assert shares["b.vala"] == 1.0 > shares["a.py"]


@pytest.mark.parametrize(
    ("task", "of_style", "of_readme", "of_settings"),
    [
        ("the router is slow", 1.0, 1.0, 1.0),
        ("the config of the router", 1.0, 1.0, 0.75),
        ("config: allow two routers", 1.0, 1.0, None),
        ("docs: describe the router", 1.0, None, 1.0),
        ("correct the readme", 1.0, 0.6, 1.0),
    ],
)
def test_what_is_no_program_counts_less_unless_it_is_asked_for(
    task: str, of_style: float, of_readme: float | None, of_settings: float | None
) -> None:
    """Pages, styles and data rank after programs unless a prefix asks for them (rule T-1)."""
    corpus = FakeCorpus(
        {
            "a.py": "value = 1\n",
            "a.css": "a { color: red }\n",
            "README.md": "# Router\n",
            "settings.toml": "router = 1\n",
        }
    )
    put, _ = inquiry(corpus, ask(task))
    values = by_path(corpus, file_kinds(put)[3])
    assert "a.py" not in values
    assert values.get("a.css") == of_style
    assert values.get("README.md") == of_readme
    assert values.get("settings.toml") == of_settings
    assert not file_kinds(put, frozenset(range(4)))[3].files


def test_a_changelog_is_asked_for_by_its_name_alone() -> None:
    """``docs: ...`` does not mean the changelog, which contains every word (rule T-1)."""
    corpus = FakeCorpus({"CHANGES.md": "# News\n", "docs/a.md": "# A\n"})
    for task, value in (("docs: explain", None), ("docs: correct the changelog", 1.0)):
        put, _ = inquiry(corpus, ask(task))
        asked = by_path(corpus, file_kinds(put)[2])
        assert (asked["docs/a.md"], asked.get("CHANGES.md")) == (1.0, value)
