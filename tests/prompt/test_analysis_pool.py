"""Analyses in several processes: the same as in this one, whatever becomes of these."""

import os
from collections.abc import Iterator, Sequence

from aggregate.prompt.corpus import analysed
from aggregate.ranking.files import analyse

FILES: Sequence[tuple[str, str]] = [
    ("a.py", "def f():\n    return g()\n"),
    ("hidden.py", "x = 1 # \u202e\n"),
    ("image.png", ""),
    *((f"{number}.go", f"package a\n\nfunc F{number}() {{}}\n") for number in range(90)),
    ("odd.txt", "\ud800 lone\n"),
]


def test_processes_change_nothing() -> None:
    """The answers come in the order of the files, and are those that this process would give (rule T-4)."""
    here = [analyse(*file).pack() for file in FILES]
    assert [
        analysis.pack()
        for analysis in analysed([(*file, b"") for file in FILES], with_references=True)
    ] == here


class Deadly(str):
    """A file that ends the process that it is sent to, as a crash in a parser does."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (3,)


def test_a_file_that_a_process_is_lost_over_is_analysed_without_its_grammar() -> None:
    """Its pieces are known, its definitions are not, and the other files lose nothing (rule T-5)."""
    text = "def f():\n    return g()\n"
    lost, whole = analysed([("a.py", Deadly(text), b""), ("b.py", text, b"")], with_references=True)
    assert [bool(lost.problem), bool(whole.problem)] == [True, False]
    assert [name.path for name in whole.definitions] == [("f",)]
    assert not lost.definitions
    assert not lost.references
    assert lost.pieces_with("return") == whole.pieces_with("return")


def test_requests_are_not_all_taken_at_once() -> None:
    """Who asks for a few answers waits for few files, so that few texts are in memory (rule I-6)."""
    taken: list[int] = []

    def files() -> Iterator[tuple[str, str, bytes]]:
        for number in range(2_000):
            taken.append(number)
            yield f"{number}.txt", "word " * 4_000, b""

    answers = analysed(files(), with_references=False)
    assert next(answers).pieces
    assert len(taken) < 500
    answers.close()  # type: ignore[attr-defined]
