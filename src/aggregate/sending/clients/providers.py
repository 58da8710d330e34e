"""Providers and their models, with keys, addresses and adapters."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from aggregate.base.addresses import check_address, display_address, origin
from aggregate.base.errors import ClientSetupError, NoProviderError, ProviderError
from aggregate.project.configuration import Project, user_config
from aggregate.project.tables import PersonaTable, SendTable
from aggregate.sending.clients.anthropic_api import AnthropicApi
from aggregate.sending.clients.client import Client, Retry, Transport, scripted_client
from aggregate.sending.clients.connection import ApiKey
from aggregate.sending.clients.gemini_api import GeminiApi
from aggregate.sending.clients.openai_api import OpenAiApi
from aggregate.sending.known_models import bare_model_name
from aggregate.sending.learned_models import token_ratio
from aggregate.sending.models import COMPATIBLE, GATEWAY, SCRIPTED, Usage
from aggregate.sending.prices import context_window, cost

_HEADER_VALUE = re.compile(r"[!-~]+")


def find_api_key(
    provider: str, variables: tuple[str, ...], environ: Mapping[str, str], *, needed: bool
) -> ApiKey:
    name = next((name for name in variables if environ.get(name, "").strip()), "")
    if not name and needed:
        raise ClientSetupError(
            f"{provider} needs a key: set the environment variable {' or '.join(variables)}"
        )
    value = environ.get(name, "").strip()
    if value and not _HEADER_VALUE.fullmatch(value):
        # The error of an HTTP library would show the key.
        raise ClientSetupError(
            f"the key in {name} contains a blank or an invalid character: set it again"
        )
    return ApiKey(value)


@dataclass(frozen=True, slots=True)
class Provider:
    # Takes the provider's name, a key and an address
    adapter: Callable[[str, ApiKey, str | None], Transport]
    keys: tuple[str, ...]  # possible environment variables of the key
    model: str = ""  # the default
    models: tuple[str, ...] = ()  # beginnings of its models' names
    base_url: str | None = None  # ``None``: the SDK's default
    needs_key: bool = True


_GEMINI_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_DEEPSEEK_URL = "https://api.deepseek.com"
_MINIMAX_URL = "https://api.minimax.io/anthropic"
PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(AnthropicApi, ("ANTHROPIC_API_KEY",), "claude-sonnet-5", ("claude",)),
    "gemini": Provider(GeminiApi, _GEMINI_KEYS, "gemini-3.5-flash", ("gemini",)),
    "deepseek": Provider(
        OpenAiApi, ("DEEPSEEK_API_KEY",), "deepseek-flash", ("deepseek",), _DEEPSEEK_URL
    ),
    "minimax": Provider(
        AnthropicApi, ("MINIMAX_API_KEY",), "MiniMax-M2.7", ("minimax",), _MINIMAX_URL
    ),
    "openai": Provider(OpenAiApi, ("OPENAI_API_KEY",), "gpt-5.6", ("gpt-", "chatgpt")),
    # The keys of the providers above must not reach other servers.
    COMPATIBLE: Provider(OpenAiApi, ("AGGREGATE_API_KEY",), needs_key=False),
    GATEWAY: Provider(OpenAiApi, ("AGGREGATE_API_KEY",), needs_key=False),
}
# Parts of host names: these take Anthropic's breakpoints in OpenAI's format.
_GATEWAYS: Final = ("openrouter", "litellm", "aiplatform", "bedrock")
_MILLION: Final = 1_000_000
# Tokens to price: a few models cost more beyond some 200,000 tokens.
_PRICED: Final = 1_000
NAMES = (*PROVIDERS, SCRIPTED)


def provider_of_model(model: str) -> str:
    name = bare_model_name(model)
    makers = (maker for maker, entry in PROVIDERS.items() if name.startswith(entry.models))
    return next(makers, "")


def open_client(
    provider: str = "",
    *,
    model: str = "",
    base_url: str = "",
    environ: Mapping[str, str] | None = None,
    retry: Retry | None = None,
    on_wait: Callable[[float, ProviderError], None] | None = None,
    require_key: bool = True,
) -> Client:
    """Return a client for a provider.

    The provider's SDK is loaded with the first request.

    Args:
        provider: One of ``NAMES``; ``compatible`` if only an address is given.
        model: The model, by default the provider's.
        base_url: The provider's address, such as a local server.
        environ: The source of keys, by default the process's environment.
        retry: Number and delays of attempts.
        on_wait: Called before each wait with its seconds and the error.
        require_key: Off for a client that only plans.

    Raises:
        ClientSetupError: The name is unknown, a key or an address is missing, or the address is not valid.
    """
    name = provider or (COMPATIBLE if base_url else "")
    if name == SCRIPTED:
        return scripted_client(model=model) if model else scripted_client()
    if name not in NAMES:
        fix = f"use one of {', '.join(NAMES)} with --provider, in a persona or in [send]"
        if not name:
            raise NoProviderError(f"no provider is set: {fix}")
        raise ClientSetupError(f"no such provider: {name!r}: {fix}")
    if name == COMPATIBLE and any(word in origin(base_url) for word in _GATEWAYS):
        name = GATEWAY
    if name in (COMPATIBLE, GATEWAY) and not base_url:
        raise ClientSetupError(
            f"{name} needs the server's address: add --base-url, such as http://localhost:8080/v1"
        )
    if base_url:
        check_address(base_url)
    environ = os.environ if environ is None else environ
    entry = PROVIDERS[name]
    key = find_api_key(name, entry.keys, environ, needed=entry.needs_key and require_key)
    transport = entry.adapter(name, key, base_url or entry.base_url)
    address = display_address(base_url) if base_url else ""
    return Client(name, transport, model or entry.model, retry or Retry(), on_wait, address=address)


class PricedModel(NamedTuple):
    name: str  # with its provider, if known
    window: int | None
    input: float | None  # dollars per million tokens
    output: float | None
    ratio: float  # its tokens per token of ours


def priced_models(project: Project) -> list[PricedModel]:
    """Return the user's models and each provider's default.

    Prices in a project's file are ignored, because others may have written them.
    """
    config = user_config()
    tables: list[SendTable | PersonaTable] = [project.config.send, config.send]
    tables += config.personas.values()
    models = [(table.provider, table.model) for table in tables]
    models += [("", name) for name in config.models]
    models += [(provider, entry.model) for provider, entry in PROVIDERS.items()]
    recipients = ((provider or provider_of_model(name), name) for provider, name in models if name)
    return [_priced(*recipient) for recipient in dict.fromkeys(recipients)]


def _priced(provider: str, model: str) -> PricedModel:
    def price(usage: Usage) -> float | None:
        amount = cost(usage, model, provider=provider)
        return None if amount is None else float(amount * (_MILLION // _PRICED))

    name, ratio = f"{provider}/{model}" if provider else model, token_ratio(provider, model).value
    prices = price(Usage(fresh=_PRICED)), price(Usage(output=_PRICED))
    return PricedModel(name, context_window(model), *prices, ratio)
