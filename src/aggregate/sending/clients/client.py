"""The client: plan, check, exchange, retry, in the same way for every provider."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aggregate.base.concurrency import run_async
from aggregate.base.errors import ClientSetupError, ProviderError
from aggregate.base.tokens import count
from aggregate.base.values import Prompt, Reply, SurrogateJoiner
from aggregate.prompt import count_prompt
from aggregate.sending.cache.hashed_prompt import HashedPrompt
from aggregate.sending.cache.request_plan import RequestPlan, plan_request
from aggregate.sending.clients.own_models import cache_policy, check_window
from aggregate.sending.clients.protocol import (
    DEFAULT_OPTIONS,
    ModelRequest,
    OnText,
    RequestOptions,
    ResponseFormat,
    Transport,
    capabilities_of,
)
from aggregate.sending.clients.retry import RequestStop, Retry, with_retries
from aggregate.sending.clients.token_ratios import OWN_COUNT, TokenRatio


class StreamCallbackError(Exception):
    """What the caller's function has raised, on its way past an adapter that would take it for the provider's."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(slots=True)
class StreamForwarder:
    """Passes the pieces of an answer on as text that a file can hold, and knows whether there was one."""

    on_text: OnText
    has_begun: bool = False
    unicode: SurrogateJoiner = field(default_factory=SurrogateJoiner)

    def __call__(self, piece: str) -> None:
        """Pass a piece on; one that is no text is the server's fault, not the caller's."""
        if not isinstance(piece, str):
            raise TypeError("a piece of the answer is no text")
        self.has_begun = True
        try:
            self.on_text(self.unicode.add(piece))
        except Exception as error:  # noqa: BLE001 - it reaches the caller as it is
            raise StreamCallbackError(error) from None


logger: Final = logging.getLogger(__name__)
MALFORMED: Final = frozenset({400, 422})
"""Statuses of a request that a provider does not understand."""
NO_IMAGES: Final = 500
"""The status of llama.cpp's server for images where its model takes none."""
LEFT_OUT: Final = "left_out"
"""In a reply's ``raw``: what the provider has refused beside the text."""


@dataclass(frozen=True, slots=True)
class Client:
    """Sends prompts to one provider.

    Attributes:
        provider: Its name.
        transport: The adapter.
        model: The model to ask where the caller names none.
        retry: How often failures are tried again.
        on_wait: Called with the seconds before each wait and its reason.
        ratio: How many tokens the provider counts for each of o200k's, for the check against the model's window.
        stop: What ends a request of ``exchange`` from another thread.
    """

    provider: str
    transport: Transport = field(repr=False)
    model: str = ""
    retry: Retry = field(default_factory=Retry)
    on_wait: Callable[[float, ProviderError], None] | None = field(default=None, repr=False)
    ratio: TokenRatio = OWN_COUNT
    stop: RequestStop | None = field(default=None, repr=False)

    def plan(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> RequestPlan:
        """Return the request that ``send`` would send."""
        tokens = count_prompt(prompt).segments
        return plan_request(
            HashedPrompt.of(
                prompt, tokens, system=options.system, system_tokens=count(options.system)
            ),
            cache_policy(self.provider, model or self.model),
            message=message,
            message_tokens=count(message),
            earlier=options.earlier,
        )

    def send(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> Reply:
        """Send ``prompt`` and then ``message``, and return the answer.

        Args:
            prompt: The segments; their markdown is sent byte for byte.
            message: What to say behind it, ``""`` if the prompt ends with the question.
            model: Which model; by default the client's.
            on_text: Called with each piece of the answer as it comes; with none the answer is not streamed.
            options: Instructions, limits, the form of the answer, and the last request's layout.

        Raises:
            ClientSetupError: There is no model to ask, or nothing to send.
            PromptTooLongError: The request exceeds the model's context window.
            ProviderError: The provider refused or failed, after all retries, or the time is over.
        """
        return self.exchange(
            self.plan(prompt, message, model=model, options=options),
            model=model,
            on_text=on_text,
            options=options,
        )

    async def asend(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> Reply:
        """Do what ``send`` does without blocking; cancelling the task ends the request."""
        plan = self.plan(prompt, message, model=model, options=options)
        return await self._exchange(plan, model or self.model, on_text, options)

    def exchange(
        self,
        plan: RequestPlan,
        *,
        model: str = "",
        on_text: OnText | None = None,
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> Reply:
        """Send a plan and return the answer; the errors are those of ``send``."""

        async def in_own_loop() -> Reply:
            asyncio.get_running_loop().set_exception_handler(_log_unclosed)
            exchange = self._exchange(plan, model or self.model, on_text, options)
            return await (self.stop.guard(exchange) if self.stop else exchange)

        return run_async(in_own_loop())

    async def _exchange(
        self, plan: RequestPlan, model: str, on_text: OnText | None, options: RequestOptions
    ) -> Reply:
        if not model and self.provider != "gemini-cli":
            raise ClientSetupError(
                f"{self.provider}: no model is named: add --model, or model in the persona"
            )
        if not plan.blocks:
            raise ClientSetupError("there is nothing to send: the prompt and the message are empty")
        check_window(plan, model, options.max_output, ratio=self.ratio)
        forwarder = StreamForwarder(on_text) if on_text else None
        request = self.request(plan, model=model, options=options)
        try:
            async with asyncio.timeout(options.seconds) as limit:
                reply = await self._ask(request, forwarder)
            return replace(reply, text=SurrogateJoiner().add(reply.text, last=True))
        except TimeoutError:
            if not limit.expired():
                raise
            raise ProviderError(
                f"{self.provider} did not answer within {options.seconds:g} s"
            ) from None
        except StreamCallbackError as failure:
            raise failure.error from None

    def request(
        self, plan: RequestPlan, *, model: str = "", options: RequestOptions = DEFAULT_OPTIONS
    ) -> ModelRequest:
        """Return the request for a plan, with those options that the provider takes."""
        model = model or self.model
        capabilities = capabilities_of(self.provider, model)
        response_format = capabilities.response_format if options.schema else ResponseFormat.TEXT
        schema = options.schema if response_format is not ResponseFormat.TEXT else None
        temperature = capabilities.temperature(options.temperature)
        effort = options.effort if capabilities.takes_effort else None
        return ModelRequest(
            plan,
            model,
            options.max_output,
            temperature,
            schema,
            response_format,
            effort,
        )

    async def _ask(self, request: ModelRequest, forwarder: StreamForwarder | None) -> Reply:
        """Return the answer; a request that is refused as malformed is made once more with its text alone."""

        def may_repeat() -> bool:
            return forwarder is None or not forwarder.has_begun

        try:
            return await with_retries(
                lambda: self.transport.exchange(request, forwarder),
                self.retry,
                may_repeat=may_repeat,
                on_wait=self.on_wait,
            )
        except ProviderError as error:
            error.__context__ = (
                None  # the SDK's error, which holds the request with its headers and open streams
            )
            refused = error.status in MALFORMED or (
                error.status == NO_IMAGES and request.plan.has_images
            )
            if not refused or request == request.text_only or not may_repeat():
                raise
            reply = await self._ask(request.text_only, forwarder)
            return replace(reply, raw={**reply.raw, LEFT_OUT: request.beside_text})


def _log_unclosed(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what an SDK could not close after the answer or its failure; by default a loop prints a traceback of it."""
    logger.debug("left over by a request: %s", context.get("message"))
