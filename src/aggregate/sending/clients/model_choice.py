"""The models that one may choose: those that the user has named, and each provider's usual one."""

from collections.abc import Iterator

from aggregate.project.configuration import PersonaTable, SendTable, user_config
from aggregate.sending.clients.context_window import context_window
from aggregate.sending.clients.providers import PROVIDERS, provider_of_model


def models_to_choose(*tables: SendTable) -> Iterator[tuple[str, str]]:
    """Yield providers and models, first those of ``tables``; ``user_config`` may raise a ``ConfigError``."""
    own = user_config()
    named: list[SendTable | PersonaTable] = [*tables, own.send, *own.personas.values()]
    for table in named:
        if table.model:
            yield table.provider or provider_of_model(table.model), table.model
    for name in own.models:
        yield provider_of_model(name), name
    for provider, entry in PROVIDERS.items():
        if entry.model:
            yield provider, entry.model


def exceeded_window(tokens: int) -> int | None:
    """Return the largest context window of all these, in tokens, if a prompt of ``tokens`` exceeds it."""
    window = max(context_window(model) or 0 for _, model in models_to_choose())
    return window if window < tokens else None
