"""Analyses in several processes: the same as in this one, whatever becomes of these."""

import os
from collections.abc import Iterator, Sequence

from aggregate.base.concurrency import Call
from aggregate.prompt.corpus import analysed, analysis_call
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
    calls = [analysis_call(file[0], *file, with_references=True) for file in FILES]
    answers = [(path, analysis.pack()) for path, analysis in analysed(calls)]
    assert answers == [(path, packed) for (path, _), packed in zip(FILES, here, strict=True)]


class Deadly(str):
    """A file that ends the process that it is sent to, as a crash in a parser does."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (3,)


def test_a_file_that_a_process_is_lost_over_is_analysed_without_its_grammar() -> None:
    """Its pieces are known, its definitions are not, and the other files lose nothing (rule T-5)."""
    text = "def f():\n    return g()\n"
    files = [("a.py", Deadly(text)), ("b.py", text)]
    calls = [analysis_call(file[0], *file, with_references=True) for file in files]
    lost, whole = (analysis for _, analysis in analysed(calls))
    assert [bool(lost.problem), bool(whole.problem)] == [True, False]
    assert [name.path for name in whole.definitions] == [("f",)]
    assert not lost.definitions
    assert not lost.references
    assert lost.pieces_with("return") == whole.pieces_with("return")


def test_requests_are_not_all_taken_at_once() -> None:
    """Who asks for a few answers waits for few files, so that few texts are in memory (rule I-6)."""
    taken: list[int] = []

    def calls() -> Iterator[Call[int, bytes]]:
        for number in range(2_000):
            taken.append(number)
            yield analysis_call(number, f"{number}.txt", "word " * 4_000, with_references=False)

    answers = analysed(calls())
    assert next(answers)[1].pieces
    assert len(taken) < 500
    answers.close()  # type: ignore[attr-defined]
