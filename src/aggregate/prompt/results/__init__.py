"""Results of agents as a prompt takes them: merged values, and their text."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.results.result_text import *
    from aggregate.prompt.results.results import *
else:
    __getattr__ = door(
        __name__,
        {
            "result_text": "result_text value_text",
            "results": "AggregatedResult Answer AnswerKind AnswerSource GroupStatus MergeStrategy",
        },
    )
