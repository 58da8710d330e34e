"""What sending costs beside the SDK."""

import asyncio
import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from time import perf_counter

from tests.fakes.http_server import QuietHandler, serving

from aggregate import ChatRequest, Prompt, Segment, count, open_client
from aggregate.prompt.document import Section, Stability
from aggregate.sending.cache import EarlierRequest, HashedPrompt, plan_request
from aggregate.sending.cache.file_order import UNSENT, CachedPrompt, FileOrder
from aggregate.sending.cache.hashed_prompt import BlockLayout
from aggregate.sending.cache.request_plan import RequestPlan
from aggregate.sending.clients.connection import certificates
from aggregate.sending.known_models import known_model
from aggregate.sending.models import CachePolicy

MODEL = "claude-sonnet-5"
ROUNDS = 42
SEGMENTS = 10_000
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": MODEL,
    "content": [{"type": "text", "text": "Yes."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; milliseconds, the bound ``None`` where there is none."""

    what: str
    measured: float
    bound: float | None = None


class Server(QuietHandler):
    """Answers every request alike."""

    protocol_version = "HTTP/1.1"

    def take(self) -> None:
        """Answer."""
        self.body()
        self.answer(200, json.dumps(ANSWER).encode(), content_type="application/json")


def prompt_of(segments: int, lines: int) -> Prompt:
    """Return a prompt of files and one excerpt for each hundred of them."""
    files = segments - segments // 100
    body = "    value = compute(value, 17)\n" * lines
    return Prompt(
        (
            *(_file(number, body) for number in range(files)),
            *(_excerpt(number) for number in range(segments - files)),
        )
    )


def calls() -> Iterator[Row]:
    """Measure one call through the SDK alone, and through this package, in turns."""
    prompt = prompt_of(40, 30)
    with serving(Server) as port:
        url = f"http://127.0.0.1:{port}"
        client = open_client(
            "anthropic", base_url=url, environ={"ANTHROPIC_API_KEY": "none-needed"}
        )
        asks = (
            lambda: asyncio.run(_by_sdk(url, prompt.markdown)),
            lambda: client.send(ChatRequest(prompt, "Go on.")),
        )
        pairs = [tuple(milliseconds(ask) for ask in asks) for _ in range(ROUNDS)][2:]
    yield Row("a call through the SDK, a new client each", median(sdk for sdk, _ in pairs))
    yield Row(
        "the same through this package, beyond the SDK",
        median(ours - sdk for sdk, ours in pairs),
        5.0,
    )


def _plan(
    prompt: Prompt, tokens: Sequence[int], policy: CachePolicy, earlier: BlockLayout
) -> RequestPlan:
    return plan_request(HashedPrompt.of(prompt, tokens), policy, before=EarlierRequest(earlier))


def plans() -> Iterator[Row]:
    """Measure the plans of a large prompt whose tokens are known."""
    prompt = prompt_of(SEGMENTS, 8)
    tokens = [len(segment.text) // 4 for segment in prompt.segments]
    for provider, model in (("anthropic", MODEL), ("deepseek", "deepseek-flash")):
        policy = known_model(provider, model).cache
        earlier = plan_request(HashedPrompt.of(prompt, tokens), policy).layout
        plan = partial(_plan, prompt, tokens, policy, earlier)
        took = [milliseconds(plan) for _ in range(5)]
        yield Row(f"planning {SEGMENTS:,} segments, {provider}", min(took), 50.0)


def orders() -> Iterator[Row]:
    """Measure putting a large prompt in order behind the last one, in which one file in a hundred has changed."""
    prompt = prompt_of(SEGMENTS, 8)
    tokens = [len(segment.text) // 4 for segment in prompt.segments]
    policy = known_model("anthropic", MODEL).cache

    def order(prompt: Prompt, earlier: CachedPrompt | None) -> HashedPrompt:
        hashed = HashedPrompt.of(prompt, tokens)
        return FileOrder(hashed, policy, earlier or UNSENT, count).ordered().prompt

    first = order(prompt, None)
    texts = tuple(part.segment.text for part in first.segments)
    breakpoints = plan_request(first, policy).layout.breakpoints
    earlier = CachedPrompt(first, texts.__getitem__, breakpoints)
    changed = (
        replace(one, text=one.text.replace("17", "18", 3)) if number % 100 == 50 else one
        for number, one in enumerate(prompt.segments)
    )
    again = Prompt(tuple(changed))
    took = [milliseconds(lambda: order(again, earlier)) for _ in range(5)]
    yield Row(f"ordering {SEGMENTS:,} segments, 1 % changed", min(took))


def milliseconds(action: Callable[[], object]) -> float:
    """Return how long an action took."""
    start = perf_counter()
    action()
    return (perf_counter() - start) * 1000


def main(parser: ArgumentParser) -> None:
    """Print the table."""
    parser.parse_args()
    for measure in (calls, plans, orders):
        for row in measure():
            missed = row.bound is not None and row.measured > row.bound
            bound = "" if row.bound is None else f"   <= {row.bound:g} ms"
            print(f"{row.what:48} {row.measured:8.2f} ms{bound}{'  missed' if missed else ''}")


async def _by_sdk(url: str, text: str) -> str:
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

    http = DefaultAsyncHttpxClient(
        verify=certificates()
    )  # else the SDK would load them for each client: 25 to 40 ms
    async with AsyncAnthropic(
        api_key="none-needed", base_url=url, http_client=http, max_retries=0
    ) as client:
        messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
        answer = await client.messages.create(model=MODEL, max_tokens=16_000, messages=messages)  # type: ignore[arg-type]
        return str(answer.content)


def _file(number: int, body: str) -> Segment:
    return Segment(
        Section.FILES, f"### `src/f{number}.py`\n\n{body}", Stability.STABLE, f"src/f{number}.py"
    )


def _excerpt(number: int) -> Segment:
    name = f"Discussion Excerpt {number}"
    return Segment(Section.HISTORY, f"### {name}\n\nAI: done.", Stability.VOLATILE, name)
