"""Requests to a model, the client for all providers, with retries and cancellation, and a scripted client."""

import asyncio
import json
import logging
import random
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import partial
from time import monotonic
from typing import Any, Final, Protocol

from aggregate.base.concurrency import doubling_delay
from aggregate.base.errors import ClientSetupError, ProviderError
from aggregate.base.tokens import count
from aggregate.prompt import count_prompt
from aggregate.prompt.document import Prompt
from aggregate.sending.cache.hashed_prompt import HashedPrompt
from aggregate.sending.cache.request_plan import (
    UNPLANNED,
    RequestPlan,
    SimulatedCache,
    charge,
    messages_of,
    plan_request,
)
from aggregate.sending.known_models import ResponseFormat, known_model
from aggregate.sending.models import SCRIPTED, LoopTurn, OfferedTool, Reply, Usage
from aggregate.sending.prices import OWN_COUNT, Bill, TokenRatio, cache_policy, check_window, cost


class Effort(StrEnum):
    """How long a model thinks before it answers, in the providers' terms."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(slots=True)
class Meter:
    """The usage reported so far for an unfinished answer, to bill requests that end early."""

    usage: Usage = field(default_factory=Usage)  # as last reported
    # Texts since then, with thoughts and arguments of calls
    pieces: list[str] = field(default_factory=list)
    is_open: bool = False  # the provider is working on the request

    def begin(self) -> None:
        """Start counting a new request."""
        self.usage, self.pieces, self.is_open = Usage(), [], True

    def add(self, text: str) -> None:
        self.pieces.append(text)

    def report(self, usage: Usage) -> None:
        """Set the usage that the provider has reported so far; an empty report is ignored."""
        if usage != Usage():
            self.usage, self.pieces = usage, []

    def end(self) -> None:
        """End a request that failed; it is free if nothing was received."""
        self.is_open = self.is_open and bool(self.usage.input or any(self.pieces))


OnText = Callable[[str], None]  # called with each piece of a streamed answer


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to a model.

    Attributes:
        prompt: The segments; their markdown is sent byte for byte.
        message: The text after the prompt, ``""`` if the prompt ends with the question.
        model: The model, by default the client's.
        system: The instructions before everything else.
        max_output: Largest number of tokens in the answer.
        temperature: Randomness of the answer; dropped if the provider does not support it.
        schema: JSON schema of the answer. Every object in it requires all its properties and allows no others, as all
            providers support. Providers without schemas answer in free text.
        seconds: Timeout, waits between attempts included; ``None`` for the adapter's own limit.
        effort: How long the model thinks before it answers; dropped if the provider does not support it.
        tools: Tools that the model may call.
        turns: The turns of a tool loop since the message, ``None`` without a loop.
        plan: The blocks to send, made by the client if missing. Unsupported fields are dropped at the same time.
        meter: Filled while the answer is received.
    """

    prompt: Prompt = Prompt(())  # noqa: RUF009 - an immutable value
    message: str = ""
    model: str = ""
    system: str = ""
    max_output: int = 16_000
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    seconds: float | None = None
    effort: Effort | None = None
    tools: tuple[OfferedTool, ...] = ()
    turns: tuple[LoopTurn, ...] | None = None
    plan: RequestPlan = UNPLANNED
    meter: Meter = field(default_factory=Meter, compare=False, repr=False)

    @property
    def text_only(self) -> "ChatRequest":
        plan = self.plan
        if plan.has_images:
            plan = replace(plan, blocks=tuple(block for block in plan.blocks if not block.image))
        # Tools stay, because earlier calls refer to them.
        return replace(self, plan=plan, temperature=None, effort=None, schema=None)


def loop_texts(request: ChatRequest) -> Iterator[str]:
    """Yield the texts of a request's tool loop, which are not part of its prompt."""
    for tool in request.tools:
        yield f"{tool.name} {tool.description} {json.dumps(tool.parameters)}"
    for turn in request.turns or ():
        yield turn.text
        yield from (json.dumps(dict(result.call.arguments)) for result in turn.results)
        yield turn.response


DEFAULT_REQUEST: Final = ChatRequest()


Ask = Callable[[ChatRequest, OnText | None], Awaitable[Reply]]
# A wrapper of each exchange: it calls the next one and may change both request and reply.
Middleware = Callable[[Ask, ChatRequest, OnText | None], Awaitable[Reply]]


class Transport(Protocol):
    """A provider's adapter, without retries."""

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply: ...


# Joins surrogate pairs: JSON may hold half of one (``"\\ud83d"``), and streams are cut anywhere. A single half becomes
# U+FFFD, because no file can hold it.
_new_joiner: Final = partial(getincrementaldecoder("utf-16-le"), "replace")


def _join(joiner: IncrementalDecoder, piece: str, *, is_last: bool = False) -> str:
    return joiner.decode(piece.encode("utf-16-le", "surrogatepass"), is_last)


class StreamCallbackError(Exception):
    """An error of the caller's ``on_text``.

    It is wrapped so that adapters do not treat it as their own.
    """


