"""A prompt within a number of tokens: what enters is chosen by a ranking, and all that was decided is told."""

from collections.abc import Callable, Mapping

from aggregate.base.monitor import get_monitor
from aggregate.project.index import Index
from aggregate.prompt.assemble import Composition
from aggregate.prompt.budgeted_prompt import BudgetedPrompt
from aggregate.prompt.ranked_files import RankedFiles, ReadFiles, rank_files
from aggregate.prompt.request import Request
from aggregate.ranking import WEIGHTS


@get_monitor().scope("compose_within_budget")
def compose_within_budget(
    request: Request,
    *,
    index: Index,
    weights: Mapping[str, float] = WEIGHTS,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    files: ReadFiles | None = None,
) -> Composition:
    """Compose the prompt that ``request`` asks for within its budget (rules B-1 to B-8).

    Args:
        request: What to compose.
        index: Where what follows from files is kept from run to run.
        weights: How much each kind of evidence counts.
        on_start: Called once with the number of files of which something is not known.
        on_done: Called with the number of these that have become known.
        files: The request's files, where they were read before.

    Raises:
        BudgetError: What must be shown has more tokens.
        ConfigError: The base directory, the rules of what to leave out, or a revision cannot be used.
    """
    ranked = rank_files(
        request,
        index=index,
        weights=weights,
        on_start=on_start,
        on_done=on_done,
        files=files,
    )
    return BudgetedPrompt(request, index, ranked).composition()


class BudgetFitting:
    """Files that were ranked for one task, to be fitted to one budget after another.

    What was rendered and counted for one budget is kept for the next one; the prompts are those of
    ``compose_within_budget``.

    Args:
        request: What to compose, with any budget.
        ranked: From ``rank_files``, for this request.
        index: Where what follows from files is kept from run to run.
        before: From ``shown_otherwise``: what it has made of the same files is kept.
    """

    def __init__(
        self,
        request: Request,
        ranked: RankedFiles,
        *,
        index: Index,
        before: "BudgetedPrompt | None" = None,
    ) -> None:
        self.ranked = ranked
        self._index = index
        self._prompt = BudgetedPrompt(request, index, ranked, before=before)

    def shown_otherwise(self, request: Request, ranked: RankedFiles) -> "BudgetFitting":
        """Return the same for a request that shows some of the files in another way.

        Args:
            request: What to compose, with any budget.
            ranked: The same ranking of the same files, to be shown as the request says.
        """
        return BudgetFitting(request, ranked, index=self._index, before=self._prompt)

    def compose(self, request: Request) -> Composition:
        """Compose the prompt of the request with another budget, or with another discussion.

        Raises:
            BudgetError: What must be shown has more tokens.
        """
        return self._prompt.for_request(request).composition()
