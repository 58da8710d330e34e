"""Commits similar to a task."""

from aggregate.ranking import Commit, similar_commits


def commit(*terms: str) -> Commit:
    """Return a commit whose message has these terms."""
    return Commit(frozenset(), (), change_words=frozenset(terms))


def test_rare_words_and_short_messages_count_more() -> None:
    """Rare words and short messages weigh more (rule T-2)."""
    commits = [
        commit("retry"),
        commit("retry", "timeout"),
        commit("retry", "timeout", "a", "b", "c", "d"),
        commit("x"),
    ]
    assert [alike.age for alike in similar_commits(commits, ["retry", "timeout"])] == [1, 2, 0]


def test_equal_ones_stand_as_in_the_history_and_the_most_are_bounded() -> None:
    """Of equal commits the newer comes first, within the limit (rule T-4)."""
    commits = [commit("a"), commit("b"), commit("a"), commit("a")]
    assert [alike.age for alike in similar_commits(commits, ["a"], most=2)] == [0, 2]


def test_no_words_in_common() -> None:
    """Nothing is similar without shared words, history or task (rule T-5)."""
    assert similar_commits([commit("a")], ["b"]) == []
    assert similar_commits([commit()], ["b"]) == []
    assert similar_commits([], ["b"]) == []
    assert similar_commits([commit("a")], []) == []
