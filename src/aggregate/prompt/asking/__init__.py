"""What a prompt is asked to contain: its request, project and results."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.asking.results import *
else:
    __getattr__ = door(
        __name__,
        {"results": "AnswerKind AnswerSource GroupStatus MergeStrategy result_text value_text"},
    )
