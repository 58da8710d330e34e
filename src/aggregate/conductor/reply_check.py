"""Whether a model's reply is an answer to a ticket."""

from aggregate.errors import WorkerError
from aggregate.models.reply import FinishReason, Reply


def check_reply(reply: Reply) -> str:
    """Return what is doubtful about a reply, ``""`` for nothing.

    Raises:
        WorkerError: The model refused to answer, or wrote nothing.
    """
    if reply.stop is FinishReason.REFUSED:
        raise WorkerError("the model refused to answer", again=False)
    if not reply.text.strip():
        raise WorkerError(f"the model answered nothing ({reply.stop.value})")
    if reply.stop is not FinishReason.END:
        return f"the answer is not complete ({reply.stop.value})"
    return ""
