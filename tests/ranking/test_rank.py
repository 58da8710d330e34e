"""Ranking: order, probabilities and reasons."""

from collections.abc import Sequence
from math import fsum

import pytest
from hypothesis import given, strategies as st
from simulation.piece_features import features

from aggregate.base import Missing
from aggregate.ranking import WEIGHTS, ChangedLines, Question, Ranking, rank, read_task
from aggregate.ranking.inquiry import MOST_TERMS, query_terms
from tests.fakes.corpus import FakeCorpus
from tests.processes import python
from tests.ranking.asking import PROJECT, ask, by_number, commit, project


def order(corpus: FakeCorpus, ranking: Ranking) -> Sequence[str]:
    """Return the paths, the likeliest first."""
    return [corpus.files[ranked.file].path for ranked in ranking.files]


def best_definition(corpus: FakeCorpus, ranking: Ranking) -> str:
    """Return ``path:Class.name`` of the likeliest piece."""
    _, file, place = max(
        (probability, -ranked.file, -place)
        for ranked in ranking.files
        for place, probability in enumerate(ranked.pieces)
    )
    analysis = corpus.analyses([-file])[0]
    definition = analysis.pieces[-place].definition
    name = ".".join(analysis.definitions[definition].path) if definition >= 0 else ""
    return f"{corpus.files[-file].path}:{name}"


@pytest.mark.parametrize(
    ("question", "best"),
    [
        (ask("the router does not match a path with wildcards"), "src/router.py:Router.match"),
        (ask("sending a request twice fails"), "src/session.py:Session.send"),
        (ask("`find_route` returns too early"), "src/routes.py:find_route"),
        (ask("test_match is flaky"), "tests/test_router.py:test_match"),
        (ask("docs: explain routing"), "README.md:Routing"),
        (ask('File "/x/src/session.py", line 3, in send\nrouter path'), "src/session.py:Session.send"),
        (ask("match the path in the router", symbols=["Session.close"]), "src/session.py:Session.close"),
        (ask("match the path", focus=[("src/session.py", 7, 7)]), "src/session.py:Session.close"),
        (ask("path", changes=[ChangedLines("src/router.py", 10, 10)]), "src/router.py:Router.register"),
    ],
)  # fmt: skip
def test_what_the_question_is_about_comes_first(question: Question, best: str) -> None:
    """Words, names, locations, symbols and changes find their definition (rules T-1 and T-2)."""
    corpus = project()
    assert best_definition(corpus, rank(corpus, question)) == best


def test_all_files_are_ranked_and_share_one_probability() -> None:
    """Each candidate is ranked once; probabilities sum to 1 (rule T-1)."""
    corpus = project()
    ranking = rank(corpus, ask("match a path"))
    assert sorted(order(corpus, ranking)) == sorted(PROJECT)
    assert fsum(ranked.score for ranked in ranking.files) == pytest.approx(1)
    assert all(fsum(r.pieces) == pytest.approx(r.score) for r in ranking.files)
    scores = [ranked.score for ranked in ranking.files]
    assert scores == sorted(scores, reverse=True)


def test_a_giant_leaves_room_for_the_others() -> None:
    """A giant file in front hides no pieces of other files (rule B-6)."""
    giant = "# a path\n" * 181_000
    corpus = FakeCorpus({**PROJECT, "src/giant.py": giant})
    ranked = by_number(rank(corpus, ask("return the path")))
    assert all(ranked[corpus.number(path)].pieces for path in [*PROJECT, "src/giant.py"])


def test_reasons_say_what_moved_a_file() -> None:
    """At most six reasons, the strongest first, with weights and matches (rule A-1)."""
    corpus = project()
    question = ask("match a path in the router", commits=[commit("match a path", "src/router.py")])
    ranking = rank(corpus, question)
    reasons = by_number(ranking)[corpus.number("src/router.py")].reasons
    weights = [reason.weight for reason in reasons]
    assert weights == sorted(weights, reverse=True)
    assert 1 < len(reasons) <= 6
    told = {reason.kind: reason.matched for reason in reasons}
    assert told["similar changes"] == "1 similar change"
    assert "match" in told["definition text"]
    of_test = by_number(ranking)[corpus.number("tests/test_router.py")].reasons
    assert of_test[-1][:2] == ("test", WEIGHTS["test"])


def test_a_heavier_seed_never_lowers_its_file() -> None:
    """A larger weight of symbols raises the file's score."""
    corpus = project()
    question = ask("match a path", symbols=["Session"])
    number = corpus.number("src/session.py")
    scores = [
        by_number(rank(corpus, question, weights={**WEIGHTS, "symbol": weight}))[number].score
        for weight in (0, 2, 4, 8, 16)
    ]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]


def test_features_are_what_is_weighed() -> None:
    """Weighted features equal differences of log-probabilities."""
    from math import log

    corpus = project()
    question = ask("match a path", commits=[commit("match", "src/router.py")])
    vectors = features(corpus, question)
    ranking = by_number(rank(corpus, question))
    offsets = {
        round(
            fsum(WEIGHTS[kind] * value for kind, value in zip(vectors.kinds, row, strict=True))
            - log(ranking[file].pieces[place]),
            6,
        )
        for (file, place), row in zip(vectors.pieces, vectors.rows, strict=True)
    }
    assert len(offsets) == 1
    assert set(vectors.kinds) == set(WEIGHTS)


