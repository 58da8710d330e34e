"""What the messages of a file's changes say of it, and how lately it was changed."""

from aggregate.ranking.history_evidence import last_changes, message_text
from tests.ranking.asking import ask, by_path, commit, inquiry, matched, project

HISTORY = (
    commit("Reformat", "src/session.py", "gone.py"),
    commit("Match wildcards", "src/router.py"),
    commit("Match hosts of wildcards", "src/router.py", "src/routes.py"),
    commit("Close sessions", "src/session.py"),
)


def test_all_messages_of_a_file_are_one_text() -> None:
    """A file that many messages in the task's words speak of counts more than one that a single one does (T-1)."""
    corpus = project()
    put, _ = inquiry(corpus, ask("wildcards match too much", commits=HISTORY))
    values = by_path(corpus, message_text(put))
    assert values["src/router.py"] == 1.0
    assert 0 < values["src/routes.py"] < 1
    assert set(values) == {"src/router.py", "src/routes.py"}
    told = matched(corpus, message_text(put))["src/router.py"]
    assert set(told.split(", ")) == {"wildcards", "match"}


def test_changes_of_many_files_speak_of_none() -> None:
    """A message of a change of more than 30 files says nothing of a single one."""
    corpus = project()
    paths = ["src/router.py", *(f"f{number}" for number in range(30))]
    put, _ = inquiry(corpus, ask("wildcards", commits=[commit("Match wildcards", *paths)]))
    assert not by_path(corpus, message_text(put))
    put, _ = inquiry(corpus, ask("wildcards", commits=[commit("Match wildcards", *paths[:30])]))
    assert by_path(corpus, message_text(put))


def test_how_lately_a_file_was_changed_counts_by_order_alone() -> None:
    """The newest change counts 1, the third half; a file that was never changed has nothing (rule T-4)."""
    corpus = project()
    put, _ = inquiry(corpus, ask("anything", commits=HISTORY))
    values = by_path(corpus, last_changes(put))
    assert values["src/session.py"] == 1.0
    assert values["src/routes.py"] == 0.5
    assert "README.md" not in values
    assert matched(corpus, last_changes(put))["src/routes.py"] == "3 changes ago"


def test_without_a_history_nothing_is_said() -> None:
    """No commits, no evidence (rule T-5)."""
    put, _ = inquiry(project(), ask("wildcards"))
    assert not message_text(put).files
    assert not last_changes(put).files
