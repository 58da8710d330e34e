"""How long files and pieces are, and whether a piece is a function's."""

from aggregate.ranking.kind_evidence import file_sizes, piece_shapes
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import ask, by_definition, by_path, inquiry, project


def test_sizes_grow_with_the_logarithm() -> None:
    """A file ten times as large counts a step more, whatever else is in the project; none counts without bound."""
    corpus = FakeCorpus({f"{n}.txt": "word " * n for n in (80, 800, 8000)})
    put, _ = inquiry(corpus, ask("anything"))
    small, middle, large = by_path(corpus, file_sizes(put)).values()
    assert small < middle < large < 1.5
    assert abs((large - middle) - (middle - small)) < 0.01


def test_shapes_of_pieces() -> None:
    """Pieces outside of all definitions are told, and those of functions and methods, not those of classes."""
    corpus = project()
    _, candidates = inquiry(corpus, ask("anything"))
    sizes, outside, functions = piece_shapes(candidates)
    assert by_definition(corpus, outside)["src/router.py:"] == 1.0
    assert "src/router.py:Router" not in by_definition(corpus, outside)
    assert by_definition(corpus, functions)["src/router.py:Router.match"] == 1.0
    assert "src/router.py:Router" not in by_definition(corpus, functions)
    assert all(0 < value < 1.5 for value in sizes.pieces.values())
