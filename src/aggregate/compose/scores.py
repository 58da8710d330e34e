"""How likely a task touches each file of a project."""

from collections.abc import Mapping

from aggregate.compose.api import compose_prompt
from aggregate.compose.request import Request
from aggregate.index.store import Index


def file_scores(request: Request, *, index: Index | None = None) -> Mapping[str, float]:
    """Return the score of each candidate of a request with a task, by its path; all together have 1."""
    choices = compose_prompt(request, index=index).choices
    return {choice.path: choice.score or 0.0 for choice in choices}
