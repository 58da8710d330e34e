"""What the functions of a traceback had called: the fault may lie in one that has returned."""

from aggregate.ranking import rank
from aggregate.ranking.places import called_before, traced_calls
from aggregate.ranking.references import Resolver
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import ask, by_definition, inquiry, matched

SHOP = {
    "main.py": "from shop.baskets import fill, make\nfrom shop.orders import add_up\n\n\n"
    "def main():\n    basket = make()\n    fill(basket)\n    print(add_up(basket))\n    close()\n",
    "shop/baskets.py": "def make():\n    lines = [1]\n    return lines\n\n\n"
    "def fill(basket):\n    basket.append(2)\n    return basket\n\n\n"
    "def weigh(basket):\n    grams = 1\n    return grams\n",
    "shop/orders.py": "def add_up(order):\n    total = 0\n    return total / 0\n",
    "others/baskets.py": "def make():\n    lines = [3]\n    return lines\n",
}
TRACEBACK = """\
Traceback (most recent call last):
  File "/srv/main.py", line 8, in main
    print(add_up(basket))
  File "/srv/shop/orders.py", line 3, in add_up
    return total / 0
ZeroDivisionError: division by zero
"""


def test_what_a_frame_called_above_its_line_counts() -> None:
    """Calls on the frame's line count, those above it half; what is called below or nowhere does not (rule T-1)."""
    corpus = FakeCorpus(SHOP)
    put, candidates = inquiry(corpus, ask(TRACEBACK))
    evidence = called_before(
        candidates, traced_calls(put, Resolver(put.corpus, put.paths, known=candidates))
    )
    assert by_definition(corpus, evidence) == {
        "shop/orders.py:add_up": 0.9,
        "shop/baskets.py:make": 0.45,
        "shop/baskets.py:fill": 0.45,
    }
    assert matched(corpus, evidence)["shop/baskets.py"] == "called at main.py:7"


def test_a_function_that_had_returned_comes_behind_the_frames() -> None:
    """A file that no frame stands in is ranked right behind them, before its look-alike (rule T-1)."""
    corpus = FakeCorpus(SHOP)
    ranked = rank(corpus, ask(TRACEBACK)).files
    paths = [corpus.files[file.file].path for file in ranked]
    assert set(paths[:3]) == {"shop/orders.py", "main.py", "shop/baskets.py"}


def test_a_frame_without_a_line_or_of_two_files_tells_nothing() -> None:
    """Where it is unclear which lines had run, nothing is guessed."""
    corpus = FakeCorpus({**SHOP, "other/main.py": SHOP["main.py"]})
    for text in ("error in main.py", 'File "main.py", line 8, in main'):
        put, candidates = inquiry(corpus, ask(text))
        calls = traced_calls(put, Resolver(put.corpus, put.paths, known=candidates))
        assert {call.file for call in calls} <= {
            corpus.number("shop/orders.py"),
            corpus.number("shop/baskets.py"),
        }
    assert not traced_calls(inquiry(corpus, ask("error in main.py"))[0], Resolver(corpus, None))
