"""One request of a loop, and the record of its reply."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from aggregate.agents.tracks.assignment import TicketStatus, WorkerReply
from aggregate.agents.tracks.model_calls import calls_in_text, without_cut_call
from aggregate.base.errors import ClientError, ProviderError
from aggregate.base.tokens import count
from aggregate.sending.clients import (
    ChatRequest,
    Client,
    OnText,
    cost,
    loop_texts,
    refuses_tools,
    shipped_ratio,
)
from aggregate.sending.models import CUT_CALL, SCRIPTED, FinishReason, Reply, ToolCall


class Turn(NamedTuple):
    """The reply to one request; with calls its text stands before them."""

    reply: WorkerReply
    calls: tuple[ToolCall, ...] = ()
    native: Any = None  # the reply in the provider's own form
    refuses_tools: bool = False

    def record(self) -> dict[str, Any]:
        calls = [asdict(call) for call in self.calls]
        extras = {"calls": calls, "native": self.native, "refuses_tools": self.refuses_tools}
        return asdict(self.reply) | extras

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Turn":
        calls = tuple(ToolCall(**call) for call in record["calls"])
        reply = WorkerReply.from_recorded(record)
        return cls(reply, calls, record["native"], record["refuses_tools"])


def take_turn(
    client: Client, request: ChatRequest, on_text: OnText | None, *, in_text: Collection[str]
) -> Turn:
    """Send a request; return its reply, or the error as a failed reply.

    Calls of the tools ``in_text`` are also read from the text.
    """
    try:
        reply = _metered(client, request, client.send(request, on_text))
    except ClientError as error:
        failed = WorkerReply(str(error), provider=client.provider, status=TicketStatus.FAILED)
        if not isinstance(error, ProviderError):
            return Turn(failed)
        failed = replace(failed, again=error.retryable)
        return Turn(failed, refuses_tools=refuses_tools(error))
    text, calls = reply.text, reply.calls
    if in_text and not calls:
        calls = calls_in_text(text, in_text)
    if in_text and not (calls or request.tools) and reply.stop is FinishReason.LENGTH:
        text, calls = without_cut_call(text)
    fault = "" if calls else _fault_of(reply)
    answer = WorkerReply(
        fault or text,
        reply.usage.input + reply.usage.output,
        "; ".join(_doubts(reply, calls, request.max_output)),
        None if reply.price is None else float(reply.price),
        output_tokens=reply.usage.output,
        model=reply.model,
        provider=client.provider,
        status=TicketStatus.FAILED if fault else TicketStatus.DONE,
        # A retry is useful unless the model refused.
        again=bool(fault) and reply.stop is not FinishReason.REFUSED,
    )
    return Turn(answer, calls, reply.native if reply.calls else None)


def size_of(client: Client, *texts: str) -> int:
    """Estimate the tokens of texts for the client's model."""
    ratio = shipped_ratio(client.provider, client.model)
    return ratio.provider_tokens(sum(map(count, texts)))


def _metered(client: Client, request: ChatRequest, reply: Reply) -> Reply:
    """Estimate the token counts that the server does not report."""
    usage, price = reply.usage, reply.price
    if not usage.input:
        sent = (request.prompt.markdown, request.message, request.system, *loop_texts(request))
        usage = replace(usage, fresh=size_of(client, *sent))
    if not usage.output:
        usage = replace(usage, output=size_of(client, reply.text))
    if price is not None and usage != reply.usage and client.provider != SCRIPTED:
        price = cost(usage, client.model, provider=client.provider)
    return replace(reply, usage=usage, price=price)


def _fault_of(reply: Reply) -> str:
    """Return why a reply has no answer, or ``""``."""
    if reply.stop is FinishReason.REFUSED:
        return "the model refused to answer"
    return "" if reply.text.strip() else f"the model answered nothing ({reply.stop.value})"


def _doubts(reply: Reply, calls: Sequence[ToolCall], max_output: int) -> Iterator[str]:
    """Yield warnings about a reply."""
    if not calls and reply.stop is not FinishReason.END:
        yield f"the answer is incomplete ({reply.stop.value})"
    for call in calls:
        if call.fault == CUT_CALL:
            yield f"the limit of {max_output:,} tokens cut a call of {call.name}"
    if reply.usage.output > max_output:
        yield (
            f"the server ignores the limit of an answer: it wrote {reply.usage.output:,} tokens, "
            f"{max_output:,} were allowed"
        )
