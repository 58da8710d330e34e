"""Analyses in several processes: the same as in this one, whatever becomes of these."""

import os
from collections.abc import Iterator, Sequence

import pytest

from aggregate.project.files import SourceFile
from aggregate.prompt.known_files import AnalysisRequest, KnownFile, pack_all

REQUESTS: Sequence[AnalysisRequest] = [
    None,
    ("a.py", SourceFile("def f():\n    return g()\n")),
    ("hidden.py", SourceFile("x = 1 # \u202e\n", may_hide=True)),
    ("image.png", SourceFile("", error="binary content (7 bytes)", is_binary=True)),
    None, None,
    *((f"{number}.go", SourceFile(f"package a\n\nfunc F{number}() {{}}\n")) for number in range(90)),
    ("odd.txt", SourceFile("\ud800 lone\n")),
    None,
]  # fmt: skip


def here() -> list[bytes | None]:
    return [KnownFile.of(*request).pack() if request else None for request in REQUESTS]


@pytest.mark.parametrize("workers", [None, 0, 1, 2])
def test_processes_change_nothing(workers: int | None) -> None:
    """The answers come in the order of the requests, and are the same for each number of workers (rule T-4)."""
    assert list(pack_all(REQUESTS, workers=workers)) == here()


class Deadly(SourceFile):
    """A file that ends the process that it is sent to, as a crash in a parser does."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (3,)


def test_a_file_that_a_process_is_lost_over_is_analysed_without_its_grammar() -> None:
    """Its terms and pieces are known, its definitions are not, and the other files lose nothing (rule T-5)."""
    text = "def f():\n    return g()\n"
    requests = [("a.py", Deadly(text)), ("b.py", SourceFile(text))]
    known = [KnownFile.unpack(packed) for packed in pack_all(requests) if packed]
    assert [bool(file.facts.problem) for file in known] == [True, False]
    lost, whole = (file.analysis for file in known)
    assert [name.path for name in whole.definitions] == [("f",)]
    assert not lost.definitions
    assert not lost.references
    assert lost.term_totals[0] == whole.term_totals[0]


def test_requests_are_not_all_taken_at_once() -> None:
    """Who asks for a few answers waits for few files, so that few texts are in memory (rule I-6)."""
    taken: list[int] = []

    def requests() -> Iterator[AnalysisRequest]:
        for number in range(2_000):
            taken.append(number)
            yield f"{number}.txt", SourceFile("word " * 4_000)

    answers = pack_all(requests(), workers=2)
    assert next(answers)
    assert len(taken) < 500
    answers.close()  # type: ignore[attr-defined]
