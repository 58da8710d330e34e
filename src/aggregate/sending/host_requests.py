"""Plan and record requests sent by a host program's SDK.

The host may change the arguments of its SDK's call, except the beginning of the messages. ``record`` stores the same
data as ``send``, so that the next plan knows the content of the provider's cache.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from aggregate.base.errors import ClientSetupError
from aggregate.base.task_budget import Amount
from aggregate.project.configuration import Project
from aggregate.prompt.asking import open_project
from aggregate.sending.clients import anthropic_api, gemini_api, openai_api
from aggregate.sending.clients.client import DEFAULT_REQUEST, ChatRequest
from aggregate.sending.clients.providers import provider_of_model
from aggregate.sending.discussions import Discussion
from aggregate.sending.model_selection import ModelSelection
from aggregate.sending.models import COMPATIBLE, GATEWAY, Reply, Usage
from aggregate.sending.prepared_turn import prepare_turn
from aggregate.sending.turn import ASSISTANT, Exchange, send_turn

# Placeholder for the address of a compatible server, which only the host knows; nothing is sent there.
_PLACEHOLDER_URL = "http://localhost"


def plan_for(
    project: Project | Mapping[str, Any] | str | Path,
    model: str,
    message: str,
    *,
    provider: str = "",
    persona: str = "",
    budget: Amount | str | None = None,
    redact: bool | None = None,
    options: ChatRequest = DEFAULT_REQUEST,
) -> Exchange:
    """Plan a request without a key.

    Nothing is written or sent.

    Args:
        project: An opened project, the path of its configuration, or its tables. The prompt contains the discussion
            and the changes since the last request.
        model: The provider's name of the model.
        message: The user's message.
        provider: The API; by default that of the model's maker, guessed from the model's name.
        persona: A persona of the project, for its instructions, strategy and budget.
        budget: Maximum tokens of the whole request.
        redact: Replace secrets; by default as in the user's configuration.
        options: Instructions, effort, temperature, and the answer's maximum tokens and schema.

    Raises:
        ClientSetupError: The provider is unknown or cannot be guessed, or the message is empty.
        ConfigError: The configuration or the history cannot be used, or there is no such persona.
        ScopeError: The project names a file that may not be read.
        PromptTooLongError: The prompt exceeds the model's context window.
        BudgetError: The required files exceed the budget.
    """
    name = provider or provider_of_model(model)
    if not name:
        raise ClientSetupError(
            f"cannot guess the provider of {model!r}: pass provider, such as provider={COMPATIBLE!r}"
        )
    if not message.strip():
        raise ClientSetupError("the message is empty")
    project = open_project(project)
    selection = ModelSelection(
        provider=name,
        model=model,
        persona=persona,
        base_url=_PLACEHOLDER_URL if name in (COMPATIBLE, GATEWAY) else "",
        max_output=options.max_output,
        redact=redact,
        budget=budget,
        effort=options.effort,
        system=options.system,
    )
    turn = prepare_turn(project, message, selection, environ={}, require_key=False)
    request = replace(turn.asked, schema=options.schema, temperature=options.temperature)
    request = turn.client.planned(request)
    return replace(turn, asked=request)


def to_anthropic(planned: Exchange) -> dict[str, Any]:
    """Return the arguments of ``Anthropic().messages.create`` and ``.stream``."""
    _check_api(planned, anthropic_api.PROVIDERS, "to_anthropic")
    return anthropic_api.request_body(planned.asked)


def to_openai(planned: Exchange) -> dict[str, Any]:
    """Return the arguments of ``OpenAI().chat.completions.create``; for a stream add ``stream=True``."""
    _check_api(planned, openai_api.PROVIDERS, "to_openai")
    return openai_api.request_body(planned.asked, provider=planned.client.provider)


def to_gemini(planned: Exchange) -> dict[str, Any]:
    """Return the arguments of ``genai.Client().models.generate_content`` and ``.generate_content_stream``."""
    _check_api(planned, gemini_api.PROVIDERS, "to_gemini")
    return gemini_api.request_body(planned.asked)


def body_of(planned: Exchange) -> dict[str, Any]:
    """Return the arguments of a planned request in the format of its provider's API."""
    is_anthropics = planned.client.provider in anthropic_api.PROVIDERS
    return to_anthropic(planned) if is_anthropics else to_openai(planned)


def record(planned: Exchange, usage: object, reply: str | Reply | None) -> Exchange:
    """Record a turn sent with the host's own SDK.

    ``send`` records its turns in the same way.

    Args:
        planned: The result of ``plan_for``.
        usage: The usage that the SDK reports, as its object, a mapping or a ``Usage``; ``None`` if unknown.
        reply: The model's answer; ``None`` is an empty one.

    Raises:
        ClientSetupError: The turn is recorded already.
        ProviderError: The reply is a refusal or empty. The request is recorded, but no turn.
        OutputError: A file cannot be written, or is outside of the project.
    """
    if not isinstance(reply, Reply):
        used = usage_of(usage)
        reply = Reply(reply or "", used, model=planned.asked.model)
    *earlier, question = planned.request.history
    turns = Discussion(planned.project, planned.request.discussion).turns(is_new=True)
    # Compaction may have made it shorter.
    newer = turns.all[len(earlier) :] if len(turns.all) >= len(earlier) else turns.all
    turn = (question, {"role": ASSISTANT, "content": reply.text})
    if turns.path is not None and any(pair == turn for pair in pairwise(newer)):
        raise ClientSetupError("this turn is already recorded: call plan_for for the next one")
    return send_turn(planned, received=reply)


def usage_of(reported: object) -> Usage:
    """Parse the usage reported by any provider's SDK, as an object or a mapping."""
    if isinstance(reported, Usage):
        return reported
    dump = getattr(reported, "model_dump", None)
    fields = dump(warnings=False) if callable(dump) else reported
    if not isinstance(fields, Mapping):
        return Usage()
    if "input_tokens" in fields:
        return anthropic_api.parse_usage(fields)
    if "prompt_token_count" in fields:
        return gemini_api.parse_usage(fields)
    return openai_api.parse_usage(fields)


def _check_api(planned: Exchange, providers: frozenset[str], function: str) -> None:
    if planned.client.provider not in providers:
        raise ClientSetupError(
            f"the request was planned for {planned.client.provider}, which {function} does not support: "
            f"call the function of its SDK, or plan_for with provider={min(providers)!r}"
        )
