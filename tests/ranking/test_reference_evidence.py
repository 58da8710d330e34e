"""What likely pieces refer to, and what refers to them."""

from collections.abc import Mapping

from aggregate.ranking.evidence import Evidence, PieceKey
from aggregate.ranking.inquiry import pieces_of
from aggregate.ranking.references import Resolver, references
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import ask, by_definition, inquiry, matched, project

CHAIN = {
    "a.py": "from b import second\n\n\ndef first():\n    x = 1\n    return second(x)\n",
    "b.py": "from c import third\n\n\ndef second(x):\n    y = x\n    return third(y)\n",
    "c.py": "def third(y):\n    z = y\n    return z\n",
    "d.py": "def fourth(y):\n    z = y\n    return z\n",
}


def spread(corpus: FakeCorpus, *names: str) -> Evidence:
    """Spread from the definitions of some names."""
    put, candidates = inquiry(corpus, ask("anything"))
    likely: Mapping[PieceKey, float] = {
        (file, piece): 1.0
        for name in names
        for file, place in corpus.files_defining(name)
        for piece in pieces_of(candidates[file], place)
    }
    resolver = Resolver(put.corpus, put.paths, known=candidates)
    return references(put, candidates, resolver=resolver, likely=likely, kind="references")


def test_what_is_called_counts_and_what_that_calls_half() -> None:
    """One step of calls counts fully, a second one half, and what nobody calls nothing (rule T-1)."""
    corpus = FakeCorpus(CHAIN)
    evidence = spread(corpus, "first")
    assert by_definition(corpus, evidence) == {"b.py:second": 1.0, "c.py:third": 0.5}
    assert matched(corpus, evidence)["b.py"] == "called by first"


def test_callers_and_tests_count() -> None:
    """Who calls a likely definition is told, and which tests use it (rule T-1)."""
    corpus = project()
    evidence = spread(corpus, "find_route")
    assert by_definition(corpus, evidence)["src/router.py:Router.match"] == 1.0
    assert matched(corpus, evidence)["src/router.py"] in ("calls find_route", "imports find_route")
    evidence = spread(corpus, "Router")
    assert matched(corpus, evidence)["tests/test_router.py"] == "tests Router"


def test_what_a_test_uses_is_tested_by_it() -> None:
    """From a test the evidence reaches what it tests."""
    corpus = project()
    evidence = spread(corpus, "test_match")
    assert matched(corpus, evidence)["src/router.py"] == "tested by test_match"


def test_nothing_spreads_from_nothing() -> None:
    """Without likely pieces there is no such evidence."""
    evidence = spread(project())
    assert not evidence.files
    assert not evidence.pieces


def test_names_that_refer_to_each_other_end() -> None:
    """Definitions that call themselves and each other are no endless loop, nor their own evidence."""
    corpus = FakeCorpus(
        {
            "a.py": "def ping():\n    ping()\n    pong()\n    return 1\n",
            "b.py": "def pong():\n    ping()\n    pong()\n    return 1\n",
        }
    )
    assert set(by_definition(corpus, spread(corpus, "ping"))) == {"b.py:pong"}
