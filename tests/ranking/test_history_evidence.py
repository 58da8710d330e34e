"""What the history says: similar changes, recently changed definitions, and what changes together."""

from aggregate.ranking import Question
from aggregate.ranking.history_evidence import changed_definitions, changed_files, changed_together
from tests.ranking.asking import ask, by_definition, by_path, commit, inquiry, matched, project

HISTORY = (
    commit("Reformat", "src/session.py"),
    commit(
        "Match routes with wildcards",
        "src/router.py",
        "src/routes.py",
        names=[("src/router.py", "match"), ("src/routes.py", "find_route")],
    ),
    commit("Match hosts", "src/router.py", "src/routes.py", "gone.py"),
    commit("Close sessions", "src/session.py", names=[("src/session.py", "Session.close")]),
)


def question(text: str) -> Question:
    """Return a question in a project with a history."""
    return ask(text, commits=HISTORY)


def test_what_was_changed_for_a_similar_task_counts() -> None:
    """Files whose past changes were told in the task's words count; those of other changes do not (rule T-1)."""
    corpus = project()
    put, _ = inquiry(corpus, question("match wildcards"))
    similar = changed_files(put)
    assert by_path(corpus, similar) == {"src/router.py": 1.0, "src/routes.py": 1.0}
    assert matched(corpus, similar)["src/router.py"] == "2 similar changes"


def test_a_word_in_common_that_tells_nothing_counts_little() -> None:
    """The nearest change is as near as the words that both say are worth, not the best of all (rule T-1)."""
    corpus = project()
    history = [commit(f"Fix {name}", "src/session.py") for name in ("hosts", "paths", "ports")]
    put, _ = inquiry(corpus, ask("fix the overflow of counters", commits=history))
    assert by_path(corpus, changed_files(put))["src/session.py"] < 0.25


def test_a_release_changes_what_releases_changed() -> None:
    """First lines that only say what kind of change it is are alike, whichever their version (rule T-1)."""
    corpus = project()
    history = (
        commit("Match hosts", "src/router.py"),
        commit("Release 1.4.0\n\nThe router matches hosts.", "src/session.py"),
    )
    put, _ = inquiry(corpus, ask("Release v1.5.0-rc.1", commits=history))
    assert by_path(corpus, changed_files(put)) == {"src/session.py": 1.0}


def test_definitions_that_were_just_changed_count_by_the_order_of_changes_alone() -> None:
    """Each change counts half of the one eight before it, whenever it was made (rule T-4)."""
    corpus = project()
    changes = [
        commit("x", "src/router.py", names=[("src/router.py", "Router.match")]),
        *[commit("y")] * 7,
        commit("z", "src/session.py", names=[("src/session.py", "Session.close")]),
    ]
    put, candidates = inquiry(corpus, ask("anything", commits=changes))
    assert by_definition(corpus, changed_definitions(put, candidates)[1]) == {
        "src/router.py:Router.match": 1.0,
        "src/session.py:Session.close": 0.5,
    }


def test_definitions_that_similar_changes_touched_count() -> None:
    """The pieces of definitions count which hunks of similar changes stood in, by name or ``Class.name``."""
    corpus = project()
    put, candidates = inquiry(corpus, question("close the sessions"))
    similar, recent = changed_definitions(put, candidates)
    assert by_definition(corpus, similar) == {"src/session.py:Session.close": 1.0}
    assert by_definition(corpus, recent)["src/router.py:Router.match"] == 1.0


def test_what_changed_together_with_a_file_is_told() -> None:
    """Files that were changed twice with a likely one count; once is chance (rule T-1)."""
    corpus = project()
    put, _ = inquiry(corpus, question("anything"))
    evidence = changed_together(put, {corpus.number("src/router.py"): 1.0})
    assert by_path(corpus, evidence) == {"src/routes.py": 1.0}
    assert matched(corpus, evidence) == {
        "src/routes.py": "changed together with src/router.py in 2 commits"
    }


def test_no_history_is_told_once() -> None:
    """Without commits there is no such evidence, and the reason is told (rule T-5)."""
    corpus = project()
    put, _ = inquiry(corpus, ask("anything"))
    similar = changed_files(put)
    assert dict(similar.files) == {}
    assert similar.missing is not None
    assert similar.missing.evidence == "history"
