"""What hostile texts cost the process that asks for their views: texts are made up until the time is over.

``python -m simulation.grammar_fuzz [--seconds N] [--seed N] [--language NAME]`` repeats short runs of a language's own
marks and words, the shapes over which grammars take the square of a text or more, and asks for outlines. The oracle is
this process's memory: it must not grow by more than some megabytes, whatever a grammar does in a child, each text must
have a view, and harmless texts beside it their own. What was given up is printed, with what it took; exit 1 on a fault.
"""

import random
import resource
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator

from aggregate import View, ViewMode
from aggregate.base.files import ViewRequest
from aggregate.code.syntax import LANGUAGES, Language
from aggregate.code.views import render_all

MARKS = (
    *"()[]{}<>+-*/%=!?:;,.&|^~@#$\\\"'` \t\n\v",
    *["/*", "*/", "//", "<<", ">>", "->", "=>", "::", "<!--", "<<~A", "${", "#{", "é"],
    *("\\\n", "\0"),
)
WORDS = ("a", "A", "1", "if", "end", "def", "class", "do", "case a:", "let", "in", "x=", "f(")
SIZES = (4_000, 12_000, 40_000)
"""Characters: what takes gigabytes in more is rarely another shape than what does in 40,000."""
MOST_GROWTH = 150_000
"""Kilobytes by which this process may grow: modules, and texts on their way."""
HARMLESS = "def f(a):\n    return a\n"


def main(parser: ArgumentParser) -> None:
    """Make up texts, and say what became of them."""
    parser.add_argument("--seconds", type=float, default=300, help="how long (default 300)")
    parser.add_argument("--seed", type=int, default=0, help="of chance (default 0)")
    parser.add_argument("--language", default="", help="only this one (default all)")
    options = parser.parse_args()
    languages = [each for each in LANGUAGES if each.is_installed and each.suffixes]
    chosen = [each for each in languages if options.language in ("", each.name)]
    list(render_all([_outline("m.py", HARMLESS)]))  # loads what is needed
    before, end = _peak(), time.monotonic() + options.seconds
    faults = texts = given_up = 0
    for language, text in _texts(chosen, random.Random(options.seed)):
        if time.monotonic() > end:
            break
        began = time.monotonic()
        first, view, last = render_all(
            [
                _outline("m.py", HARMLESS),
                _outline(f"a{language.suffixes[0]}", text),
                _outline("n.py", HARMLESS),
            ]
        )
        took, texts = time.monotonic() - began, texts + 1
        is_fault = not isinstance(view, View) or first != last or _peak() - before > MOST_GROWTH
        faults += is_fault
        if is_fault or (isinstance(view, View) and "the parser crashes" in view.text):
            given_up += not is_fault
            atom = text[: text.find(text[:6], 6)] if text.find(text[:6], 6) > 0 else text[:20]
            print(
                f"{'FAULT' if is_fault else 'given up':8} {took:5.1f} s  {language.name:12} {atom!r} to {len(text):,}"
            )
    print(
        f"{texts:,} texts, {given_up} given up, {faults} faults; this process grew by {_peak() - before:,} KB"
    )
    sys.exit(bool(faults))


def _texts(languages: list[Language], chance: random.Random) -> Iterator[tuple[Language, str]]:
    """Yield texts without end, each in a language: a short run of marks and words, repeated."""
    while True:
        atom = "".join(
            chance.choice(chance.choice((MARKS, WORDS))) for _ in range(chance.randint(1, 5))
        )
        size = chance.choice(SIZES)
        yield chance.choice(languages), (atom * (size // len(atom)))


def _outline(path: str, text: str) -> ViewRequest:
    return ViewRequest(path, text, ViewMode.OUTLINE)


def _peak() -> int:
    """Return the most memory that this process has had, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