@dataclass(slots=True)
class StreamForwarder:
    """Passes on the pieces of an answer as valid Unicode.

    A piece may end within a character.
    """

    on_text: OnText
    first: float | None = None  # when the first piece came
    joiner: IncrementalDecoder = field(default_factory=_new_joiner)

    def __call__(self, piece: str) -> None:
        if not isinstance(piece, str):  # the server's fault, not the caller's
            raise TypeError("the answer contains a non-text part")
        self.first = self.first or monotonic()
        try:
            self.on_text(_join(self.joiner, piece))
        except Exception as error:  # noqa: BLE001 - it reaches the caller as it is
            raise StreamCallbackError(error) from None


@dataclass(frozen=True, slots=True)
class Retry:
    attempts: int = 5  # including the first
    first: float = 1.0  # seconds before the second attempt; doubled each time
    longest: float = 30.0  # seconds before any attempt
    patience: float = 120.0  # seconds; a provider that asks for a longer delay is an error

    def wait(self, failed: int, error: ProviderError, left: float | None = None) -> float:
        """Return how many seconds to wait before the next attempt, or raise the error."""
        delay = error.retry_after
        limit = self.patience if left is None else min(self.patience, left)
        if error.retryable and delay is not None and delay > limit:
            later = f"{datetime.now().astimezone() + timedelta(seconds=delay):%Y-%m-%d %H:%M:%S}"
            raise ProviderError(
                f"{error}; it asks to wait {delay:,.0f} s, longer than the limit of {limit:,.0f} s: "
                f"try again after {later}",
                status=error.status,
                retry_after=delay,
            ) from None
        if not error.retryable or failed >= self.attempts:
            raise error
        if delay is not None:
            return delay
        # Callers that failed together should not retry together.
        jitter = random.uniform(0.75, 1.0)  # noqa: S311 - no secret
        return doubling_delay(failed, self.first, self.longest) * jitter


logger: Final = logging.getLogger(__name__)
MALFORMED: Final = frozenset({400, 422})  # statuses of a request rejected by the provider
NO_IMAGES: Final = 500  # llama.cpp's status for images if its model supports none
TEXT_ALONE: Final = (
    "text_alone"  # key in ``raw`` of a reply whose request was repeated as text only
)


