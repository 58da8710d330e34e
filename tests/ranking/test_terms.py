"""Terms: what of a text counts when it is compared with another one."""

import time

import pytest
from hypothesis import given, strategies as st

from aggregate.ranking import term_hash, terms_in
from aggregate.ranking.terms import hashed_terms, split_identifier, stem


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
    """Names count whole and in parts, of every script; stop words and single letters do not (rule T-5)."""
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
    """A task in prose meets the names in code whatever form of a word it uses (rule T-1)."""
    assert len(set(map(stem, forms))) == 1


@pytest.mark.parametrize("word", ["string", "status", "feed", "bus", "css", "redis", "ring", "red"])
def test_what_only_looks_like_an_ending_stays(word: str) -> None:
    """Words that end like others are left as they are."""
    assert stem(word) == word


@given(st.text())
def test_any_text_has_terms_without_spaces_and_hashes_for_each(text: str) -> None:
    """No text is refused, and the hot loop counts what ``terms_in`` does (rules T-4 and T-5)."""
    terms = terms_in(text)
    assert all(term and term == "".join(term.split()) for term in terms)
    assert hashed_terms(text) == {term_hash(term): often for term, often in terms.items()}


@given(st.from_regex(r"[A-Za-z_0-9]{1,30}", fullmatch=True))
def test_parts_are_the_identifier_without_underscores(name: str) -> None:
    """Taking an identifier apart loses nothing of it."""
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
    """A word of a megabyte, or a task of 200 KB, is read in a moment (rule T-5)."""
    began = time.process_time()
    terms_in(text)
    assert time.process_time() - began < 2
