"""What a task names outright: files, definitions, identifiers and places."""

import pytest

from aggregate.ranking import rank
from aggregate.ranking.mentions import named_definitions, named_files, used_identifiers
from aggregate.ranking.places import pointed_files, traced_places
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import ask, by_definition, by_path, inquiry, matched, project

TRACEBACK = """\
The router fails.

Traceback (most recent call last):
  File "/home/me/work/app/src/router.py", line 7, in match
    return find_route(path)
  File "/home/me/work/app/src/routes.py", line 4, in find_route
    if segment:
  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
TypeError: bad segment
"""


@pytest.mark.parametrize(
    ("task", "subject", "path", "name"),
    [
        ("session.py leaks", {"src/session.py": 1.0}, {}, {"src/session.py": 1.0}),
        ("it leaks\n\nsee src/session.py.", {}, {"src/session.py": 1.0}, {"src/session.py": 1.0}),
        ("it leaks\n\nin src.session", {}, {}, {"src/session.py": 0.7}),
        ("it leaks\n\nsee lib/other.py", {}, {}, {}),
    ],
)
def test_files_are_found_by_what_the_task_writes(
    task: str, subject: dict[str, float], path: dict[str, float], name: dict[str, float]
) -> None:
    """A file's name counts in the first line and below, its path, and ``pkg.module`` a little less (rule T-2)."""
    corpus = project()
    put, _ = inquiry(corpus, ask(task))
    assert [by_path(corpus, evidence) for evidence in named_files(put)] == [subject, path, name]


def test_files_of_one_name_share_it() -> None:
    """A name that several files have tells less about each (rule T-2)."""
    corpus = FakeCorpus({f"{folder}/area.py": "x = 1\n" for folder in "abcd"})
    put, _ = inquiry(corpus, ask("area.py fails"))
    assert set(by_path(corpus, named_files(put)[0]).values()) == {0.5}


def test_definitions_are_found_by_name_and_by_what_they_stand_in() -> None:
    """``Router.match`` means the method of that class alone, and namesakes share a bare name (rule T-2)."""
    corpus = FakeCorpus(
        {
            "a.py": "class Router:\n    def match(self):\n        x = 1\n        return x\n",
            "b.py": "class Matcher:\n    def match(self):\n        x = 2\n        return x\n",
        }
    )
    put, candidates = inquiry(corpus, ask("`Router.match` is slow"))
    values = by_definition(corpus, named_definitions(put, candidates))
    assert values["a.py:Router.match"] == 1.0
    assert values.get("b.py:Matcher.match", 0) < 0.3  # the bare word, perhaps
    put, candidates = inquiry(corpus, ask("it is `match()` that is slow"))
    values = by_definition(corpus, named_definitions(put, candidates))
    assert values["a.py:Router.match"] == values["b.py:Matcher.match"] == 0.707


def test_pieces_that_use_a_named_identifier_count() -> None:
    """Who calls what the task names is told, and the definition itself (rule T-2)."""
    corpus = project()
    put, candidates = inquiry(corpus, ask("`find_route` returns too early"))
    values = by_definition(corpus, used_identifiers(put, candidates))
    assert values["src/router.py:Router.match"] == values["src/routes.py:find_route"] == 1.0
    assert "src/session.py:Session.send" not in values


def test_a_traceback_points_at_its_innermost_frame_in_the_project() -> None:
    """Of a traceback the last frame of the project counts most, libraries nothing, paths of other machines too (T-2)."""
    corpus = project()
    put, candidates = inquiry(corpus, ask(TRACEBACK))
    evidence = traced_places(put, candidates)
    values = by_definition(corpus, evidence)
    assert values["src/routes.py:find_route"] == 1.0
    assert 0.5 < values["src/router.py:Router.match"] < 1.0
    assert set(by_path(corpus, evidence)) == {"src/router.py", "src/routes.py"}
    assert matched(corpus, evidence)["src/routes.py"] == "src/routes.py:4"


def test_a_library_of_the_same_file_name_is_not_meant() -> None:
    """A frame of a library whose file has the name of one of ours points at nothing (rule T-2)."""
    corpus = FakeCorpus({"src/app/decoder.py": "def decode():\n    return 1\n"})
    task = 'fails\n  File "/usr/lib/python3.11/json/decoder.py", line 1, in decode\n'
    put, candidates = inquiry(corpus, ask(task))
    assert not traced_places(put, candidates).pieces


def test_a_line_that_moved_is_found_by_its_function() -> None:
    """Where the line of a frame is not in the function that is named with it, the function counts (rule T-2)."""
    corpus = project()
    task = 'fails\n  File "src/session.py", line 3, in close\n'
    put, candidates = inquiry(corpus, ask(task))
    values = by_definition(corpus, traced_places(put, candidates))
    assert values == {"src/session.py:Session.close": 1.0}


def test_a_file_that_is_only_spoken_of_stays_what_it_is() -> None:
    """A bare file behind the first line is no place that is pointed at; one with a line, or in the first, is (T-1)."""
    corpus = project()
    for task, paths in (
        ("match twice\n\n* cover it in tests/test_router.py\n* tell it in README.md", []),
        ("match twice in tests/test_router.py", ["tests/test_router.py"]),
        ("match twice\n\nit fails at tests/test_router.py:6", ["tests/test_router.py"]),
        ("match twice\n\nsee ./src/session.py", []),
    ):
        put, _ = inquiry(corpus, ask(task))
        assert sorted(corpus.files[file].path for file in pointed_files(put)) == paths


def test_a_test_that_a_message_ends_with_stands_behind_the_source() -> None:
    """That tests were written too does not lift them above what is to be changed (rule T-1)."""
    corpus = project()
    task = "close the session twice\n\n* also match it in tests/test_router.py"
    best = rank(corpus, ask(task)).files[0]
    assert corpus.files[best.file].path == "src/session.py"