@pytest.mark.parametrize(
    "texts", [{}, {"a.py": ""}, {"a.py": "def f():\n    x = 1\n    return x\n"}]
)
@pytest.mark.parametrize(
    "question",
    [
        Question(),
        ask("f"),
        ask("修复解析器"),
        ask("Die Leitung bricht bei Überlast ab"),
        ask("x " * 100),
        ask(symbols=["f"]),
        ask(focus=[("a.py", 999_999_999, 999_999_999)]),
        ask(commits=[commit("f", "a.py", names=[("a.py", "f"), ("b.py", "g")])]),
    ],
)
def test_little_evidence_is_enough(texts: dict[str, str], question: Question) -> None:
    """Unusual projects are ranked completely (rule T-5)."""
    corpus = FakeCorpus(texts)
    assert [ranked.file for ranked in rank(corpus, question).files] == list(range(len(texts)))


def test_missing_evidence_is_told_with_its_reason() -> None:
    """Missing evidence is reported: history, words, grammar (rule T-5)."""
    corpus = FakeCorpus({"a.unknown": "some text\n", "b.unknown": "more text\n"})
    question = ask("修复解析器")
    told = {missing.evidence: missing.reason for missing in rank(corpus, question).missing}
    assert told == {
        "history": "the project has no commits",
        "text": "none of the task's words occurs in a file",
        "definitions": "no grammar for a.unknown and 1 more",
    }
    known = Question(task=question.task, missing=[Missing("history", "no git here")])
    told = {missing.evidence: missing.reason for missing in rank(corpus, known).missing}
    assert told["history"] == "no git here"


def test_a_task_without_text_is_told_of_once() -> None:
    """A missing text is reported once (rule T-5)."""
    corpus = FakeCorpus({"a.py": "def a(): ...\n"})
    told = Question(task=read_task(""), missing=[Missing("text", "no text")])
    texts = [gap.reason for gap in rank(corpus, told).missing if gap.evidence == "text"]
    assert texts == ["no text"]


def test_a_task_of_200_kb_asks_its_strongest_terms() -> None:
    """Of a very long task at most 200 rare words count (rule T-5)."""
    corpus = project()
    noise = " ".join(f"noise{number}" for number in range(25_000))
    text = f"the wildcards\n\n{noise} find_route segment"
    assert len(text) > 200_000
    terms = query_terms(corpus, read_task(text))
    assert len(terms) == MOST_TERMS
    assert (
        order(corpus, rank(corpus, ask(f"a log of find_route segment\n\n{noise}")))[0]
        == "src/routes.py"
    )


def test_equal_files_stand_in_the_order_of_the_corpus() -> None:
    """Ties keep the configured order (rules T-4 and B-8)."""
    texts = {f"{name}.py": "def f():\n    x = 1\n    return x\n" for name in "cab"}
    assert order(FakeCorpus(texts), rank(FakeCorpus(texts), ask("nothing of this"))) == list(texts)
    assert order(FakeCorpus(texts), rank(FakeCorpus(texts), Question())) == list(texts)


SCRIPT = """
from tests.ranking.asking import ask, commit, project
from aggregate.ranking.rank import rank

history = [commit("match the router", "src/router.py", "src/routes.py")] * 3
question = ask("the router does not match `find_route` in src/session.py", commits=history, symbols=["Router"])
print(repr(rank(project(), question)))
"""


def test_hash_seeds_change_nothing() -> None:
    """Scores, reasons and order do not depend on the hash seed (rule T-4)."""
    printed = {python(SCRIPT, PYTHONHASHSEED=seed, PYTHONPATH="src:.") for seed in ("1", "2")}
    assert len(printed) == 1
    assert "find_route" in printed.pop()


def test_only_the_best_files_are_loaded() -> None:
    """Only the likeliest files are analysed; the others follow by rough evidence."""
    texts = {f"m{number:03}.py": f"value{number} = {number}\n" for number in range(700)}
    corpus = FakeCorpus({**texts, "z.py": "def target():\n    x = 1\n    return x\n"})
    ranking = rank(corpus, ask("`target` is wrong"))
    assert order(corpus, ranking)[0] == "z.py"
    assert len(set(corpus.loaded)) <= 400
    assert len(ranking.files) == 701
    unread = [ranked for ranked in ranking.files if not ranked.pieces]
    assert len(unread) >= 300
    assert max(ranked.score for ranked in unread) < ranking.files[0].score


WORDS = st.sampled_from(
    [
        "match", "Router.match", "`x`", "a/b.py", "src/router.py:6", "..", "::", "\\", "(", "ß", "路由", "\0", ":0",
        "-1",
    ]
)  # fmt: skip


@given(st.lists(WORDS, max_size=12), st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3))
def test_odd_questions_are_answered(words: list[str], symbols: list[str], paths: list[str]) -> None:
    """Any question ranks every file once, repeatably (rules T-4 and T-5)."""
    corpus = project()
    question = ask(" ".join(words), symbols=symbols, focus=[(path, 1, 0) for path in paths])
    ranking = rank(corpus, question)
    assert sorted(order(corpus, ranking)) == sorted(PROJECT)
    assert rank(corpus, question) == ranking


@pytest.mark.parametrize(
    "question",
    [
        ask(changes=[ChangedLines("tests/test_router.py", 3, 4)]),
        ask(focus=[("tests/test_router.py", 3, 3)]),
        ask(symbols=["test_match"]),
        ask('File "tests/test_router.py", line 4, in test_match\nAssertionError: no route'),
    ],
)
def test_what_is_pointed_at_comes_first_whatever_it_is_for(question: Question) -> None:
    """A test that a change, location or symbol points at has no penalty (rule T-2)."""
    corpus = project()
    assert order(corpus, rank(corpus, question))[0] == "tests/test_router.py"
