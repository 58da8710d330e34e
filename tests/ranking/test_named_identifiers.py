"""Identifiers in a text, also of several words."""

import pytest

from aggregate.ranking import named_identifiers, rank
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import ask


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("it calls retry_loop and getUser", ["retry_loop", "getUser"]),
        ("it calls `send` and 'recv' and \"poll\"", ["send", "recv", "poll"]),
        ("gcc says ‘total’ and `main'", ["total", "main"]),
        ("it calls foo() twice, and bar(x)", ["foo", "bar"]),
        ("when the Session closes", ["Session"]),
        ("MAX_SIZE and DEBUG are read", ["MAX_SIZE", "DEBUG"]),
        (
            "std::vec and Cart#total and a->next_item",
            ["std::vec", "Cart#total", "a->next_item", "next_item"],
        ),
        ("httpx.Client is slow", ["httpx.Client", "Client"]),
        ("The file(s) of it. However, i.e. e.g. this", []),
        ("- Sessions are slow\n# Timeouts\n2. Closing", []),
        ("AttributeError: 'Foo' object has no attribute 'bar'", ["AttributeError", "Foo", "bar"]),
        ("x is not a function", ["x"]),
        ("./main.go:7:40: undefined: quux", ["quux"]),
        ("  symbol:   method totalOf(int)", ["totalOf"]),
        ("name 'spam' is not defined", ["spam"]),
        ("see README.md and src/pkg/mod_a.py", []),
        ("    at Module._compile (node:internal/modules/cjs/loader:1521:14)", []),
    ],
)
def test_names_that_are_sure(text: str, names: list[str]) -> None:
    """Quoted, called, capitalised, code-like and reported names are certain (rule T-2)."""
    assert [
        name for name, certainty in named_identifiers(text).items() if certainty == 1.0
    ] == names


def test_plain_words_are_possible_names() -> None:
    """Other words are possible names, after the certain ones (rule T-2)."""
    assert named_identifiers("the retry of Session.send in it") == {
        "Session.send": 1.0,
        "retry": 0.3,
        "send": 0.3,
    }


def test_a_name_is_as_sure_as_its_surest_place() -> None:
    """A word quoted once is a name everywhere (rule T-2)."""
    assert named_identifiers("retry fails; call `retry`") == {
        "retry": 1.0,
        "fails": 0.3,
        "call": 0.3,
    }


def test_names_are_bounded() -> None:
    """Of a long list of names the first count (rule T-5)."""
    assert len(named_identifiers(" ".join(f"a_{n} b{n}b" for n in range(1000)))) == 400


def test_terms_are_looked_up_in_two_passes() -> None:
    """The tables of the project are read twice: for the task and for likely sources."""
    source = "def retry_loop(x):\n    y = x\n    return y\n"
    corpus = FakeCorpus({f"{name}.py": source for name in ("reader", "writer", "pump")})
    rank(corpus, ask("Make the retry loop of the slow socket reader stop"))
    of_task, of_sources = corpus.looked_up
    assert {"retry", "loop", "slow", "socket"} <= set(of_task)
    assert set(of_sources) == {"reader", "writer", "pump"}
