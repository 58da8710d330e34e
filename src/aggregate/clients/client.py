"""The client: plan, check, exchange, retry, in the same way for every provider."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from aggregate.clients.plan import Plan, make_plan
from aggregate.clients.protocol import ModelRequest, OnText, Transport, Turn
from aggregate.clients.retry import Retry, with_retries
from aggregate.clients.rules import rules_for
from aggregate.clients.window import check_window
from aggregate.errors import ClientSetupError, ProviderError
from aggregate.models.chain import Chain
from aggregate.models.prompt import Prompt
from aggregate.models.reply import Reply
from aggregate.tokens.count import count, count_prompt


@dataclass(frozen=True, slots=True)
class Client:
    """Sends prompts to one provider.

    Attributes:
        provider: Its name.
        transport: The adapter.
        model: The model to ask where the caller names none.
        retry: How often failures are tried again.
        on_wait: Called with the seconds before each wait and its reason.
    """

    provider: str
    transport: Transport = field(repr=False)
    model: str = ""
    retry: Retry = field(default_factory=Retry)
    on_wait: Callable[[float, ProviderError], None] | None = field(default=None, repr=False)

    def plan(self, prompt: Prompt, message: str, *, model: str = "", turn: Turn = Turn()) -> Plan:  # noqa: B008 - frozen
        """Return the request that ``send`` would send."""
        tokens = count_prompt(prompt).segments
        chain = Chain.of(prompt, tokens, system=turn.system, system_tokens=count(turn.system))
        return make_plan(
            prompt,
            chain,
            rules_for(self.provider, model or self.model),
            system=turn.system,
            message=message,
            message_tokens=count(message),
            earlier=turn.earlier,
            weights=turn.weights,
        )

    def send(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        turn: Turn = Turn(),  # noqa: B008 - frozen
    ) -> Reply:
        """Send ``prompt`` and then ``message``, and return the answer.

        Args:
            prompt: The segments; their markdown is sent byte for byte.
            message: What to say behind it, ``""`` if the prompt ends with the question.
            model: Which model; by default the client's.
            on_text: Called with each piece of the answer as it comes; with none the answer is not streamed.
            turn: Instructions, limits, and the last request's layout.

        Raises:
            ClientSetupError: There is no model to ask, or nothing to send.
            PromptTooLongError: The request exceeds the model's context window.
            ProviderError: The provider refused or failed, after all retries.
        """
        return self.exchange(
            self.plan(prompt, message, model=model, turn=turn), model=model, on_text=on_text, turn=turn
        )

    async def asend(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        turn: Turn = Turn(),  # noqa: B008 - frozen
    ) -> Reply:
        """Do what ``send`` does without blocking; cancelling the task ends the request."""
        plan = self.plan(prompt, message, model=model, turn=turn)
        return await self._exchange(plan, model or self.model, on_text, turn.max_output)

    def exchange(self, plan: Plan, *, model: str = "", on_text: OnText | None = None, turn: Turn = Turn()) -> Reply:  # noqa: B008 - frozen
        """Send a plan and return the answer; the errors are those of ``send``."""

        def ask() -> Reply:
            return asyncio.run(self._exchange(plan, model or self.model, on_text, turn.max_output))

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return ask()
        with ThreadPoolExecutor(1) as thread:  # a loop runs here already
            return thread.submit(ask).result()

    async def _exchange(self, plan: Plan, model: str, on_text: OnText | None, max_output: int) -> Reply:
        if not model and self.provider != "gemini-cli":
            raise ClientSetupError(f"{self.provider}: no model is named: add --model, or model in the persona")
        if not plan.blocks:
            raise ClientSetupError("there is nothing to send: the prompt and the message are empty")
        check_window(plan, model, max_output)
        passed_on = False

        def pass_on(piece: str) -> None:
            nonlocal passed_on
            passed_on = True
            if on_text:
                on_text(piece)

        request = ModelRequest(plan, model, max_output)
        return await with_retries(
            lambda: self.transport.exchange(request, pass_on if on_text else None),
            self.retry,
            may_repeat=lambda: not passed_on,
            on_wait=self.on_wait,
        )
