"""Whether a model's reply is an answer to a ticket."""

from aggregate.base.errors import WorkerError
from aggregate.base.values import FinishReason, Reply


def check_reply(reply: Reply, *, used: int = 0, cost: float | None = None) -> str:
    """Return what is doubtful about a reply, ``""`` for nothing.

    Args:
        reply: The reply.
        used: Tokens that the ticket has used before.
        cost: What the reply has cost in US dollars, ``None`` where that is not known.

    Raises:
        WorkerError: The model refused to answer, or wrote nothing.
    """
    tokens = used + reply.usage.input + reply.usage.output
    if reply.stop is FinishReason.REFUSED:
        raise WorkerError("the model refused to answer", again=False, tokens=tokens, cost=cost)
    if not reply.text.strip():
        raise WorkerError(
            f"the model answered nothing ({reply.stop.value})", tokens=tokens, cost=cost
        )
    if reply.stop is not FinishReason.END:
        return f"the answer is not complete ({reply.stop.value})"
    return ""