@dataclass(frozen=True, slots=True)
class Client:
    """A client of one provider."""

    provider: str
    transport: Transport = field(repr=False)
    model: str = ""  # the default
    retry: Retry = field(default_factory=Retry)
    # Called before each wait with its seconds and the error
    on_wait: Callable[[float, ProviderError], None] | None = field(default=None, repr=False)
    ratio: TokenRatio = OWN_COUNT  # for the check against the model's window
    layers: tuple[Middleware, ...] = field(default=(), repr=False)  # outermost first
    address: str = ""  # ``""``: the provider's default

    def supported(self, request: ChatRequest) -> ChatRequest:
        """Return the request with its model and only supported options."""
        model = request.model or self.model
        takes = known_model(self.provider, model)
        has_form = takes.response_format is not ResponseFormat.TEXT
        temperature = request.temperature
        if temperature is not None:
            lowest = takes.lowest_temperature
            temperature = None if lowest is None else max(temperature, lowest)
        return replace(
            request,
            model=model,
            temperature=temperature,
            schema=request.schema if has_form else None,
            effort=request.effort if takes.takes_effort else None,
            tools=request.tools if takes.takes_tools else (),
        )

    def planned(self, request: ChatRequest) -> ChatRequest:
        """Return the request with its plan and only supported options."""
        request = self.supported(request)
        if request.plan is not UNPLANNED:
            return request
        tokens, system = count_prompt(request.prompt).segments, request.system
        plan = plan_request(
            HashedPrompt.of(request.prompt, tokens, system=system, system_tokens=count(system)),
            cache_policy(self.provider, request.model),
            message=request.message,
            message_tokens=count(request.message) + sum(map(count, loop_texts(request))),
            turns=request.turns,
        )
        if not messages_of(plan):
            raise ClientSetupError("there is nothing to send: the prompt and the message are empty")
        return replace(request, plan=plan)

    def stopped_bill(self, request: ChatRequest, expected: Usage) -> Bill | None:
        """Return the bill of a request that ended early, ``None`` if no model worked on it."""
        meter, model = request.meter, request.model or self.model
        if not meter.is_open or self.provider == SCRIPTED:
            return None
        written = self.ratio.provider_tokens(count("".join(meter.pieces)))
        usage = replace(meter.usage, output=meter.usage.output + written)
        if not usage.input:
            total = self.planned(request).plan.total
            usage = replace(usage, fresh=self.ratio.provider_tokens(total))
        estimated = usage != meter.usage
        return Bill.of(self.provider, model, expected, usage, is_estimated=estimated)

    def send(self, request: ChatRequest, on_text: OnText | None = None) -> Reply:
        """Send a request and return the answer.

        ``on_text`` is called with each piece of the answer; without it the answer is not streamed.

        Raises:
            ClientSetupError: The model is missing, or the request is empty.
            PromptTooLongError: The request exceeds the model's context window.
            ProviderError: The provider refused, failed after all retries, or timed out.
        """

        def log_unclosed(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            logger.debug("left over by a request: %s", context.get("message"))

        async def in_own_loop() -> Reply:
            # By default a loop prints a traceback for resources left open by an SDK.
            asyncio.get_running_loop().set_exception_handler(log_unclosed)
            return await self.exchange(request, on_text)

        try:
            asyncio.get_running_loop()
            has_loop = True
        except RuntimeError:
            has_loop = False
        if not has_loop:  # outside the except clause, which would become the context of errors
            return asyncio.run(in_own_loop())
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, in_own_loop()).result()

    async def exchange(self, request: ChatRequest, on_text: OnText | None = None) -> Reply:
        """Send a request and return the answer, as a coroutine; cancelling its task stops the request."""
        ask: Ask = self._exchange
        for layer in reversed(self.layers):
            ask = partial(layer, ask)
        return await ask(request, on_text)

    def through(self, layer: Middleware) -> "Client":
        """Return a client whose requests pass through another function, ``layer``, before all others."""
        return replace(self, layers=(layer, *self.layers))

    async def _exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        request = self.planned(request)
        plan, model, seconds = request.plan, request.model, request.seconds
        if not model:
            raise ClientSetupError(
                f"{self.provider}: no model is set: add --model, or model in the persona"
            )
        check_window(plan.total, model, request.max_output, ratio=self.ratio)
        forwarder, meter = StreamForwarder(on_text) if on_text else None, request.meter
        meter.is_open = False
        begun = monotonic()
        try:
            async with asyncio.timeout(seconds) as limit:
                deadline = None if seconds is None else begun + seconds
                reply = await self._ask(request, forwarder, deadline)
        except TimeoutError:
            if not limit.expired():
                raise
            raise ProviderError(f"{self.provider} did not answer within {seconds:g} s") from None
        except StreamCallbackError as failure:
            raise failure.args[0] from None
        meter.report(reply.usage)
        is_paid = self.provider != SCRIPTED
        return replace(
            reply,
            text=_join(_new_joiner(), reply.text, is_last=True),
            price=cost(reply.usage, model, provider=self.provider) if is_paid else Decimal(0),
            first_piece=forwarder.first - begun if forwarder and forwarder.first else None,
        )

    async def _ask(
        self, request: ChatRequest, forwarder: StreamForwarder | None, deadline: float | None
    ) -> Reply:
        """Return the answer to a request.

        If the provider rejects it, try once more with texts only.
        """
        failed = 0
        while True:
            try:
                return await self.transport.exchange(request, forwarder)
            except ProviderError as error:
                # The SDK's error holds the request with its headers and open streams.
                error.__context__ = None
                failed += 1
                request.meter.end()
                if forwarder and forwarder.first:
                    raise
                is_sure = failed >= self.retry.attempts or not error.retryable
                has_refused_images = error.status == NO_IMAGES and request.plan.has_images
                is_refused = error.status in MALFORMED or (has_refused_images and is_sure)
                if is_refused and request != request.text_only:
                    reply = await self._ask(request.text_only, forwarder, deadline)
                    return replace(reply, raw={**reply.raw, TEXT_ALONE: True})
                seconds_left = None if deadline is None else deadline - monotonic()
                seconds = self.retry.wait(failed, error, seconds_left)
                if self.on_wait:
                    self.on_wait(seconds, error)
            await asyncio.sleep(seconds)


_MODEL = "claude-sonnet-5"
# Answers in order, errors among them raised; or a function called with each request.
Script = Iterable[str | Reply | ProviderError] | Callable[[ChatRequest], str | Reply]


@dataclass(slots=True)
class ScriptedTransport:
    """An adapter with scripted answers for tests, which records requests and simulates a cache."""

    answers: Iterator[str | Reply | ProviderError] | Callable[[ChatRequest], str | Reply]
    cache: SimulatedCache = field(default_factory=SimulatedCache)
    requests: list[ChatRequest] = field(default_factory=list)

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        self.requests.append(request)
        answer = self.answers(request) if callable(self.answers) else next(self.answers, None)
        if answer is None:
            raise ProviderError(
                f"the script has no answer to request {len(self.requests)}: add one"
            )
        if isinstance(answer, ProviderError):
            raise answer
        usage, self.cache = charge(request.plan, self.cache)
        if isinstance(answer, str):
            answer = Reply(answer, replace(usage, output=count(answer)), model=request.model)
        if on_text:
            for line in answer.text.splitlines(keepends=True):
                on_text(line)
        return answer


def scripted_client(
    script: Script | None = None, *, cache: SimulatedCache | None = None, model: str = _MODEL
) -> Client:
    script = _describe if script is None else script
    answers = script if callable(script) else iter(script)
    return Client("scripted", ScriptedTransport(answers, cache or SimulatedCache()), model)


def _describe(request: ChatRequest) -> str:
    plan = request.plan
    blocks = f"{len(plan.blocks):,} block{'s' * (len(plan.blocks) != 1)}"
    return f"No model was asked; {plan.total:,} tokens in {blocks} arrived at the scripted client."
