"""What a task's words say of definitions, of names, and of single pieces."""

from aggregate.ranking.text_evidence import piece_texts
from tests.ranking.asking import ask, by_definition, inquiry, matched, project


def test_a_definition_counts_by_its_text_its_name_and_what_it_stands_in() -> None:
    """The definition with the task's words in name and text is the best; a sibling counts by the class around it."""
    corpus = project()
    put, candidates = inquiry(corpus, ask("match a path in the router"))
    text, subject, names = piece_texts(put, candidates)
    definitions = dict(by_definition(corpus, text))
    del definitions["README.md:Routing"]
    assert max(definitions, key=lambda name: definitions[name]) == "src/router.py:Router.match"
    assert 0 < definitions["src/router.py:Router.register"] < 0.8
    assert matched(corpus, text)["src/router.py"].startswith("match")
    assert by_definition(corpus, subject)["src/router.py:Router.match"] > 0.5
    assert by_definition(corpus, names)["src/router.py:Router.match"] == 1.0


def test_only_the_first_line_counts_for_single_pieces() -> None:
    """What a task tells below its first line says nothing by the evidence of the subject."""
    corpus = project()
    put, candidates = inquiry(
        corpus, ask("close the session\n\nFound while a route was registered.")
    )
    _, subject, _ = piece_texts(put, candidates)
    assert {key.partition(":")[0] for key in by_definition(corpus, subject)} == {"src/session.py"}
