"""Terms of texts."""

import time

import pytest
from hypothesis import given, strategies as st

from aggregate.ranking import terms_in
from aggregate.ranking.files import TermTable, pack_terms
from aggregate.ranking.terms import split_identifier, stem, words_in


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getUserName", ["getusername", "get", "user", "nam"]),
        ("get_user_name", ["getusername", "get", "user", "nam"]),
        ("HTTPServer2", ["httpserver2", "http", "server"]),
        ("parseURLs", ["parseurls", "pars", "url"]),
        ("__init__ _private", ["init", "privat"]),
        ("the retries of a request", ["retry", "request"]),
        ("fix: add and remove", []),
        ("404 1 20 123456", ["404"]),
        ("Größe привет Änderungen", ["größe", "привет", "änderungen"]),
        ("größeWert", ["größewert", "größe", "wert"]),
        ("设置timeout", ["设", "置", "设置", "timeout"]),
        ("x y i", []),
        ("", []),
    ],
)
def test_terms_are_identifiers_and_their_parts(text: str, terms: list[str]) -> None:
    """Names count whole and in parts, in every script (rule T-5)."""
    assert list(terms_in(text)) == terms


@pytest.mark.parametrize(
    "forms",
    [
        ("cache", "caches", "cached", "caching"),
        ("stop", "stops", "stopped", "stopping"),
        ("retry", "retries"),
        ("class", "classes"),
        ("call", "calls", "called", "calling"),
        ("file", "files"),
        ("parse", "parsed", "parsing"),
    ],
)
def test_forms_of_a_word_are_one_term(forms: tuple[str, ...]) -> None:
    """Word forms in prose match names in code (rule T-1)."""
    assert len(set(map(stem, forms))) == 1


@pytest.mark.parametrize("word", ["string", "status", "feed", "bus", "css", "redis", "ring", "red"])
def test_what_only_looks_like_an_ending_stays(word: str) -> None:
    """Similar-looking words keep their ending."""
    assert stem(word) == word


WORDS = [
    "queries",
    "Stopped",
    "class",
    "get_user_name",
    "parseURLs",
    "HTTPServer2",
    "sessionStore",
    "session_store",
    "404",
    "2024_x",
    "__init__",
    "größeWert",
    "GRÖSSE",
    "ΟΔΟΣ",
    "设置timeout",
    "„quoted“",
    "Issues",
    "reused",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)))
def test_any_text_has_terms_without_spaces_that_are_found_again(text: str) -> None:
    """Tables match ``terms_in`` for any text (rules T-4 and T-5)."""
    terms = terms_in(text)
    assert all(term and term == "".join(term.split()) for term in terms)
    table = TermTable(pack_terms([{}, words_in(text)]))
    assert {term: table.texts_with(term) for term in terms} == {
        term: {1: often} for term, often in terms.items()
    }
    assert not table.texts_with("absent")


@given(st.from_regex(r"[A-Za-z_0-9]{1,30}", fullmatch=True))
def test_parts_are_the_identifier_without_underscores(name: str) -> None:
    """Splitting an identifier loses nothing."""
    assert "".join(split_identifier(name)) == name.replace("_", "")


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "aB" * 500_000,
        "a_" * 500_000,
        "漢" * 300_000,
        "ñÑ" * 300_000,
        "word " * 40_000,
        "\ud800" * 9,
    ],
    ids=["letters", "camel", "snake", "han", "capitals", "words", "surrogates"],
)
def test_a_huge_text_takes_no_time(text: str) -> None:
    """A word of a megabyte, or a task of 200 KB, is parsed quickly (rule T-5)."""
    began = time.process_time()
    terms_in(text)
    assert time.process_time() - began < 2
