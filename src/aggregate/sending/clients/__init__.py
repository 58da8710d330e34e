"""Clients of language models: requests, retries, prices, and an adapter per provider."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.sending.clients.client import *
    from aggregate.sending.clients.connection import *
    from aggregate.sending.clients.deltas import *
    from aggregate.sending.clients.model_prices import *
    from aggregate.sending.clients.protocol import *
    from aggregate.sending.clients.providers import *
else:
    __getattr__ = door(
        __name__,
        {
            "client": "Client redacting Retry Script scripted_client ScriptedTransport",
            "connection": "refuses_tools",
            "deltas": "LeadingThoughts",
            "model_prices": "cache_policy context_window cost exceeded_window shipped_ratio takes_tools truncation_warning",
            "protocol": "Ask ChatRequest Effort loop_texts OnText",
            "providers": "NAMES PROVIDERS open_client priced_models provider_of_model",
        },
    )
