"""Analyses in several processes: the same as in this one, whatever becomes of these."""

import resource
from collections.abc import Iterator, Sequence

import pytest

from aggregate.compose.analysis_pool import pack_all
from aggregate.compose.analysis_processes import pack_in_processes
from aggregate.compose.known_files import AnalysisRequest, KnownFile
from aggregate.sources.file_content import SourceFile

REQUESTS: Sequence[AnalysisRequest] = [
    None,
    ("a.py", SourceFile("def f():\n    return g()\n")),
    ("hidden.py", SourceFile("x = 1 # \u202e\n", may_hide=True)),
    ("image.png", SourceFile("", error="binary content (7 bytes)", is_binary=True)),
    None,
    None,
    *(
        (f"{number}.go", SourceFile(f"package a\n\nfunc F{number}() {{}}\n"))
        for number in range(450)
    ),
    ("odd.txt", SourceFile("\ud800 lone\n")),
    None,
]


def here() -> list[bytes | None]:
    """Return the answers made by this process."""
    return [KnownFile.of(*request).pack() if request else None for request in REQUESTS]


@pytest.mark.parametrize("workers", [None, 0, 1, 2])
def test_processes_change_nothing(workers: int | None) -> None:
    """The answers come in the order of the requests, and are the same for each number of workers (rule T-4)."""
    assert list(pack_all(REQUESTS, workers=workers)) == here()


def test_a_process_that_is_given_up_costs_nothing() -> None:
    """What a worker does not answer in time is analysed by this process (rule T-4)."""
    assert list(pack_in_processes(REQUESTS, workers=2, patience=0.0)) == here()


def test_processes_are_renewed() -> None:
    """A worker that is busy all the time is replaced all the same, so that memory stays bounded (rules T-4 and I-6)."""
    # More batches than two workers may have at once: each but the first is asked for by a new process.
    requests = [(f"{number}.txt", SourceFile("word " * 40_000)) for number in range(6)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    kept = list(pack_in_processes(requests, workers=2))
    middle = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    renewed = list(pack_in_processes(requests, workers=2, renewed_after=1))
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    assert renewed == kept == [KnownFile.of(*request).pack() for request in requests]
    # Each process touches its pages anew: six of them more than twice those of two.
    assert after - middle > 2 * (middle - before)


def test_requests_are_not_all_taken_at_once() -> None:
    """Who asks for a few answers waits for few files, so that few texts are in memory (rule I-6)."""
    taken: list[int] = []

    def requests() -> Iterator[AnalysisRequest]:
        for number in range(2_000):
            taken.append(number)
            yield f"{number}.txt", SourceFile("word " * 4_000)

    answers = pack_in_processes(requests(), workers=2)
    assert next(answers)
    assert len(taken) < 500
    answers.close()


def test_what_workers_have_finished_is_kept_where_the_work_is_cut() -> None:
    """Ended after its first answer, all that workers were asked for is handed over once it is done (I-2, T-4)."""
    requests = [(f"{number}.txt", SourceFile(f"word{number} " * 30_000)) for number in range(9)]
    saved: dict[str, bytes] = {}
    answers = pack_in_processes(
        requests,
        workers=2,
        save=lambda path, _, packed: saved.update({path: packed}),
        last_seconds=60.0,
    )
    first = next(answers)
    answers.close()
    known = {path: KnownFile.of(path, source).pack() for path, source in requests}
    assert first == known["0.txt"]
    assert len(saved) >= 4
    assert saved == {path: known[path] for path in saved}


def test_a_worker_that_hangs_is_not_waited_for_where_the_work_is_cut() -> None:
    """What is not finished in the time that is left is dropped, without an error (rule T-4)."""
    saved: list[str] = []
    answers = pack_in_processes(
        REQUESTS, workers=2, save=lambda path, _, __: saved.append(path), last_seconds=0.0
    )
    next(answers)
    answers.close()
    assert len(saved) < len(REQUESTS)
