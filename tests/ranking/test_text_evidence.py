"""What a task's words say of files, definitions, pieces, names and paths."""

from aggregate.ranking.text_evidence import file_text, path_scopes, path_words, piece_texts
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import ask, by_path, inquiry, matched, project


def test_files_that_hold_the_words_are_scaled_to_the_best() -> None:
    """Files count by the task's words in their texts, the best 1, those without them nothing (rule T-1)."""
    corpus = project()
    put, _ = inquiry(corpus, ask("segment of a path"))
    evidence = file_text(put)
    values = by_path(corpus, evidence)
    assert values["src/routes.py"] == 1.0
    assert 0 < values["src/router.py"] < 1
    assert "src/session.py" not in values
    assert matched(corpus, evidence)["src/routes.py"] == "segment, path"


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    """A word that one file holds tells more than one that all files hold (rule T-1)."""
    corpus = FakeCorpus(
        {"a.py": "value = rare\n", "b.py": "value = common\n", "c.py": "common = 1\n"}
    )
    put, _ = inquiry(corpus, ask("rare common"))
    values = by_path(corpus, file_text(put))
    assert values["a.py"] == 1.0
    assert max(values["b.py"], values["c.py"]) < 0.6


def test_words_of_folders_and_names_count() -> None:
    """Files are found by the words of their paths, and by the scope that the first line begins with (rule T-1)."""
    corpus = FakeCorpus({"http/client_pool.py": "x = 1\n", "web/server.py": "y = 1\n"})
    put, _ = inquiry(corpus, ask("http: pools leak"))
    words, scope = path_words(put), path_scopes(put)
    assert by_path(corpus, words) == {"http/client_pool.py": 1.0}
    assert by_path(corpus, scope) == {"http/client_pool.py": 1.0}
    assert matched(corpus, scope) == {"http/client_pool.py": "http"}


def test_words_that_nobody_uses_find_nothing() -> None:
    """A task in another language than the code gives no values, and no failure (rule T-5)."""
    corpus = project()
    put, candidates = inquiry(corpus, ask("修复解析器中的错误, die Leitung bricht ab"))
    evidences = [file_text(put), path_words(put), path_scopes(put)]
    evidences += piece_texts(put, candidates)
    assert [dict(evidence.files) | dict(evidence.pieces) for evidence in evidences] == [{}] * 6
