"""Requests for hosts with an SDK of their own: planned here, sent by them, and recorded here.

The host may change the arguments of the SDKs' own calls as it likes, as long as the beginning stays. ``record`` then
keeps what ``send`` keeps, so that the next plan knows what the provider's cache holds.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from aggregate.base.errors import ClientSetupError
from aggregate.base.task import Amount
from aggregate.project.configuration import Project
from aggregate.prompt import open_project
from aggregate.sending.clients import anthropic_api, gemini_api, openai_api
from aggregate.sending.clients.protocol import DEFAULT_REQUEST, ChatRequest
from aggregate.sending.clients.providers import provider_of_model
from aggregate.sending.discussions import Discussion
from aggregate.sending.exchange import Exchange
from aggregate.sending.model_selection import ModelSelection
from aggregate.sending.models import COMPATIBLE, GATEWAY, Reply, Usage
from aggregate.sending.turn import ASSISTANT, send_turn
from aggregate.sending.turn_preparation import prepare_turn

# Stands for the address of a compatible server, which the host alone knows: nothing is sent there.
_HOSTS_OWN = "http://localhost"


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
    """Plan a request without a key; nothing is written or sent.

    Args:
        project: As it was opened, its configuration's path, or its tables: its prompt is composed with the discussion,
            and with diffs of what has changed since the last one.
        model: The provider's name of the model.
        message: What the user says.
        provider: Whose API is asked; by default the maker of the model, where its name tells.
        persona: Of the project, for its instructions, strategy and budget.
        budget: The most tokens of the whole request.
        redact: Whether secrets are replaced; by default as the user's configuration says.
        options: Instructions, the most tokens of the answer, its form, effort, temperature.

    Raises:
        ClientSetupError: The provider is unknown, the model's name does not tell it, or the message is empty.
        ConfigError: The configuration or the history cannot be used, or there is no such persona.
        ScopeError: A file of the project asks for one that may not be read.
        PromptTooLongError: The prompt exceeds the model's context window.
        BudgetError: What must be shown exceeds the budget.
    """
    name = provider or provider_of_model(model)
    if not name:
        raise ClientSetupError(
            f"whose model {model!r} is does not show: add provider, such as provider={COMPATIBLE!r}"
        )
    if not message.strip():
        raise ClientSetupError("the message is empty: a discussion goes on with a question")
    project = open_project(project)
    selection = ModelSelection(
        provider=name,
        model=model,
        persona=persona,
        base_url=_HOSTS_OWN if name in (COMPATIBLE, GATEWAY) else "",
        max_output=options.max_output,
        redact=redact,
        budget=budget,
        effort=options.effort,
        system=options.system,
    )
    turn = prepare_turn(project, message, selection, environ={}, require_key=False)
    asked = replace(turn.asked, schema=options.schema, temperature=options.temperature)
    asked = turn.client.planned(asked)
    return replace(turn, asked=asked)


def to_anthropic(planned: Exchange) -> dict[str, Any]:
    """Return the arguments of ``Anthropic().messages.create`` and ``.stream``; another kind of API is an error."""
    _check_api(planned, anthropic_api.PROVIDERS, "to_anthropic")
    return anthropic_api.request_body(planned.asked)


def to_openai(planned: Exchange) -> dict[str, Any]:
    """Return the arguments of ``OpenAI().chat.completions.create``; for a stream add ``stream=True``."""
    _check_api(planned, openai_api.PROVIDERS, "to_openai")
    return openai_api.request_body(planned.asked, provider=planned.provider)


def to_gemini(planned: Exchange) -> dict[str, Any]:
    """Return the arguments of ``genai.Client().models.generate_content`` and ``.generate_content_stream``."""
    _check_api(planned, gemini_api.PROVIDERS, "to_gemini")
    return gemini_api.request_body(planned.asked)


def body_of(planned: Exchange) -> dict[str, Any]:
    """Return the arguments of a request in the form of whose API it was planned for."""
    is_anthropics = planned.provider in anthropic_api.PROVIDERS
    return to_anthropic(planned) if is_anthropics else to_openai(planned)


def record(planned: Exchange, usage: object, reply: str | Reply | None) -> Exchange:
    """Keep a turn that the host has sent, as ``send`` would: prompt, answer, both turns, and what was sent.

    Args:
        planned: What ``plan_for`` has returned.
        usage: What the SDK reports, as its object or a mapping; a ``Usage``; or ``None`` where there is none.
        reply: What the model has answered; ``None``, as SDKs have it for an answer without text, is an empty one.

    Raises:
        ClientSetupError: The discussion has this turn already.
        ProviderError: The reply is a refusal or empty, which is no turn; what was sent is recorded all the same.
        OutputError: A file cannot be written, or lies outside of the project.
    """
    if not isinstance(reply, Reply):
        used = usage_of(usage)
        reply = Reply(reply or "", used, model=planned.model)
    *earlier, question = planned.request.history
    turns = Discussion(planned.project, planned.request.discussion).turns(is_new=True)
    # Where it has become shorter, a summary stands in the place of old turns.
    behind = turns.all[len(earlier) :] if len(turns.all) >= len(earlier) else turns.all
    said = (question, {"role": ASSISTANT, "content": reply.text})
    if turns.path is not None and any(pair == said for pair in pairwise(behind)):
        raise ClientSetupError("this turn is recorded already: call plan_for for the next one")
    return send_turn(planned, received=reply)


def usage_of(reported: object) -> Usage:
    """Return what an SDK reports, as its object or a mapping, by the names of its fields."""
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
    if planned.provider not in providers:
        raise ClientSetupError(
            f"the request was planned for {planned.provider}, which {function} does not speak to: "
            f"call the function of its SDK, or plan_for with provider={min(providers)!r}"
        )
