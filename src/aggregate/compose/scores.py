"""How likely a task touches each file of a project."""

from collections.abc import Mapping

from aggregate.compose.corpus_reading import read_corpus
from aggregate.compose.file_reading import FileReader
from aggregate.compose.file_rendering import select_files
from aggregate.compose.questions import question_for
from aggregate.compose.request import Request
from aggregate.index.shared import user_index
from aggregate.index.store import Index
from aggregate.ranking.rank import rank


def file_scores(request: Request, *, index: Index | None = None) -> Mapping[str, float]:
    """Return how likely the task of a request touches each candidate, by its path; all together have 1 (rule T-3).

    Args:
        request: With a task; its budget plays no part.
        index: Where analyses are kept from run to run; by default the user's.

    Raises:
        ConfigError: The task names a revision that there is none of, or there is no repository.
    """
    index = index or user_index()
    selection = select_files(request)
    reader = FileReader(request.redaction, selection.generated)
    corpus = read_corpus(selection.files, index=index, redaction=request.redaction, reader=reader)
    paths = [facts.path for facts in corpus.files]
    ranking = rank(corpus, question_for(request, index=index, paths=paths))
    return {paths[ranked.file]: ranked.score for ranked in ranking.files}
