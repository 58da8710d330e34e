"""What the user points at beside the text: places, symbols, changes."""

from aggregate.ranking import ChangedLines
from aggregate.ranking.places import seed_files, seeds
from tests.ranking.asking import ask, by_definition, by_path, inquiry, matched, project


def test_a_place_is_its_piece_and_a_little_of_its_file() -> None:
    """Lines point at the pieces over them, and weakly at the rest; a path alone at the whole file (rule T-2)."""
    corpus = project()
    put, candidates = inquiry(
        corpus, ask(focus=[("src/session.py", 7, 7), ("src/routes.py", 0, 0)])
    )
    focus, symbol, changed = seeds(put, candidates)
    assert by_definition(corpus, focus) == {"src/session.py:Session.close": 0.7}
    assert by_path(corpus, focus) == {"src/session.py": 0.3, "src/routes.py": 1.0}
    assert matched(corpus, focus)["src/session.py"] == "src/session.py:7"
    assert [dict(symbol.pieces), dict(changed.pieces)] == [{}, {}]


def test_a_symbol_is_its_definition_and_what_stands_in_it() -> None:
    """A class's own lines count most, then its methods; ``Class.name`` means that method alone (rule T-2)."""
    corpus = project()
    put, candidates = inquiry(corpus, ask(symbols=["Session"]))
    values = by_definition(corpus, seeds(put, candidates)[1])
    assert values["src/session.py:Session"] == 1.0
    assert values["src/session.py:Session.close"] == 0.6
    for symbol in ("Session::close", "Session#close", "app.web.Session.close()"):
        put, candidates = inquiry(corpus, ask(symbols=[symbol]))
        values = by_definition(corpus, seeds(put, candidates)[1])
        assert values == {"src/session.py:Session.close": 1.0}
    put, candidates = inquiry(corpus, ask(symbols=["Router.close"]))
    assert not seeds(put, candidates)[1].pieces


def test_a_method_of_one_line_is_found_in_what_surrounds_it() -> None:
    """A definition without pieces of its own points at those that its lines stand in (rule T-2)."""
    corpus = project()
    put, candidates = inquiry(corpus, ask(symbols=["short"]))
    assert seeds(put, candidates)[1].pieces == {(corpus.number("src/session.py"), 3): 1.0}


def test_changed_lines_are_seeds() -> None:
    """What changed since a revision points at its pieces; a new file as a whole (rule T-2)."""
    corpus = project()
    changes = [ChangedLines("src/router.py", 6, 7), ChangedLines("README.md")]
    put, candidates = inquiry(corpus, ask(changes=changes))
    changed = seeds(put, candidates)[2]
    assert by_definition(corpus, changed) == {"src/router.py:Router.match": 0.7}
    assert by_path(corpus, changed) == {"src/router.py": 0.3, "README.md": 1.0}


def test_seeds_that_are_not_there_are_told() -> None:
    """A symbol that nothing is called, and a place that is no candidate, are named among what is missing (rule T-5)."""
    corpus = project()
    put, candidates = inquiry(corpus, ask(symbols=["Nobody"], focus=[("lost.py", 1, 1)]))
    reasons = [
        str(evidence.missing and evidence.missing.reason) for evidence in seeds(put, candidates)
    ]
    assert reasons == [
        "lost.py is none of the project's files",
        "no definition is called Nobody",
        "None",
    ]


def test_files_of_seeds_are_known_before_they_are_loaded() -> None:
    """The files that seeds lie in are found without any analysis."""
    corpus = project()
    put, _ = inquiry(corpus, ask(symbols=["Router"], focus=[("session.py", 1, 1)]))
    corpus.loaded.clear()
    assert seed_files(put) == {corpus.number("src/router.py"), corpus.number("src/session.py")}
    assert corpus.loaded == []
