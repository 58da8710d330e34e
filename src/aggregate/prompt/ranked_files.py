"""The files of a request in the order of what the task says: read, asked about, ranked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aggregate.base.monitor import get_monitor
from aggregate.base.values import FileChoice, Level, Missing, ViewMode
from aggregate.project.index import Index, user_index
from aggregate.prompt.corpus_reading import read_corpus
from aggregate.prompt.file_corpus import FileCorpus
from aggregate.prompt.file_reading import FileReader
from aggregate.prompt.questions import question_for
from aggregate.prompt.request import Request
from aggregate.prompt.request_files import select_files
from aggregate.prompt.selection import ResolvedFile, Selection
from aggregate.ranking import WEIGHTS, Question, RankedFile, Ranking, rank


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """The files of a request as they were read; many requests for the same files can share them.

    Attributes:
        selection: All files that were asked for.
        reader: Has read those that the index does not know.
        corpus: The readable ones.
    """

    selection: Selection
    reader: FileReader
    corpus: FileCorpus


@dataclass(frozen=True, slots=True)
class RankedFiles:
    """The files of a request and how likely its task touches each.

    Attributes:
        files: The files.
        question: What was asked.
        ranking: The answer.
    """

    files: ReadFiles
    question: Question
    ranking: Ranking


def read_files(
    request: Request,
    *,
    index: Index,
    selection: Selection | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> ReadFiles:
    """Read the files of a request as a ranking needs them.

    Args:
        request: Whose files.
        index: Where what follows from files is kept from run to run.
        selection: Its files, where they were selected just before.
        on_start: Called once with the number of files of which something is not known.
        on_done: Called with the number of these that have become known.

    Raises:
        ConfigError: The base directory or the rules of what to leave out cannot be used.
    """
    selection = selection or select_files(request)
    reader = FileReader(request.redaction, selection.generated)
    corpus = read_corpus(
        selection.files,
        index=index,
        redaction=request.redaction,
        reader=reader,
        on_start=on_start,
        on_done=on_done,
    )
    return ReadFiles(selection, reader, corpus)


@get_monitor().scope("rank_files")
def rank_files(
    request: Request,
    *,
    index: Index,
    weights: Mapping[str, float] = WEIGHTS,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    files: ReadFiles | None = None,
) -> RankedFiles:
    """Rank the files of a request by its task.

    Args:
        request: Whose files and task.
        index: Where what follows from files is kept from run to run.
        weights: How much each kind of evidence counts.
        on_start: Called once with the number of files of which something is not known.
        on_done: Called with the number of these that have become known.
        files: The files, where they were read before.

    Raises:
        ConfigError: The base directory, the rules of what to leave out, or a revision cannot be used.
    """
    if files is None:
        files = read_files(request, index=index, on_start=on_start, on_done=on_done)
    corpus = files.corpus
    paths = [facts.path for facts in corpus.files]
    question = question_for(request, index=index, paths=paths)
    ranking = rank(corpus, question, weights=weights)
    return RankedFiles(files, question, ranking)


def file_scores(request: Request, *, index: Index | None = None) -> Mapping[str, float]:
    """Return how likely the task of a request touches each of its readable files, by their paths; in sum 1."""
    ranked = rank_files(request, index=index or user_index())
    return {
        ranked.files.corpus.files[entry.file].path: entry.score for entry in ranked.ranking.files
    }


def scores_of(ranked: RankedFiles) -> tuple[tuple[FileChoice, ...], tuple[Missing, ...]]:
    """Return the files of a prompt that has a task and no budget, with their scores, and what evidence is missing.

    Such a prompt shows what it would without a task (rule T-3).
    """
    by_path = {
        ranked.files.corpus.files[entry.file].path: (position, entry)
        for position, entry in enumerate(ranked.ranking.files, start=1)
    }
    choices = tuple(
        _choice(file, by_path.get(file.path), ranked.files.corpus)
        for file in ranked.files.selection.files
        if not file.is_remark
    )
    return choices, tuple(ranked.ranking.missing)


def _choice(
    file: ResolvedFile, scored: tuple[int, RankedFile] | None, corpus: FileCorpus
) -> FileChoice:
    mode = file.view_mode if file.item.auto_aggregate else ViewMode.NONE
    level = Level(mode.value)
    if scored is None:
        return FileChoice(file.path, file.item.path, Level.LEFT_OUT, level)
    position, ranked = scored
    return FileChoice(
        path=file.path,
        entry=file.item.path,
        level=level,
        most=level,
        score=ranked.score,
        rank=position,
        reasons=ranked.reasons,
        content_hash=corpus.content_hash(ranked.file).hex(),
    )
