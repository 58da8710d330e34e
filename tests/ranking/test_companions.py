"""Companions: tests and documents of likely sources."""

import pytest

from aggregate.ranking import companions, rank
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import ask, inquiry, project

SOURCES = ("src/router.py", "src/session.py", "src/routes.py")


def belonging(corpus: FakeCorpus, task: str) -> dict[str, dict[str, str]]:
    """Return the companions by kind, for sources with the scores of ``SOURCES``."""
    put, _ = inquiry(corpus, ask(task))
    paths = [facts.path for facts in corpus.files]
    sums = [-float(SOURCES.index(path)) if path in SOURCES else -9.0 for path in paths]
    against = {number: 1.0 for number, path in enumerate(paths) if path not in SOURCES}
    found = companions(put, sums, against)
    return {each.kind: {paths[file]: text for file, text in each.matched.items()} for each in found}


def test_what_bears_or_holds_a_source_s_name_belongs_to_it() -> None:
    """Tests match by name, pages by words, to the likeliest source (rule T-11)."""
    assert belonging(project(), "match paths faster") == {
        "tests": {"tests/test_router.py": "src/router.py"},
        "documents": {"README.md": "src/router.py"},
    }


@pytest.mark.parametrize(
    "name",
    [
        "CHANGELOG.md",
        "docs/news.rst",
        "History.md",
        ".github/build.yml",
        "docs/conf.py",
        "tests/fixtures/router.py",
        "tests/__snapshots__/router.py",
    ],
)
def test_only_pages_and_tests_accompany_sources(name: str) -> None:
    """A changelog mentions every source, a workflow or fixture explains none: they get no share (rule T-11)."""
    corpus = FakeCorpus({"src/router.py": "def route(): ...\n", name: "Fix the router.\n"})
    assert belonging(corpus, "match paths faster") == {"tests": {}, "documents": {}}


@pytest.mark.parametrize(
    ("task", "kinds"),
    [
        ("match faster, without tests", {"documents"}),
        ("match faster; do not touch the docs", {"tests"}),
        ("no tests and no documentation", set()),
        ("match faster. There is no hurry; tests follow", {"tests", "documents"}),
    ],
)
def test_a_task_excludes_them(task: str, kinds: set[str]) -> None:
    """A kind that the task excludes gets no share (rule T-11)."""
    assert {kind for kind, files in belonging(project(), task).items() if files} == kinds


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("test_area.py", "area.py"),
        ("area_test.go", "area.go"),
        ("area.spec.ts", "area.ts"),
        ("AreaTest.java", "Area.java"),
        ("area_spec.rb", "area.rb"),
        ("area-test.cc", "area.cc"),
    ],
)
def test_names_of_tests_are_those_of_their_sources(name: str, source: str) -> None:
    """Test names of all languages match their source (rule T-11)."""
    corpus = FakeCorpus({source: "x\n", "other.py": "y\n", f"tests/{name}": "z\n"})
    put, _ = inquiry(corpus, ask("make it quicker"))
    tests, _ = companions(put, [0.0, -1.0, -9.0], {2: 1.0})
    assert tests.matched == {2: source}
    assert tests.files == {2: 1.0}


def test_the_audit_says_to_what_they_belong() -> None:
    """A ranking lists companions and their source as a reason (rules T-11, A-1)."""
    corpus = project()
    ranking = rank(corpus, ask("the router should match paths"))
    paths = {facts.path: number for number, facts in enumerate(corpus.files)}
    test = next(each for each in ranking.files if each.file == paths["tests/test_router.py"])
    assert ("tests", "src/router.py") in [(each.kind, each.matched) for each in test.reasons]
    assert ranking.companions == {
        paths["tests/test_router.py"]: "tests",
        paths["README.md"]: "documents",
    }
    assert not rank(corpus, ask("flaky test of the router")).companions.keys() & {test.file}
