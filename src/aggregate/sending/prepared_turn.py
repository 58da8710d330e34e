"""A turn that is ready to be sent, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aggregate.base.values import Prompt, Usage
from aggregate.prompt import Composition, Request
from aggregate.sending.cache.file_order import OrderedPrompt
from aggregate.sending.cache.fingerprint import PromptFingerprint
from aggregate.sending.cache.prefix_diff import PrefixReport
from aggregate.sending.cache.request_plan import RequestPlan
from aggregate.sending.clients.capabilities import Effort
from aggregate.sending.clients.client import Client
from aggregate.sending.request_log import SentRecord


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A turn that is ready to be sent.

    Attributes:
        client: Who is asked.
        message: What the user says; it is the last excerpt of the prompt.
        request: What was composed.
        ordered: The prompt in the order for sending.
        plan: The request.
        expected: What the provider's cache is expected to read and write.
        sent: What will be recorded.
        report: What is kept of the prompt sent before, ``None`` for the first one.
        warnings: What was left out or is doubtful.
        max_output: The most tokens that the model may write.
        address: Where it is sent, ``""`` for the provider's own address.
        composition: The prompt in the order of the configuration, and what was decided about its files.
        budget: The most tokens of the whole request by the provider's count, ``None`` for no limit.
        effort: How long the model thinks, ``None`` for its own choice.
        temperature: How freely it chooses its words, ``None`` for its own choice.
        origins: Where provider, model, persona and the length of the answer were chosen.
        replaces: The last turns of the discussion, in whose place its turns come once it is answered.
    """

    client: Client
    message: str
    request: Request
    ordered: OrderedPrompt
    plan: RequestPlan
    expected: Usage
    sent: SentRecord
    report: PrefixReport | None
    warnings: tuple[str, ...]
    max_output: int
    address: str = ""
    composition: Composition | None = None
    budget: int | None = None
    effort: Effort | None = None
    temperature: float | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    replaces: tuple[Mapping[str, Any], ...] = ()

    @property
    def provider_tokens(self) -> int:
        """All input tokens by the provider's own count, as far as that is known (rule B-10)."""
        return self.client.ratio.provider_tokens(self.plan.total)

    @property
    def prompt(self) -> Prompt:
        """The prompt in the order for sending."""
        return self.ordered.prompt.prompt

    @property
    def fingerprint(self) -> PromptFingerprint:
        """Its hashes."""
        return self.ordered.prompt.fingerprint
